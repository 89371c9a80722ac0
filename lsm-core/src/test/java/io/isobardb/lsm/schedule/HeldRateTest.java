package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.schedule.HeldRate.Waits;
import io.isobardb.lsm.schedule.HeldRate.Window;
import org.junit.jupiter.api.Test;

/** The rate to which a volume holds calls, learnt from windows of a second. */
class HeldRateTest {
  private static final long MB = 1 << 20;
  private static final long SECOND = 1_000_000_000;
  private static final long QUICK = 1000 * MB;
  private static final Waits NONE = new Waits(0, 0, 0);

  private HeldRate rate = HeldRate.UNKNOWN;

  /** Waits that take a part of a second, in which so many megabytes pass. */
  private static Waits waits(double part, long megabytes) {
    return new Waits((long) (part * SECOND), SECOND, megabytes * MB);
  }

  private void pass(int windows, Waits reads, Waits writes) {
    for (int i = 0; i < windows; i++) {
      rate = rate.after(new Window(SECOND, 1, QUICK, false, reads, writes));
    }
  }

  /** Jobs use a part of the rate, and nothing stands still. */
  private void quiet(int windows, double used, boolean pressed) {
    for (int i = 0; i < windows; i++) {
      long bytes = (long) (rate.bytes() * used);
      rate = rate.after(new Window(SECOND, bytes, QUICK, pressed, NONE, NONE));
    }
  }

  private long megabytes() {
    return rate.bytes() / MB;
  }

  @Test
  void oneSecondOfWaitsTellsNothing() {
    pass(1, NONE, waits(0.9, 20));
    assertEquals(0, megabytes());
    pass(1, NONE, waits(0.9, 20));
    assertEquals(20, megabytes());
  }

  @Test
  void twoSecondsOfWaitsFarApartTellNothing() {
    pass(1, NONE, waits(0.9, 20));
    quiet(30, 1, false);
    pass(1, NONE, waits(0.9, 20));
    assertEquals(0, megabytes());
  }

  @Test
  void fewOrShortWaitsTellNothing() {
    pass(100, waits(0.2, 20), NONE);
    pass(100, NONE, new Waits(SECOND / 10, SECOND / 10, 2 * MB));
    assertEquals(0, megabytes());
  }

  @Test
  void theLargerOneOfBothDirectionsCounts() {
    pass(2, waits(0.5, 8), waits(0.5, 20));
    assertEquals(20, megabytes());
    // Reads alone wait: what passes of writes is no sign.
    pass(2, waits(0.5, 10), NONE);
    assertEquals(10, megabytes());
  }

  @Test
  void moreHoldsAtOnceAndLessAfterTwoSeconds() {
    pass(2, NONE, waits(0.5, 20));
    pass(1, NONE, waits(0.5, 30));
    assertEquals(30, megabytes());
    pass(2, NONE, waits(0.5, 10));
    assertEquals(30, megabytes());
    pass(1, NONE, waits(0.5, 10));
    assertEquals(10, megabytes());
  }

  @Test
  void whatIsHalfOfWhatQuickCallsDoIsNoRateToHoldTo() {
    pass(2, NONE, waits(0.5, 600));
    assertEquals(0, megabytes());
  }

  @Test
  void itIsRaisedOnceJobsUsedAllOfItForAWhile() {
    pass(2, NONE, waits(0.5, 20));
    quiet(9, 0.95, false);
    assertEquals(20, megabytes());
    quiet(1000, 0.5, false);
    assertEquals(20, megabytes());
    quiet(1, 0.95, false);
    assertEquals(22, megabytes());
    quiet(1, 0.95, false);
    assertEquals(26, megabytes());
    quiet(6, 0.95, false);
    assertEquals(0, megabytes());
  }

  @Test
  void aWaitEndsTheAttemptAndTheNextOneComesLater() {
    pass(2, NONE, waits(0.5, 20));
    for (int patience = 10; patience <= 640; patience *= 2) {
      quiet(patience - 1, 0.95, false);
      assertEquals(20, megabytes());
      quiet(2, 0.95, false);
      assertEquals(26, megabytes());
      pass(1, NONE, waits(0.1, 2));
      assertEquals(20, megabytes());
    }
  }

  @Test
  void itIsRaisedAtOnceWhileMergesFallBehind() {
    pass(2, NONE, waits(0.5, 20));
    for (int i = 0; i < 100; i++) {
      quiet(1, 0.95, true);
      assertEquals(22, megabytes());
      pass(1, NONE, waits(0.1, 2));
      assertEquals(20, megabytes());
    }
    quiet(9, 0.95, false);
    assertEquals(20, megabytes());
    quiet(1, 0.95, false);
    assertTrue(megabytes() > 20);
  }

  @Test
  void shortWaitsDoNotKeepItFromBeingRaised() {
    pass(2, NONE, waits(0.5, 20));
    for (int i = 0; i < 10; i++) {
      long bytes = rate.bytes();
      rate = rate.after(new Window(SECOND, bytes, QUICK, false, waits(0.04, 1), waits(0.02, 1)));
    }
    assertEquals(22, megabytes());
  }
}
