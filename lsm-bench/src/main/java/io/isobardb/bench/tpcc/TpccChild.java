package io.isobardb.bench.tpcc;

import io.isobardb.bench.process.ChildMain;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.console.Numbers;
import io.isobardb.tpcc.check.Condition;
import io.isobardb.tpcc.check.ConsistencyCheck;
import io.isobardb.tpcc.check.Findings;
import io.isobardb.tpcc.drive.DeliveryLog;
import io.isobardb.tpcc.drive.Driver;
import io.isobardb.tpcc.drive.DriverClock;
import io.isobardb.tpcc.drive.Observer;
import io.isobardb.tpcc.drive.Report;
import io.isobardb.tpcc.drive.RunResult;
import io.isobardb.tpcc.drive.Usage;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.TpccStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process of a run, as a {@link TpccSpec} says: load, check, run, check. Its events are {@code
 * stage}, {@code progress}, {@code check} and {@code report}.
 */
final class TpccChild {
  private final TpccSpec spec;
  private final Events events;

  private TpccChild(TpccSpec spec, Events events) {
    this.spec = spec;
    this.events = events;
  }

  /** Runs what the first argument says. */
  public static void main(String[] args) {
    ChildMain.run(TpccSpec.class, args, (spec, events) -> new TpccChild(spec, events).run());
  }

  private void run() throws InterruptedException, IOException {
    try (TpccStore store = EngineKind.openStore(spec.store())) {
      stage("loading " + Numbers.count(spec.scale().warehouses(), "warehouse"));
      LoadMark mark = Loading.load(store, spec.scale(), spec.run().seed(), events);
      if (mark == null) {
        mark = Loader.loaded(store);
      } else if (spec.check()) {
        check(store, mark.scale(), "after the load");
      }
      stage("running " + Numbers.count(spec.run().threads(), "terminal"));
      RunResult result = run(store, mark);
      Report report =
          new Report(spec.store(), spec.run(), mark.scale(), result, store.configuration());
      events.send(
          "report",
          Map.of(
              "text", report.text(),
              "report", report.toMap(),
              "residentBytes", ProcessCounters.now().peakResidentBytes(),
              "holds", report.holds()));
      if (spec.check()) {
        check(store, mark.scale(), "after the run");
      }
    }
  }

  private RunResult run(TpccStore store, LoadMark mark) throws InterruptedException, IOException {
    Path file = spec.deliveryLog();
    try (DeliveryLog log = file == null ? null : new DeliveryLog(file)) {
      return new Driver(store, mark, spec.run(), DriverClock.SYSTEM, new Watcher(log)).run();
    }
  }

  private void check(TpccStore store, Scale scale, String when) throws InterruptedException {
    stage("checking " + when);
    Findings findings =
        ConsistencyCheck.run(
            store,
            scale,
            Runtime.getRuntime().availableProcessors(),
            done ->
                events.at(
                    "checking " + when + ": " + done + " of " + scale.warehouses(),
                    done,
                    scale.warehouses()));
    Map<String, Object> violations = new LinkedHashMap<>();
    for (Condition condition : Condition.values()) {
      violations.put(condition.number() + ": " + condition.text(), findings.count(condition));
    }
    events.send(
        "check",
        Map.of(
            "when",
            when,
            "text",
            findings.text(),
            "violations",
            violations,
            "holds",
            findings.clean()));
  }

  private void stage(String text) {
    events.send("stage", Map.of("text", text));
  }

  private final class Watcher implements Observer {
    private final @Nullable DeliveryLog deliveries;

    Watcher(@Nullable DeliveryLog deliveries) {
      this.deliveries = deliveries;
    }

    @Override
    public void delivered(Delivered delivery) {
      if (deliveries != null) {
        deliveries.add(delivery);
      }
    }

    @Override
    public void progress(Progress progress) {
      events.send(
          "second",
          Map.of(
              "seconds",
              progress.elapsedMillis() / 1e3,
              "newOrdersPerMinute",
              progress.newOrdersPerMinute()));
      events.at(
          String.format(
              "%s %d s: %,.0f NewOrders per minute, %,d retries, %d deliveries queued",
              progress.measuring() ? "running" : "ramping up",
              Math.round(progress.elapsedMillis() / 1000.0),
              progress.newOrdersPerMinute(),
              progress.retries(),
              progress.queuedDeliveries()),
          progress.elapsedMillis(),
          spec.run().rampUpMillis() + spec.run().durationMillis());
    }

    @Override
    public Usage usage() {
      ProcessCounters now = ProcessCounters.now();
      return new Usage(now.writtenBytes(), now.cpuNanos());
    }
  }
}
