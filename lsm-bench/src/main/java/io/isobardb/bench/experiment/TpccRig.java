package io.isobardb.bench.experiment;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.tpcc.drive.Driver;
import io.isobardb.tpcc.drive.DriverClock;
import io.isobardb.tpcc.drive.Mix;
import io.isobardb.tpcc.drive.Observer;
import io.isobardb.tpcc.drive.RunResult;
import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.IsobarStore;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.TpccStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A fresh store under a TPC-C-derived load; deleted when closed. Used by one thread at a time. */
final class TpccRig implements AutoCloseable {
  /** The trees that the transactions write to. */
  static final int WRITTEN_TREES = 9;

  /** What a page written costs beside one that is read: omega in the paper's runs of TPC-C. */
  static final double WRITE_WEIGHT = 2;

  static final String WEIGHTED = "weighted cost [pages/transaction]";

  /** A point has so much time to be warmed up, and as much to be measured. */
  static final double SECONDS = 4;

  private final Path dir;
  private final Bench bench;
  private final Store store;
  private final TpccStore tables;
  private final LoadMark mark;
  private long seed;

  /** A copy of a loaded store of so many warehouses, opened with {@code options}. */
  TpccRig(Bench bench, StoreOptions options, int warehouses) throws Exception {
    this.bench = bench;
    seed = bench.seed();
    dir = bench.empty("tpcc");
    Bench.copy(loaded(bench, warehouses), dir);
    store = Store.open(dir, options);
    tables = new IsobarStore(store, Locking.PESSIMISTIC);
    mark = Objects.requireNonNull(Loader.loaded(tables), "no complete load");
  }

  /** Warehouses where the paper has {@code atFull}: 100 MB of data each. */
  static int warehouses(io.isobardb.bench.experiment.Scale scale, int atFull) {
    return (int) Math.max(1, Math.round(atFull * scale.factor()));
  }

  private static Path loaded(Bench bench, int warehouses) throws Exception {
    return bench.loaded(
        "tpcc-" + warehouses,
        loading -> {
          try (Store store = Store.open(loading, bench.options().build());
              TpccStore tables = new IsobarStore(store, Locking.PESSIMISTIC)) {
            Scale scale = Scale.of(warehouses, 1);
            new Loader(tables, scale, bench.seed(), System.currentTimeMillis(), rows -> {})
                .load(bench.threads());
            store.flush();
            store.awaitQuiet();
          }
        });
  }

  Store store() {
    return store;
  }

  /**
   * Transactions for so many seconds of the scale small. From a quiet store to a quiet one: what
   * they leave to merge is charged to them.
   */
  Map<String, Double> run(Mix mix, double smallSeconds) throws InterruptedException {
    int threads = bench.threads();
    RunSpec spec =
        new RunSpec(
            threads,
            RunSpec.deliveryThreads(threads),
            0,
            (long) (1000 * bench.seconds(smallSeconds)),
            mix,
            Isolation.SNAPSHOT,
            false,
            true,
            seed++);
    Meter meter = new Meter(store, threads + RunSpec.deliveryThreads(threads));
    RunResult result = new Driver(tables, mark, spec, DriverClock.SYSTEM, new Observer() {}).run();
    long done = result.tally().done();
    Map<String, Double> figures =
        meter.figures(
            new io.isobardb.bench.drive.Driver.Done(done, 0, result.measuredNanos() / 1e9), done);
    figures.put(
        Meter.AMPLIFICATION,
        figures.get(Meter.WRITTEN) * done / Math.max(1, result.tally().bytesPut()));
    figures.put(
        WEIGHTED,
        WRITE_WEIGHT * figures.get(Meter.WRITE_COST)
            + figures.get(Meter.QUERY_READ)
            + figures.get(Meter.MERGE_READ));
    figures.put("NewOrders per minute", result.newOrdersPerMinute());
    figures.put(Tuned.DECISIONS, (double) store.stats().tuner().decisions());
    return figures;
  }

  /** Goes on by windows; each is a row with its number, counted from {@code first}. */
  List<Row> windows(Point point, Mix mix, double smallSeconds, int first, int count)
      throws InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (int window = first; window < first + count; window++) {
      Map<String, String> parameters = new LinkedHashMap<>(point.parameters());
      parameters.put(Tuned.WINDOW, Integer.toString(window));
      rows.add(new Row(parameters, run(mix, smallSeconds)));
    }
    return rows;
  }

  @Override
  public void close() {
    tables.close();
    Directories.delete(dir);
  }
}
