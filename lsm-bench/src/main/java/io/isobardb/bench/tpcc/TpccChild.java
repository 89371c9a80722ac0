package io.isobardb.bench.tpcc;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.process.ChildMain;
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
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The process of a run: load, check, run, check. Its argument is a {@link TpccSpec}; every line it
 * prints is a JSON object whose {@code event} is {@code stage}, {@code progress}, {@code check},
 * {@code report} or {@code end}. It exits with 0 only after {@code end}.
 */
final class TpccChild {
  private final TpccSpec spec;
  private final PrintStream out;

  private TpccChild(TpccSpec spec, PrintStream out) {
    this.spec = spec;
    this.out = out;
  }

  /** Runs what the first argument says. */
  public static void main(String[] args) {
    ChildMain.run(() -> new TpccChild(TpccSpec.fromJson(args[0]), System.out).run());
  }

  private void run() throws InterruptedException, IOException {
    try (TpccStore store = EngineKind.openStore(spec.store())) {
      stage("loading " + Numbers.count(spec.scale().warehouses(), "warehouse"));
      LoadMark mark = Loading.load(store, spec.scale(), spec.run().seed(), this::progress);
      if (mark == null) {
        mark = Loader.loaded(store);
      } else if (spec.check()) {
        check(store, mark.scale(), "after the load");
      }
      stage("running " + Numbers.count(spec.run().threads(), "terminal"));
      RunResult result = run(store, mark);
      Report report =
          new Report(spec.store(), spec.run(), mark.scale(), result, store.configuration());
      Map<String, Object> event = event("report");
      event.put("text", report.text());
      event.put("report", report.toMap());
      event.put("holds", report.holds());
      print(event);
      if (spec.check()) {
        check(store, mark.scale(), "after the run");
      }
    }
    print(event("end"));
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
                progress(
                    "checking " + when + ": " + done + " of " + scale.warehouses(),
                    done,
                    scale.warehouses()));
    Map<String, Object> violations = new LinkedHashMap<>();
    for (Condition condition : Condition.values()) {
      violations.put(condition.number() + ": " + condition.text(), findings.count(condition));
    }
    Map<String, Object> event = event("check");
    event.put("when", when);
    event.put("text", findings.text());
    event.put("violations", violations);
    event.put("holds", findings.clean());
    print(event);
  }

  private void stage(String text) {
    Map<String, Object> map = event("stage");
    map.put("text", text);
    print(map);
  }

  private void progress(String text, double done, double all) {
    Map<String, Object> map = event("progress");
    map.put("text", text);
    map.put("done", done);
    map.put("all", all);
    print(map);
  }

  private static Map<String, Object> event(String name) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("event", name);
    return map;
  }

  private synchronized void print(Map<String, Object> event) {
    try {
      out.println(JSON.std.asString(event));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
      TpccChild.this.progress(
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
