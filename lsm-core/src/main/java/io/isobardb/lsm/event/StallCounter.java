package io.isobardb.lsm.event;

import io.isobardb.lsm.observe.StallReason;

/**
 * Counts and times the waits of writers, from their beginning on, and who would not. Any thread.
 */
public interface StallCounter {
  /** A writer begins to wait. */
  StallSpan beginStall(StallReason reason);

  /** Its wait has ended, however it did. */
  void endStall(StallSpan span);

  /** A write was refused since it would have waited longer than it may. */
  void countRefusal();
}
