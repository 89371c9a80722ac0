package io.isobardb.lsm.schedule;

import io.isobardb.lsm.schedule.BandwidthRules.Pressure;

/**
 * Looks at what clients use of the processors, and limits jobs as {@link ProcessorRules} says.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ProcessorMeter {
  /** The system counts a process's time in steps of 10 ms. */
  private static final long SPAN_NANOS = 100_000_000;

  private final Scheduler scheduler;
  private final ProcessorRules rules;
  private long sinceNanos;
  private Scheduler.ProcessorTimes since = Scheduler.ProcessorTimes.UNKNOWN;
  private ProcessorLimits limits = ProcessorLimits.NONE;

  ProcessorMeter(Scheduler scheduler, ProcessorRules rules, long nanos) {
    this.scheduler = scheduler;
    this.rules = rules;
    this.sinceNanos = nanos;
  }

  /** Looks again if it is time to; at once if jobs must not wait any more. */
  void look(long nanos, Pressure pressure) {
    if (pressure.isUrgent()) {
      change(ProcessorLimits.NONE);
    }
    long passed = nanos - sinceNanos;
    if (passed < SPAN_NANOS) {
      return;
    }
    sinceNanos = nanos;
    if (passed >= 2 * SPAN_NANOS) {
      // There were no jobs for a while, and the mean over that says nothing about now.
      since = Scheduler.ProcessorTimes.UNKNOWN;
      change(ProcessorLimits.NONE);
      return;
    }
    Scheduler.ProcessorTimes now = scheduler.processorTimes();
    if (since.processors() > 0) {
      long used = now.usedNanos() - since.usedNanos() - (now.jobNanos() - since.jobNanos());
      change(rules.next(now.processors(), (long) (used * 1e9 / passed), pressure));
    }
    since = now;
  }

  private void change(ProcessorLimits next) {
    if (!next.isSame(limits)) {
      limits = next;
      scheduler.limit(next);
    }
  }
}
