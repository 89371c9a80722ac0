package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.TpccStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs terminals on a loaded store: the ramp-up, the time that counts, and to the end. */
public final class Driver {
  private static final long STEP_MILLIS = 1000;

  private final LoadMark mark;
  private final Run run;
  private final List<Terminal> terminals = new ArrayList<>();
  private final List<DeliveryWorker> workers = new ArrayList<>();
  private long shownNanos;
  private long shownOrders;

  /** One run on {@code store}, which holds what {@code mark} says. */
  public Driver(
      TpccStore store, LoadMark mark, RunSpec spec, DriverClock clock, Observer observer) {
    this.mark = mark;
    run = new Run(store, mark.scale(), spec, clock, observer);
  }

  /**
   * Runs; call it once. Returns when every thread has ended and all queued deliveries are done.
   *
   * @throws IllegalStateException if a transaction failed other than by a conflict
   */
  public RunResult run() throws InterruptedException {
    RunSpec spec = run.spec();
    NuRand constants = NuRand.forRun(Values.part(spec.seed(), -1), mark.constants());
    List<Thread> terminalThreads = new ArrayList<>();
    List<Thread> workerThreads = new ArrayList<>();
    for (int i = 0; i < spec.threads(); i++) {
      Terminal terminal = new Terminal(run, i, constants, mark.scale());
      terminals.add(terminal);
      terminalThreads.add(new Thread(terminal, "tpcc-terminal-" + i));
    }
    for (int i = 0; i < spec.deliveryThreads(); i++) {
      DeliveryWorker worker = new DeliveryWorker(run, i);
      workers.add(worker);
      workerThreads.add(new Thread(worker, "tpcc-delivery-" + i));
    }
    long start = run.clock().nanos();
    shownNanos = start;
    long measured = 0;
    Usage before = Usage.UNKNOWN;
    Usage used = Usage.UNKNOWN;
    try {
      workerThreads.forEach(Thread::start);
      terminalThreads.forEach(Thread::start);
      await(start, 0, spec.rampUpMillis());
      before = run.observer().usage();
      long from = run.clock().nanos();
      run.measure(true);
      await(start, spec.rampUpMillis(), spec.rampUpMillis() + spec.durationMillis());
      run.measure(false);
      measured = run.clock().nanos() - from;
      used = run.observer().usage().since(before);
    } finally {
      run.stop();
      join(terminalThreads);
      run.closeQueue();
      join(workerThreads);
    }
    Throwable failure = run.failure();
    if (failure != null) {
      throw new IllegalStateException("the run failed: " + failure.getMessage(), failure);
    }
    Tally total = new Tally();
    terminals.forEach(terminal -> total.add(terminal.tally()));
    workers.forEach(worker -> total.add(worker.tally()));
    run.store().settle();
    return new RunResult(measured, total, used, run.observer().usage().since(before));
  }

  private void await(long start, long fromMillis, long toMillis) {
    for (long at = fromMillis; at < toMillis; ) {
      at = Math.min(toMillis, at + STEP_MILLIS);
      long left = start + TimeUnit.MILLISECONDS.toNanos(at) - run.clock().nanos();
      if (left > 0 && run.pause(left)) {
        return;
      }
      show(start);
    }
  }

  private void show(long start) {
    long now = run.clock().nanos();
    long orders = run.allEntered();
    double perMinute = (orders - shownOrders) * 60e9 / Math.max(1, now - shownNanos);
    shownNanos = now;
    shownOrders = orders;
    run.observer()
        .progress(
            new Observer.Progress(
                TimeUnit.NANOSECONDS.toMillis(now - start),
                run.measuring(),
                perMinute,
                run.allRetries(),
                run.queuedDeliveries()));
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      if (thread.getState() != Thread.State.NEW) {
        thread.join();
      }
    }
  }
}
