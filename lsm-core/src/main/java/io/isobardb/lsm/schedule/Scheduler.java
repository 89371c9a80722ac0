package io.isobardb.lsm.schedule;

import java.util.function.Predicate;

/** Runs all background work of one store, on threads or, simulated, on the caller's. */
public interface Scheduler extends AutoCloseable {
  /**
   * How often jobs that had begun were put aside.
   *
   * @param pauses because their priority was held back
   * @param preemptions for more urgent jobs
   * @param throttled since they had read and written as much as they may for now
   * @param processorWaits since they had used the processors as much as they may for now
   */
  record Interruptions(long pauses, long preemptions, long throttled, long processorWaits) {
    /** None. */
    public static final Interruptions NONE = new Interruptions(0, 0, 0, 0);
  }

  /**
   * What was used of the processors so far.
   *
   * @param processors how many there are; 0 if it can't be told what is used
   * @param usedNanos by all of the process
   * @param jobNanos by steps of jobs
   */
  record ProcessorTimes(int processors, long usedNanos, long jobNanos) {
    /** It can't be told. */
    public static final ProcessorTimes UNKNOWN = new ProcessorTimes(0, 0, 0);
  }

  /** Queues a job; it runs when its priority's turn comes. */
  void submit(Job job);

  /** Starts a service on a thread of its own. */
  Service.Handle start(Service service);

  /** A new signal out of any order; {@code name} says what is waited for, for messages. */
  Signal signal(String name);

  /** As {@link #signal(String)}, for waits of which most are over within microseconds. */
  default Signal briefSignal(String name) {
    return signal(name);
  }

  /** A new signal to wait for this; each wait is held against the order, where that is checked. */
  default Signal signal(Awaited what) {
    Signal signal = what.isBrief() ? briefSignal(what.text()) : signal(what.text());
    return Awaited.isChecked() ? new OrderedSignal(what, signal) : signal;
  }

  /**
   * How many bytes of entries a job should carry in one step: few enough for more urgent ones not
   * to wait long, many enough for the change of threads between steps not to be felt.
   */
  int stepBytes();

  /**
   * Holds jobs of a priority back, or lets them go on. Jobs that run are put aside after their
   * step. A caller that holds jobs back lets them go on before anybody waits for their end.
   */
  void hold(Job.Priority priority, boolean hold);

  /**
   * Has a helper do an errand soon: one of a few threads that wait for the device. There may be no
   * helper to spare for a long time, so owners do not rely on it.
   *
   * @return whether there are helpers at all; if not, the errand is left alone
   */
  default boolean help(Errand errand) {
    return false;
  }

  /**
   * Has another thread read for one that must not block, such as a virtual thread. The errand waits
   * for the device and for nothing else: so it is done soon, however many helpers wait for pages
   * that others are reading.
   *
   * @return as for {@link #help}
   */
  default boolean read(Errand errand) {
    return false;
  }

  /** Changes what jobs may read and write. They pay between two steps, never within one. */
  void limit(IoLimits limits);

  /**
   * Has jobs keep to what the store has of a shared budget, too; before the first one is queued.
   */
  default void share(SharedIo.Share share) {}

  /** Changes what processor time jobs may use. They pay as for what they read and write. */
  void limit(ProcessorLimits limits);

  /** What was used of the processors so far. The time of jobs is counted from the first call on. */
  ProcessorTimes processorTimes();

  /** How often jobs were put aside so far. */
  Interruptions interruptions();

  /** Jobs that are queued, held back or running. */
  int pending();

  /** Raised when a job has ended, whatever became of it. */
  Signal jobEnded();

  /**
   * Goes on without threads that never come back, as they have called {@code System.exit}. If one
   * is this scheduler's, another thread does the jobs that were its share, and its own job fails
   * there with {@link LostThreadException}. {@link #close} does not wait for it.
   */
  default void goOnWithout(Predicate<Thread> gone) {}

  /** Finishes the steps in progress, fails the jobs that are left, and ends the threads. */
  @Override
  void close();
}
