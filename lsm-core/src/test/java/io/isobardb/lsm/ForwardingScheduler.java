package io.isobardb.lsm;

import io.isobardb.lsm.schedule.Errand;
import io.isobardb.lsm.schedule.IoLimits;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.schedule.ProcessorLimits;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.SharedIo;
import io.isobardb.lsm.schedule.Signal;

/** Passes all calls on to another scheduler: subclasses change the ones they are about. */
public abstract class ForwardingScheduler implements Scheduler {
  public final Scheduler scheduler;

  public ForwardingScheduler(Scheduler scheduler) {
    this.scheduler = scheduler;
  }

  @Override
  public void submit(Job job) {
    scheduler.submit(job);
  }

  @Override
  public Service.Handle start(Service service) {
    return scheduler.start(service);
  }

  @Override
  public boolean help(Errand errand) {
    return scheduler.help(errand);
  }

  @Override
  public boolean read(Errand errand) {
    return scheduler.read(errand);
  }

  @Override
  public Signal signal(String name) {
    return scheduler.signal(name);
  }

  @Override
  public int stepBytes() {
    return scheduler.stepBytes();
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
  public void share(SharedIo.Share share) {
    scheduler.share(share);
  }

  @Override
  public void limit(ProcessorLimits limits) {
    scheduler.limit(limits);
  }

  @Override
  public ProcessorTimes processorTimes() {
    return scheduler.processorTimes();
  }

  @Override
  public Interruptions interruptions() {
    return scheduler.interruptions();
  }

  @Override
  public int pending() {
    return scheduler.pending();
  }

  @Override
  public Signal jobEnded() {
    return scheduler.jobEnded();
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
