package io.isobardb.lsm.schedule;

/**
 * The thread that ran a job will never come back to it. Nothing is broken: what the job has not
 * committed can be done anew.
 */
public final class LostThreadException extends RuntimeException {
  private static final long serialVersionUID = 1;

  LostThreadException(String job) {
    super("the thread that ran it has called System.exit: " + job);
  }
}
