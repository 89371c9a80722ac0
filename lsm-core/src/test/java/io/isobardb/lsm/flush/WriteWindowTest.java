package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.flush.WriteWindow.Lately;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WriteWindowTest {
  private static final long WINDOW = 1600;
  private static final long STEP = WINDOW / 16;

  private final WriteWindow window = new WriteWindow(WINDOW);

  private void look(long one, long two) {
    window.note(1, one);
    window.note(2, two);
    window.move();
  }

  private long bytes(int treeId) {
    return window.lately(treeId, 1).writtenBytes();
  }

  @Test
  void aTreesWritesCountAsItsWeightSays() {
    look(300, 900);
    assertEquals(150, window.lately(1, 0.5).writtenBytes());
    assertEquals(1800, window.lately(2, 2).writtenBytes());
  }

  @Test
  void allThatWasWrittenCountsUntilTheWindowIsFull() {
    look(300, 0);
    look(700, 400);
    assertEquals(700, bytes(1));
    assertEquals(400, bytes(2));
    assertEquals(0, bytes(3));
  }

  @Test
  void aTreeThatIsNoLongerWrittenToLeavesTheWindow() {
    look(1000, 0);
    for (long two = STEP; two <= WINDOW; two += STEP) {
      look(1000, two);
    }
    assertEquals(0, bytes(1));
    assertTrue(bytes(2) >= WINDOW - 2 * STEP, () -> "" + bytes(2));
  }

  @Test
  void aLeapOverTheWholeWindowForgetsWhatWasBefore() {
    look(1000, 0);
    look(1000, 100 * WINDOW);
    assertEquals(0, bytes(1));
  }

  @Test
  void aPauseChangesNothing() {
    look(300, 900);
    for (int i = 0; i < 100; i++) {
      look(300, 900);
    }
    assertEquals(300, bytes(1));
    assertEquals(900, bytes(2));
  }

  @Test
  void theWindowIsAsLongAsItShouldBeUpToAStepAndALook() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      WriteWindow tested = new WriteWindow(WINDOW);
      long[] written = new long[3];
      List<long[]> history = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        history.add(written.clone());
        int tree = random.nextInt(10) < 7 ? 0 : 1 + random.nextInt(2);
        written[tree] += random.nextInt((int) STEP);
        for (int t = 0; t < 3; t++) {
          tested.note(t, written[t]);
        }
        tested.move();
        for (int t = 0; t < 3; t++) {
          long bytes = tested.lately(t, 1).writtenBytes();
          long most = written[t] - before(history, written, WINDOW + STEP)[t];
          long least = written[t] - before(history, written, WINDOW - 3 * STEP)[t];
          assertTrue(
              least <= bytes && bytes <= most,
              "seed " + seed + ": " + bytes + " not in [" + least + ", " + most + "]");
        }
      }
    }
  }

  /** What had been written when so many bytes less had been, or a little fewer. */
  private static long[] before(List<long[]> history, long[] now, long bytes) {
    for (int i = history.size() - 1; i >= 0; i--) {
      if (sum(now) - sum(history.get(i)) >= bytes) {
        return history.get(i);
      }
    }
    return new long[now.length];
  }

  private static long sum(long[] values) {
    long sum = 0;
    for (long value : values) {
      sum += value;
    }
    return sum;
  }

  @Test
  void whatWasFlushedLeavesTheWindowAndSoDoesTheMostHeld() {
    window.holds(1, 500);
    window.onFlushed(1, 300, true);
    window.onFlushed(1, 500, false);
    look(STEP, 0);
    window.holds(1, 200);
    window.onFlushed(1, 30, true);
    assertEquals(new Lately(STEP, 330, 830, 500, false), window.lately(1, 1));
    look(WINDOW, 0);
    assertEquals(new Lately(WINDOW - STEP, 30, 30, 200, true), window.lately(1, 1));
    look(3 * WINDOW, 0);
    assertEquals(new Lately(0, 0, 0, 0, true), window.lately(1, 1));
    assertEquals(new Lately(0, 0, 0, 0, false), window.lately(9, 1));
  }
}
