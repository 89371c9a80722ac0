package io.isobardb.lsm.flush;

import io.isobardb.lsm.flush.WriteWindow.Lately;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlushExtentTest {
  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(FlushExtentTest.class, "flush-strategy.txt", FlushExtentTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      boolean small = words[1].equals("small");
      int first = small ? 2 : 1;
      Lately lately =
          new Lately(
              0,
              number(words[first]),
              number(words[first + 1]),
              number(words[first + 2]),
              !words[words.length - 1].equals("unknown"));
      for (FlushStrategy strategy : FlushStrategy.values()) {
        FlushKind kind =
            words[0].equals("memory")
                ? FlushExtent.forMemory(strategy, small, lately)
                : FlushExtent.forLog(strategy, lately);
        answer.append(strategy).append("  ").append(kind).append('\n');
      }
    }
    return answer.toString();
  }

  /** The number in {@code name=number}. */
  private static long number(String word) {
    return Long.parseLong(word.substring(word.indexOf('=') + 1));
  }
}
