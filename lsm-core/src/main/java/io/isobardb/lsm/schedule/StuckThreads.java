package io.isobardb.lsm.schedule;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Tells when the threads of stores can't go on for want of a lock whose owner never gives it back.
 * Some of them may still do what others need. So all must have stood still for several looks.
 *
 * <p>Thread rule: one thread.
 */
final class StuckThreads {
  private static final int LOOKS = 10;

  /** How the names of stores' threads begin. */
  private static final String OWN = "isobar-";

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Predicate<Thread> gone;
  private int still;

  /**
   * @param gone tells threads that never go on
   */
  StuckThreads(Predicate<Thread> gone) {
    this.gone = gone;
  }

  /** Looks; says whether this and the looks before have seen no end of the waiting. */
  boolean look() {
    Set<Long> never = new HashSet<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (gone.test(thread)) {
        never.add(thread.getId());
      }
    }
    boolean blocked = false;
    boolean working = false;
    for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (info != null && !never.contains(info.getThreadId())) {
        blocked |= never.contains(info.getLockOwnerId());
        working |=
            info.getThreadState() == Thread.State.RUNNABLE
                && info.getThreadName().startsWith(OWN)
                && info.getThreadId() != Thread.currentThread().getId();
      }
    }
    still = blocked && !working ? still + 1 : 0;
    return still >= LOOKS;
  }
}
