package io.isobardb.lsm.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.schedule.DeviceSpeed.Window;
import org.junit.jupiter.api.Test;

/** What is learnt of a device from what it did. */
class DeviceSpeedTest {
  private static final long MB = 1 << 20;
  private static final long QUARTER = 250_000_000;

  private DeviceSpeed speed = DeviceSpeed.UNKNOWN;

  /** A device that has calls to serve all the time, and jobs that are not held back. */
  private void busy(double seconds, long megabytes) {
    pass(seconds, megabytes, QUARTER, false);
  }

  private void pass(double seconds, long megabytes, long callNanos, boolean held) {
    for (int i = 0; i < Math.round(seconds * 4); i++) {
      speed = speed.after(new Window(QUARTER, megabytes * MB / 4, callNanos, held));
    }
  }

  private long megabytes() {
    return Math.round((double) speed.bytesPerSecond() / MB);
  }

  @Test
  void itRisesAtOnce() {
    assertEquals(0, megabytes());
    busy(0.25, 100);
    assertEquals(100, megabytes());
    busy(0.25, 600);
    assertEquals(600, megabytes());
  }

  @Test
  void itFallsWithinTenSecondsAfterHoursOfMore() {
    busy(3600, 600);
    busy(10.25, 100);
    assertEquals(100, megabytes());
    busy(3600, 100);
    assertEquals(100, megabytes());
  }

  @Test
  void aSecondOfFewerBytesIsNoSlowerDevice() {
    busy(60, 600);
    busy(1, 100);
    busy(1, 600);
    busy(1, 100);
    assertEquals(600, megabytes());
  }

  /** A cloud volume: credits for a hundred seconds, and again after a rest. */
  @Test
  void creditsThatEndAreNoticedAndThoseThatComeBackToo() {
    for (int round = 0; round < 3; round++) {
      busy(100, 300);
      assertEquals(300, megabytes());
      busy(11, 40);
      assertEquals(40, megabytes());
      busy(200, 40);
      pass(600, 5, QUARTER / 10, false);
      assertTrue(megabytes() <= 40, megabytes() + " MB/s");
    }
  }

  @Test
  void aDeviceThatIsNotAskedForMoreIsNoSlower() {
    busy(60, 600);
    pass(3600, 50, QUARTER / 2, false);
    assertEquals(600, megabytes());
  }

  @Test
  void jobsThatAreHeldBackDoNotMakeTheDeviceSlower() {
    busy(60, 600);
    pass(3600, 500, 3 * QUARTER, true);
    assertEquals(600, megabytes());
    // A try of a quarter of a second in each five, as Bandwidth has it.
    for (int i = 0; i < 3; i++) {
      busy(0.25, 100);
      pass(5, 95, 3 * QUARTER, true);
    }
    assertEquals(100, megabytes());
  }
}
