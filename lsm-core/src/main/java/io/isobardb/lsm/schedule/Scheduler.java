package io.isobardb.lsm.schedule;

/** Runs all background work of one store, on threads or, simulated, on the caller's. */
public interface Scheduler extends AutoCloseable {
  /** Queues a job; it runs when its priority's turn comes. */
  void submit(Job job);

  /** Starts a service on a thread of its own. */
  Service.Handle start(Service service);

  /** A new signal; {@code name} says what is waited for, for messages. */
  Signal signal(String name);

  /**
   * How many bytes of entries a job should carry in one step: few enough for more urgent ones not
   * to wait long, many enough for the change of threads between steps not to be felt.
   */
  int stepBytes();

  /** Jobs that are queued or running. */
  int pending();

  /** Finishes the steps in progress, fails the jobs that are left, and ends the threads. */
  @Override
  void close();
}
