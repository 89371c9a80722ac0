package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.LongAdder;

/**
 * What passes the device in one direction, and how long jobs' calls <em>stood still</em>: they took
 * far longer than calls of their size do, and their thread did not wait for a processor.
 *
 * <p>A volume that is held to a rate lets calls pass at once until a budget is spent. Then all
 * stand still until there is more of it. So what passed between the ends of two such waits is what
 * the volume gave in that time.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Flow {
  /**
   * What was seen so far.
   *
   * @param bytes that passed
   * @param stoodNanos for how long calls stood still: where several did at once, about once
   * @param endNanos when the last of these waits ended; {@link Long#MIN_VALUE} if there was none
   * @param endBytes what had passed by then
   */
  record Seen(long bytes, long stoodNanos, long endNanos, long endBytes) {
    static final Seen NOTHING = new Seen(0, 0, Long.MIN_VALUE, 0);
  }

  private final LongAdder bytes = new LongAdder();

  // Guarded by this.
  private long stoodNanos;
  private long endNanos = Long.MIN_VALUE;
  private long endBytes;

  /** So much has passed. */
  void add(long more) {
    bytes.add(more);
  }

  /** What has passed so far. */
  long bytes() {
    return bytes.sum();
  }

  /** A call that has ended at {@code now}, and is added, stood still for so long. */
  synchronized void onStood(long nanos, long now) {
    long others = endNanos == Long.MIN_VALUE ? nanos : Math.max(0, now - endNanos);
    stoodNanos += Math.min(nanos, others);
    endNanos = now;
    endBytes = bytes.sum();
  }

  synchronized Seen seen() {
    return new Seen(bytes.sum(), stoodNanos, endNanos, endBytes);
  }
}
