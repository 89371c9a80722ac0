package io.isobardb.tuner.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Bursts of writes as they are told apart from pauses, and what is learnt of both. */
class BurstHistoryTest {
  private static final long MILLI = 1_000_000;
  private static final long LOOK = 20 * MILLI;
  private static final long BURST_BYTES = 200_000;

  private BurstHistory history = BurstHistory.NONE;

  private void look(long millis, long bytesPerLook) {
    for (long at = 0; at < millis; at += 20) {
      history = history.after(LOOK, bytesPerLook);
    }
  }

  @Test
  void beforeTheFirstWriteThereIsAPause() {
    look(1000, 0);
    assertFalse(history.isBurst());
    assertEquals(0, history.expectedBytes());
  }

  @Test
  void whatIsWrittenInAPauseBesideIsNoBurst() {
    look(10_000, BURST_BYTES);
    assertTrue(history.isBurst());
    look(5000, BURST_BYTES / 100);
    assertFalse(history.isBurst(), "a hundredth of it goes on");
    look(20, BURST_BYTES);
    assertTrue(history.isBurst());
  }

  @Test
  void burstsAreSeenAgainThoughALoadWasMuchFaster() {
    look(10_000, 100 * BURST_BYTES);
    int seen = 0;
    for (int i = 0; i < 1_500; i++) {
      look(1000, BURST_BYTES);
      seen += history.isBurst() ? 1 : 0;
      look(1000, 0);
    }
    assertTrue(seen > 300, seen + " of 1,500");
    assertEquals(50.0 * BURST_BYTES, history.expectedBytes(), 10.0 * BURST_BYTES);
  }

  @Test
  void lengthsAndVolumesAreLearnt() {
    for (int i = 0; i < 5; i++) {
      look(10_000, BURST_BYTES);
      look(20_000, 0);
    }
    assertEquals(5, history.burstNanos().weight(), 0.5);
    assertEquals(10_000.0 * MILLI, history.burstNanos().quantile(0.5), 2_000.0 * MILLI);
    assertEquals(20_000.0 * MILLI, history.lullNanos().quantile(0.9), 4_000.0 * MILLI);
    assertEquals(500.0 * BURST_BYTES, history.expectedBytes(), 100.0 * BURST_BYTES);
  }

  @Test
  void aPauseIsSeenTheEarlierTheMoreItIsAlone() {
    assertEquals(100 * MILLI, history.pauseAfterNanos());
    for (int i = 0; i < 5; i++) {
      look(1000, BURST_BYTES);
      look(1000, 0);
    }
    assertEquals(20 * MILLI, history.pauseAfterNanos());
    for (int i = 0; i < 30; i++) {
      look(100, BURST_BYTES);
      look(60, 0);
    }
    assertTrue(history.pauseAfterNanos() > 60 * MILLI, history.pauseAfterNanos() + " ns");
    look(1000, BURST_BYTES);
    look(60, 0);
    assertFalse(history.now().pause(), "it only caught breath");
  }

  @Test
  void aBurstThatDoesNotEndIsNone() {
    for (int i = 0; i < 5; i++) {
      look(1000, BURST_BYTES);
      look(1000, 0);
    }
    look(1000, BURST_BYTES);
    assertTrue(history.isBurst());
    look(3000, BURST_BYTES);
    assertFalse(history.isBurst());
  }

  @Test
  void irregularBurstsEndWhereTheyEnd() {
    SplittableRandom random = new SplittableRandom(3);
    int wrong = 0;
    for (int i = 0; i < 100; i++) {
      look(500 + random.nextInt(3000), BURST_BYTES);
      wrong += history.isBurst() ? 0 : 1;
      look(500 + random.nextInt(5000), random.nextInt(2) * BURST_BYTES / 50);
      wrong += history.isBurst() ? 1 : 0;
    }
    assertTrue(wrong < 5, wrong + " of 200 taken for the other");
  }

  @Test
  void whatWasSeenLongAgoCountsLess() {
    Spread spread = Spread.NONE;
    for (int i = 0; i < 100; i++) {
      spread = spread.with(1000);
    }
    for (int i = 0; i < 100; i++) {
      spread = spread.with(10);
    }
    assertEquals(10, spread.quantile(0.9), 3);
    assertTrue(spread.weight() < 33, spread.weight() + " in all");
    assertEquals(0, Spread.NONE.quantile(0.5));
  }
}
