package io.isobardb.lsm;

import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A scheduler that keeps some jobs back, as a busy machine may, until it is told to let them go.
 */
final class HoldingScheduler implements Scheduler {
  static final Predicate<Job> MERGES = job -> job.name().startsWith("merge");

  private final Scheduler scheduler;
  private final Predicate<Job> holds;
  private final List<Job> held = new ArrayList<>();
  private boolean holding = true;

  HoldingScheduler(Scheduler scheduler, Predicate<Job> holds) {
    this.scheduler = scheduler;
    this.holds = holds;
  }

  int heldJobs() {
    return held.size();
  }

  /** Submits what was kept back, and keeps nothing back from now on. */
  void letGo() {
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
  public Service.Handle start(Service service) {
    return scheduler.start(service);
  }

  @Override
  public Signal signal(String name) {
    return scheduler.signal(name);
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    scheduler.hold(priority, hold);
  }

  @Override
  public void limit(IoLimits limits) {
    scheduler.limit(limits);
  }

  @Override
  public Interruptions interruptions() {
    return scheduler.interruptions();
  }

  @Override
  public int stepBytes() {
    return scheduler.stepBytes();
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
