package io.isobardb.lsm.event;

import io.isobardb.lsm.observe.StallReason;

/** Counts and tells how long writers waited, and for what. Any thread. */
@FunctionalInterface
public interface StallCounter {
  /** A writer has waited for {@code nanos} since {@code span} began. */
  void count(StallSpan span, StallReason reason, long nanos);
}
