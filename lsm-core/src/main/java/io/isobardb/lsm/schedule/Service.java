package io.isobardb.lsm.schedule;

import io.isobardb.lsm.event.SystemLog;

/** Work that goes on as long as the store is open, on a thread of its own: the log's writer. */
public interface Service extends SystemLog.Subject {
  /**
   * Whether {@link #run} has something to do now. Cheap; called after every {@link Handle#wake}.
   */
  boolean ready();

  /** Does what there is to do and comes back. What it throws is final: it is not called again. */
  void run() throws Exception;

  /** Called once, when {@link #run} threw. */
  void onFailed(Throwable cause);

  /** A started service. */
  interface Handle {
    /** Makes the service look at {@link Service#ready}. Cheap when it is awake already. */
    void wake();

    /** Makes the service call {@link Service#run} within this time even if nobody wakes it. */
    void wakeWithin(long nanos);

    /** Ends the service after a run in progress, and waits for that. */
    void stop();
  }
}
