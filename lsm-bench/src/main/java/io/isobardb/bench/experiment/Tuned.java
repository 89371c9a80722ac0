package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.IoMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the experiments with the memory tuner have in common: a store that tunes itself, measured
 * window by window as it does.
 *
 * <p>I/O is buffered: what counts is pages, and the system's page cache lets more tuning cycles fit
 * into the time.
 */
final class Tuned {
  static final String WINDOW = "window";
  static final String DECISIONS = "decisions";

  /** Data of 50 GB, and half as much log as memory, so that a cycle is not too long. */
  static final long RECORDS = 50_000_000;

  private static final double SMALL_SECONDS = 15;

  private Tuned() {}

  /** Options for a budget that is so many gigabytes in the paper, a part of it write memory. */
  static StoreOptions.Builder options(Bench bench, double gigabytes, int sixteenths) {
    long budget = bench.scale().budget(gigabytes);
    return bench
        .freeOptions()
        .memoryBudget(budget)
        .writeMemory(budget / 16 * sixteenths)
        .logLimit(bench.scale().log(gigabytes / 2))
        .ioMode(IoMode.BUFFERED)
        .memoryTuner(false);
  }

  /** The same with the tuner on. */
  static StoreOptions.Builder tuned(Bench bench, double gigabytes, int sixteenths) {
    return options(bench, gigabytes, sixteenths)
        .memoryTuner(true)
        .memoryTuner(t -> t.interval(Duration.ofSeconds((long) Math.max(2, bench.seconds(2)))));
  }

  /** Fixed memory: warmed up by a window of so many operations, then measured over some. */
  static Map<String, Double> fixed(
      Bench bench, StoreOptions options, Shape shape, Workload workload, long window, int windows)
      throws Exception {
    try (Rig rig = bench.rig(options, shape, SMALL_SECONDS)) {
      rig.run(workload, window);
      return rig.measure(workload, windows * window);
    }
  }

  /** Goes on with a load and says what came of it. */
  interface Window {
    Map<String, Double> next() throws InterruptedException;
  }

  /** Goes on by windows; each is a row with its number, counted from {@code first}. */
  static List<Row> windows(Point point, Store store, Window load, int first, int count)
      throws InterruptedException {
    List<Row> rows = new ArrayList<>();
    for (int window = first; window < first + count; window++) {
      Map<String, Double> figures = load.next();
      figures.put(DECISIONS, (double) store.stats().tuner().decisions());
      rows.add(new Row(point.with(WINDOW, window).parameters(), figures));
    }
    return rows;
  }

  /** A store for {@link #windows}. */
  static Rig rig(Bench bench, StoreOptions options, Shape shape) throws Exception {
    return bench.rig(options, shape, SMALL_SECONDS);
  }
}
