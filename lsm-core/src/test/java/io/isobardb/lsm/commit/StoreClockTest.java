package io.isobardb.lsm.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.simulation.SimulatedClock;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** {@link StoreClock}. */
class StoreClockTest {
  private static final long HOUR = 3_600_000;

  private final SimulatedClock machine = new SimulatedClock();
  private final StoreClock clock = new StoreClock(machine, 0);
  private final long begun = machine.wallMillis();

  private void assertTimes(long time, long settled, long leaps) {
    assertEquals(begun + time, clock.getAsLong());
    assertEquals(begun + settled, clock.settledMillis());
    assertEquals(leaps, clock.leaps());
  }

  private void pass(long millis) {
    machine.advance(millis * 1_000_000);
  }

  @Test
  void standsStillForUpToAMinute() {
    assertTimes(0, 0, 0);
    machine.jumpWall(-60_000);
    assertTimes(0, 0, 0);
    pass(60_000);
    assertTimes(0, 0, 0);
    pass(5);
    assertTimes(5, 5, 0);
    machine.jumpWall(-60_001);
    assertTimes(-59_996, -59_996, 1);
  }

  @Test
  void fallsBackFromALeapThatMergesDidNotGoBy() {
    assertTimes(0, 0, 0);
    machine.jumpWall(HOUR);
    assertTimes(HOUR, 0, 1);
    pass(1000);
    assertTimes(HOUR + 1000, 1000, 1);
    machine.jumpWall(-HOUR);
    assertTimes(1000, 1000, 2);
  }

  @Test
  void mergesGoByALeapAfterAnHour() {
    assertTimes(0, 0, 0);
    machine.jumpWall(HOUR);
    assertTimes(HOUR, 0, 1);
    pass(HOUR - 1);
    assertTimes(2 * HOUR - 1, HOUR - 1, 1);
    pass(1);
    assertTimes(2 * HOUR, 2 * HOUR, 1);
  }

  @Test
  void aClockBeforeTheEpochStandsAtIt() {
    machine.jumpWall(-begun - HOUR);
    StoreClock early = new StoreClock(machine, 0);
    assertEquals(0, early.getAsLong());
    assertEquals(10, early.expiry(10));
    pass(HOUR + 10);
    assertEquals(10, early.getAsLong());
    assertEquals(0, early.leaps());
  }

  @Test
  void aLeapIsLoggedOnceAndByNobodyWhoAsksForTheTime() {
    List<String> logged = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            logged.add(record.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger(StoreClock.class.getName());
    Level level = logger.getLevel();
    logger.setLevel(Level.WARNING);
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
    try {
      clock.getAsLong();
      machine.jumpWall(HOUR);
      clock.getAsLong();
      assertEquals(List.of(), logged);
      clock.tellLeap();
      clock.tellLeap();
      assertEquals(1, logged.size());
      assertTrue(logged.get(0).contains("has leapt 3600 s ahead"), logged.get(0));
      new StoreClock(machine, begun + 2 * HOUR);
      assertEquals(2, logged.size());
      assertTrue(logged.get(1).contains("was set back from"), logged.get(1));
    } finally {
      logger.removeHandler(handler);
      logger.setUseParentHandlers(true);
      logger.setLevel(level);
    }
  }
}
