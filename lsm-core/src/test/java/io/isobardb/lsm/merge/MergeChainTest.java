package io.isobardb.lsm.merge;

import io.isobardb.lsm.merge.MergeChain.Stage;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What merges have to write until no level is too large. */
class MergeChainTest {
  @Test
  void chainsAreAsReviewed() throws IOException {
    GoldenFile.check(MergeChainTest.class, "merge-chain.txt", MergeChainTest::ask);
  }

  /**
   * Each line has the levels from L0 down, each as {@code held/may}, in MB; the last one just what
   * it holds.
   */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] levels = line.trim().split("\\s+");
      List<Stage> stages = new ArrayList<>();
      for (int i = 0; i + 1 < levels.length; i++) {
        String[] sizes = levels[i].split("/");
        stages.add(new Stage(megabytes(sizes[0]), megabytes(sizes[1])));
      }
      MergeChain chain = new MergeChain(stages, megabytes(levels[levels.length - 1]));
      answer.append(told(chain.bytes())).append('\n');
    }
    return answer.toString();
  }

  private static long megabytes(String text) {
    return Long.parseLong(text) << 20;
  }

  private static String told(long bytes) {
    return Math.round(bytes / (double) (1 << 20)) + " MB";
  }
}
