package io.isobardb.lsm.schedule;

import org.jspecify.annotations.Nullable;

/**
 * Which job the calling thread steps: what is read and written within is done for that job.
 *
 * <p>Every scheduler steps jobs through {@link #step}. Steps may be nested, as the simulated
 * scheduler does; each has its own account.
 */
public final class Stepping {
  private static final ThreadLocal<@Nullable Stepping> CURRENT = new ThreadLocal<>();

  private final Job.Priority priority;

  private Stepping(Job.Priority priority) {
    this.priority = priority;
  }

  /** Does one step of a job, in its name. */
  public static boolean step(Job job) throws Exception {
    Stepping outer = CURRENT.get();
    CURRENT.set(new Stepping(job.priority()));
    try {
      return job.step();
    } finally {
      CURRENT.set(outer);
    }
  }

  /** Has a job rest, in its name. */
  public static void rest(Job job) throws Exception {
    Stepping outer = CURRENT.get();
    CURRENT.set(new Stepping(job.priority()));
    try {
      job.rest();
    } finally {
      CURRENT.set(outer);
    }
  }

  /** The priority of the job that the calling thread steps; null if it steps none. */
  public static Job.@Nullable Priority priority() {
    Stepping current = CURRENT.get();
    return current == null ? null : current.priority;
  }
}
