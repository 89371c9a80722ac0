package io.isobardb.lsm.event;

import io.isobardb.lsm.observe.StallReason;

/** Counts and tells how long writers waited, for what, and who would not. Any thread. */
public interface StallCounter {
  /** A writer has waited for {@code nanos} since {@code span} began. */
  void count(StallSpan span, StallReason reason, long nanos);

  /** A write was refused since it would have waited longer than it may. */
  void countRefusal();
}
