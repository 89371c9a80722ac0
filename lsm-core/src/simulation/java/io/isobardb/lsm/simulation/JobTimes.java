package io.isobardb.lsm.simulation;

import io.isobardb.lsm.schedule.Job;

/** What a job did when. Times in nanoseconds of the clock, -1 for what has not happened. */
public final class JobTimes {
  private final String name;
  private final Job.Priority priority;
  private final long submitted;
  private long begun = -1;
  private long ended = -1;
  private long longestPause;
  private long lastStep = -1;

  JobTimes(Job job, long now) {
    this.name = job.name();
    this.priority = job.priority();
    this.submitted = now;
  }

  public String name() {
    return name;
  }

  public Job.Priority priority() {
    return priority;
  }

  public long submitted() {
    return submitted;
  }

  /** When its first step began. */
  public long begun() {
    return begun;
  }

  /** When its last step had passed. */
  public long ended() {
    return ended;
  }

  /** A step begins. */
  void steps(long now) {
    if (begun < 0) {
      begun = now;
    } else {
      longestPause = Math.max(longestPause, now - lastStep);
    }
  }

  /** A step has passed; {@code more} if it was not the last one. */
  void passed(long now, boolean more) {
    lastStep = now;
    ended = more ? -1 : now;
  }

  /** The longest time between two of its steps. */
  public long longestPause() {
    return longestPause;
  }

  @Override
  public String toString() {
    return String.format(
        "%s %s: submitted %d us, begun %d, ended %d, longest pause %d",
        priority, name, submitted / 1000, begun / 1000, ended / 1000, longestPause / 1000);
  }
}
