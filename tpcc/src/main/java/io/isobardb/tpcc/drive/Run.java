package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.TpccStore;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What the threads of one run share. Thread-safe. */
final class Run {
  private static final int QUEUED_PER_THREAD = 16;
  private static final long POLL_MILLIS = 20;

  private final TpccStore store;
  private final RunSpec spec;
  private final DriverClock clock;
  private final Observer observer;
  private final BlockingQueue<DeliveryWorker.Queued> deliveries;
  private final AtomicIntegerArray delivered;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final LongAdder entered = new LongAdder();
  private final LongAdder retries = new LongAdder();
  private volatile boolean measuring;
  private volatile boolean noMoreDeliveries;

  Run(TpccStore store, Scale scale, RunSpec spec, DriverClock clock, Observer observer) {
    this.store = store;
    this.spec = spec;
    this.clock = clock;
    this.observer = observer;
    delivered = new AtomicIntegerArray(Math.multiplyExact(scale.warehouses(), Scale.DISTRICTS));
    deliveries = new ArrayBlockingQueue<>(QUEUED_PER_THREAD * spec.threads());
  }

  TpccStore store() {
    return store;
  }

  RunSpec spec() {
    return spec;
  }

  DriverClock clock() {
    return clock;
  }

  Observer observer() {
    return observer;
  }

  boolean measuring() {
    return measuring;
  }

  void measure(boolean on) {
    measuring = on;
  }

  boolean stopping() {
    return stop.getCount() == 0;
  }

  void stop() {
    stop.countDown();
  }

  /** Waits, but not beyond the run's end; returns whether that has come. */
  boolean pause(long nanos) {
    try {
      return stop.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Ends the run for a failure, the first of which is told. */
  void fail(Throwable e) {
    failure.compareAndSet(null, e);
    stop();
  }

  @Nullable Throwable failure() {
    return failure.get();
  }

  /** An order was entered, or rolled back as its input said. */
  void entered() {
    entered.increment();
  }

  long allEntered() {
    return entered.sum();
  }

  void retried(long times) {
    retries.add(times);
  }

  long allRetries() {
    return retries.sum();
  }

  int queuedDeliveries() {
    return deliveries.size();
  }

  /** Queues a delivery; waits while the queue is full. False if the run is over instead. */
  boolean deliver(int w, int carrier) {
    DeliveryWorker.Queued queued =
        new DeliveryWorker.Queued(w, carrier, clock.millis(), clock.nanos());
    try {
      while (!deliveries.offer(queued, POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        if (stopping()) {
          return false;
        }
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** The next delivery; null when there will be none. */
  DeliveryWorker.@Nullable Queued nextDelivery() {
    try {
      while (true) {
        boolean last = noMoreDeliveries;
        DeliveryWorker.Queued next = deliveries.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
        if (next != null || last || failure() != null) {
          return next;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** An order number below which no order of the district is new. */
  int firstNewOrder(int w, int d) {
    return spec.deliveryHints() ? delivered.get(district(w, d)) + 1 : 1;
  }

  /** An order was delivered, and that is committed. */
  void delivered(int w, int d, int order) {
    delivered.accumulateAndGet(district(w, d), order, Math::max);
  }

  private static int district(int w, int d) {
    return (w - 1) * Scale.DISTRICTS + d - 1;
  }

  /** All terminals have ended. */
  void closeQueue() {
    noMoreDeliveries = true;
  }
}
