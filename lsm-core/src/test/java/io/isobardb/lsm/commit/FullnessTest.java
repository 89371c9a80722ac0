package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class FullnessTest {
  private static final long KB = 1024;
  private static final Fullness USUAL = Fullness.USUAL;
  private static final Fullness SMALL = Fullness.ofMemory(0.875, 256 * KB);

  @Test
  void levelsAreAsReviewed() throws IOException {
    GoldenFile.check(FullnessTest.class, "fullness.txt", FullnessTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("[\\s=]+");
      long limit = Long.parseLong(words[1]);
      long number = Long.parseLong(words[3]);
      answer.append(
          words[2].equals("used")
              ? describe(number, limit)
              : "keeps " + USUAL.mostKept(limit, number));
      answer.append('\n');
    }
    return answer.toString();
  }

  private static String describe(long used, long limit) {
    if (used > limit) {
      return "writers wait";
    }
    double slow = USUAL.slow(used, limit);
    if (slow > 0) {
      return String.format(Locale.ROOT, "writers are slowed down, %.2f of the way", slow);
    }
    String lent = "the cache borrows " + Math.max(0, Fullness.lendable(limit) - used);
    return used > USUAL.flushFrom(limit) ? "flushes begin, " + lent : lent;
  }

  @Test
  void aLimitForWhatIsInUseIsNoReasonToFlush() {
    for (Fullness fullness : List.of(USUAL, SMALL)) {
      for (long used = 0; used < 1 << 20; used += 997) {
        long limit = fullness.limitFor(used);
        assertTrue(fullness.flushFrom(limit) >= used, used + " bytes");
        assertTrue(fullness.flushFrom(limit) <= used + 128, used + " bytes");
      }
    }
  }

  @Test
  void aSmallMemoryHasRoomForWhatComesWhileAFlushRuns() {
    assertEquals(8192 * KB, room(65536 * KB), "an eighth");
    assertEquals(128 * KB, room(1024 * KB), "an eighth, and half of a flush");
    assertEquals(128 * KB, room(580 * KB), "half of a flush");
    assertEquals(64 * KB, room(512 * KB), "an eighth: a flush takes half of it");
    assertEquals(290 * KB, 580 * KB - Fullness.ofMemory(0.5, 256 * KB).flushFrom(580 * KB));
  }

  private static long room(long limit) {
    return limit - SMALL.flushFrom(limit);
  }

  @Test
  void whateverTheTriggerItsRoomIsDividedAlike() {
    for (double trigger : new double[] {0.5, 0.875, 0.95, 0.98}) {
      Fullness fullness = new Fullness(trigger, 0);
      long limit = 1 << 30;
      double room = limit * (1 - trigger);
      assertEquals(room, limit - fullness.flushFrom(limit), 1);
      assertEquals(room * 7 / 8, limit - fullness.pressing(limit), 1);
      assertEquals(0, fullness.slow(limit - (long) (room * 6 / 8), limit), 1e-6);
      assertEquals(1, fullness.slow(limit, limit), 1e-6);
      assertEquals(room * 3 / 8, limit - fullness.nearlyFull(limit), 1);
    }
  }
}
