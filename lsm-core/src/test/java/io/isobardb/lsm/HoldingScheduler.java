package io.isobardb.lsm;

import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A scheduler that keeps some jobs back, as a busy machine may, until it is told to let them go.
 */
public final class HoldingScheduler extends ForwardingScheduler {
  public static final Predicate<Job> MERGES = job -> job.name().startsWith("merge");

  private final Predicate<Job> holds;
  private final List<Job> held = new ArrayList<>();
  private boolean holding = true;

  public HoldingScheduler(Scheduler scheduler, Predicate<Job> holds) {
    super(scheduler);
    this.holds = holds;
  }

  public int heldJobs() {
    return held.size();
  }

  /** Submits what was kept back, and keeps nothing back from now on. */
  public void letGo() {
    holding = false;
    held.forEach(scheduler::submit);
    held.clear();
  }

  @Override
  public void submit(Job job) {
    if (holding && holds.test(job)) {
      held.add(job);
    } else {
      scheduler.submit(job);
    }
  }

  @Override
  public int pending() {
    return scheduler.pending() + held.size();
  }

  @Override
  public void close() {
    letGo();
    scheduler.close();
  }
}
