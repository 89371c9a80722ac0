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

  /**
   * A deferred delivery that has ended.
   *
   * @param queuedMillis when it was asked for, since 1970
   * @param endedMillis when it ended, since 1970
   * @param warehouse where
   * @param carrier 1 to 10
   * @param orders by district, what was delivered: an order's number, or {@link
   *     DeliveryLog#SKIPPED}, or {@link DeliveryLog#FAILED}
   */
  record Delivered(long queuedMillis, long endedMillis, int warehouse, int carrier, int[] orders) {}

  /** The run went on. */
  default void progress(Progress progress) {}

  /** An order is committed; called by the thread that entered it, before it does anything else. */
  default void placed(NewOrder input, NewOrder.Placed output) {}

  /** A deferred delivery has ended; called by the thread that did it. */
  default void delivered(Delivered delivery) {}

  /** What this process has used so far. */
  default Usage usage() {
    return Usage.UNKNOWN;
  }
}
