package io.isobardb.lsm.schedule;

import com.sun.management.OperatingSystemMXBean;
import io.isobardb.lsm.schedule.Scheduler.ProcessorTimes;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The processor time of this process, and of the steps of jobs. A store that is open for a moment
 * does not pay for the classes that know it: they are loaded when somebody asks.
 *
 * <p>Thread rule: any thread.
 */
final class WorkerTimes {
  private final LongAdder jobNanos = new LongAdder();
  private volatile @Nullable ThreadMXBean threads;

  /** The calling thread's time; 0 while nobody has asked for {@link #now}. */
  long ofThread() {
    ThreadMXBean known = threads;
    return known == null ? 0 : Math.max(0, known.getCurrentThreadCpuTime());
  }

  /** What a step has used that began at {@code began} by {@link #ofThread}. */
  long step(long began) {
    if (began == 0) {
      return 0;
    }
    long used = Math.max(0, ofThread() - began);
    jobNanos.add(used);
    return used;
  }

  /** All so far. */
  ProcessorTimes now() {
    ThreadMXBean known = ManagementFactory.getThreadMXBean();
    if (known.isCurrentThreadCpuTimeSupported()
        && known.isThreadCpuTimeEnabled()
        && ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
      threads = known;
      long used = system.getProcessCpuTime();
      if (used >= 0) {
        return new ProcessorTimes(Runtime.getRuntime().availableProcessors(), used, jobNanos.sum());
      }
    }
    return ProcessorTimes.UNKNOWN;
  }
}
