package io.isobardb.lsm.schedule;

/**
 * What syncs of buffered files wrote, and how long at least one of them was under way. Those that
 * run at once share the device, so the time of each alone would tell too little of it.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SyncTimes {
  // Guarded by this.
  private int running;
  private long countedNanos;
  private long nanos;
  private long bytes;

  /**
   * What was seen so far.
   *
   * @param bytes that syncs have written
   * @param nanos that they took, up to the end of the last one
   * @param running whether one is under way
   */
  record Seen(long bytes, long nanos, boolean running) {
    static final Seen NOTHING = new Seen(0, 0, false);
  }

  /** A sync begins. */
  synchronized void begin(long now) {
    if (running++ == 0) {
      countedNanos = now;
    }
  }

  /** A sync has ended. It wrote so many bytes: none if it failed. */
  synchronized void end(long now, long written) {
    running--;
    nanos += now - countedNanos;
    countedNanos = now;
    bytes += written;
  }

  synchronized Seen seen() {
    return new Seen(bytes, nanos, running > 0);
  }
}
