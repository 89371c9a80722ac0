package io.isobardb.lsm.flush;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlushStrategyTest {
  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(FlushStrategyTest.class, "flush-strategy.txt", FlushStrategyTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      for (FlushStrategy strategy : FlushStrategy.values()) {
        answer
            .append(strategy)
            .append("  ")
            .append(
                words[0].equals("memory")
                    ? strategy.forMemory(words.length > 1 && words[1].equals("small"))
                    : strategy.forLog(number(words[1]), number(words[2])))
            .append('\n');
      }
    }
    return answer.toString();
  }

  /** The number in {@code name=number}. */
  private static long number(String word) {
    return Long.parseLong(word.substring(word.indexOf('=') + 1));
  }
}
