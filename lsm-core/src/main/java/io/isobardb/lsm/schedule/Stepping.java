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
  private long readBytes;
  private long writtenBytes;

  private Stepping(Job.Priority priority) {
    this.priority = priority;
  }

  /**
   * What became of a step.
   *
   * @param more whether there is more to do
   * @param readBytes that it read
   * @param writtenBytes that it wrote
   */
  public record Step(boolean more, long readBytes, long writtenBytes) {
    /** What it read and wrote. */
    public long bytes() {
      return readBytes + writtenBytes;
    }

    /** The larger one of what it read and what it wrote. */
    long largerBytes() {
      return Math.max(readBytes, writtenBytes);
    }
  }

  /** Does one step of a job, in its name. */
  public static Step step(Job job) throws Exception {
    return step(job, job.priority());
  }

  /** As {@link #step(Job)}, for a job that waits its turn under another priority than its own. */
  public static Step step(Job job, Job.Priority own) throws Exception {
    Stepping outer = CURRENT.get();
    Stepping stepping = new Stepping(own);
    CURRENT.set(stepping);
    int[] within = Awaited.enterAlone(Awaited.JOBS);
    try {
      return new Step(job.step(), stepping.readBytes, stepping.writtenBytes);
    } finally {
      Awaited.goBack(within);
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

  /** The step that the calling thread is in; null if there is none. */
  static @Nullable Stepping current() {
    return CURRENT.get();
  }

  Job.Priority job() {
    return priority;
  }

  /** Adds what is read in this step. */
  void countRead(long more) {
    readBytes += more;
  }

  /** Adds what is written in this step. */
  void countWritten(long more) {
    writtenBytes += more;
  }
}
