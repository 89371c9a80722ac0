package io.isobardb.lsm.schedule;

import java.util.function.Predicate;

/**
 * A scheduler for a store that writes nothing: it takes jobs, and never runs them.
 *
 * @param threads for all but jobs
 */
public record NoJobs(Scheduler threads) implements Scheduler {
  @Override
  public void submit(Job job) {
    // What flushes and merges would write is not to be written.
  }

  @Override
  public Service.Handle start(Service service) {
    return threads.start(service);
  }

  @Override
  public boolean help(Errand errand) {
    return threads.help(errand);
  }

  @Override
  public boolean read(Errand errand) {
    return threads.read(errand);
  }

  @Override
  public Signal signal(String name) {
    return threads.signal(name);
  }

  @Override
  public Signal briefSignal(String name) {
    return threads.briefSignal(name);
  }

  @Override
  public int stepBytes() {
    return threads.stepBytes();
  }

  @Override
  public void hold(Job.Priority priority, boolean hold) {
    // There are none.
  }

  @Override
  public void limit(IoLimits limits) {
    // There are none.
  }

  @Override
  public void limit(ProcessorLimits limits) {
    // There are none.
  }

  @Override
  public ProcessorTimes processorTimes() {
    return ProcessorTimes.UNKNOWN;
  }

  @Override
  public Interruptions interruptions() {
    return Interruptions.NONE;
  }

  @Override
  public int pending() {
    return 0;
  }

  @Override
  public Signal jobEnded() {
    return threads.jobEnded();
  }

  @Override
  public void goOnWithout(Predicate<Thread> gone) {
    threads.goOnWithout(gone);
  }

  @Override
  public void close() {
    threads.close();
  }
}
