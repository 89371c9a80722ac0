package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.work.NewOrder;

/** Who watches a run. */
public interface Observer {
  /**
   * How far the run is, every second; called by the thread that runs it.
   *
   * @param elapsedMillis since the ramp-up began
   * @param measuring whether the ramp-up is over
   * @param newOrdersPerMinute since the last call
   * @param retries so far
   * @param queuedDeliveries that wait
   */
  record Progress(
      long elapsedMillis,
      boolean measuring,
      double newOrdersPerMinute,
      long retries,
      int queuedDeliveries) {}

  /** The run went on. */
  default void progress(Progress progress) {}

  /** An order is committed; called by the thread that entered it, before it does anything else. */
  default void placed(NewOrder input, NewOrder.Placed output) {}

  /** What this process has used so far. */
  default Usage usage() {
    return Usage.UNKNOWN;
  }
}
