package io.isobardb.lsm.schedule;

/**
 * What a device does in a second, learnt from windows of about a quarter of a second: the most of
 * any window of the last five to ten seconds. Immutable.
 *
 * <p>Any window can raise it, as the device has just done that much. It falls only by windows in
 * which the device had calls to serve all the time and no job was held back. Other windows tell
 * what was asked of the device, not what it can do.
 *
 * @param mostBefore the most of the turn before this one, in bytes per second
 * @param mostNow the most of this turn
 * @param turnNanos how long this turn has lasted
 * @param fullNanos how long of that the device was busy and no job was held back
 */
record DeviceSpeed(long mostBefore, long mostNow, long turnNanos, long fullNanos) {
  static final DeviceSpeed UNKNOWN = new DeviceSpeed(0, 0, 0, 0);

  /** A turn lasts this long, or longer if the device is hardly busy. */
  static final long TURN_NANOS = 5_000_000_000L;

  /** What a turn needs of time in which the device was busy. */
  static final long LEAST_FULL_NANOS = 250_000_000;

  /** A device with so many calls to serve on average is busy. */
  private static final double BUSY = 0.8;

  /**
   * What was seen for a while.
   *
   * @param nanos how long
   * @param bytes read and written
   * @param callNanos what all calls took together
   * @param held whether the limits of jobs were in force
   */
  record Window(long nanos, long bytes, long callNanos, boolean held) {
    /** Whether the device had calls to serve nearly all the time. */
    boolean isBusy() {
      return callNanos >= BUSY * nanos;
    }

    /** Bytes per second. */
    long rate() {
      return (long) (bytes * 1e9 / nanos);
    }
  }

  /** What is known after another window. */
  DeviceSpeed after(Window window) {
    boolean full = window.isBusy() && !window.held();
    long most = Math.max(mostNow, window.rate());
    long turn = turnNanos + window.nanos();
    long busy = fullNanos + (full ? window.nanos() : 0);
    return turn >= TURN_NANOS && busy >= LEAST_FULL_NANOS
        ? new DeviceSpeed(most, 0, 0, 0)
        : new DeviceSpeed(mostBefore, most, turn, busy);
  }

  /** What the device does in a second at least; 0 if nothing is known. */
  long bytesPerSecond() {
    return Math.max(mostBefore, mostNow);
  }
}
