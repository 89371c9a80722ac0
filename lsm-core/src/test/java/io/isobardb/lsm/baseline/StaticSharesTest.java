package io.isobardb.lsm.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StaticSharesTest {
  private static final long MB = 1 << 20;

  @Test
  void treesLeaveAsReviewed() throws IOException {
    GoldenFile.check(StaticSharesTest.class, "static-shares.txt", StaticSharesTest::ask);
  }

  private static String ask(List<String> lines) {
    List<StaticShares.Slot> slots = new ArrayList<>();
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("[\\s=]+");
      if (words[0].equals("leave")) {
        answer
            .append(
                new StaticShares(Integer.parseInt(words[2]), 1)
                    .leave(slots, Integer.parseInt(words[4])))
            .append('\n');
      } else {
        slots.add(
            new StaticShares.Slot(
                Integer.parseInt(words[0]), Long.parseLong(words[2]), words.length > 3));
      }
    }
    return answer.toString();
  }

  @Test
  void aShareOfTwoBuffersIsFlushedWhenOneIsFull() {
    StaticShares two = new StaticShares(8, 2);
    assertEquals(8 * MB, two.shareBytes(64 * MB));
    assertEquals(4 * MB, two.triggerBytes(64 * MB));
    assertEquals(7 * MB, new StaticShares(8, 1).triggerBytes(64 * MB));
  }

  @Test
  void noTreesAreRefused() {
    assertTrue(
        assertThrows(IllegalArgumentException.class, () -> new StaticShares(0, 1))
            .getMessage()
            .contains("0 trees"));
  }
}
