package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.observe.StoreStats;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a store and its process have done since the meter began. Immutable.
 *
 * <p>Costs are in pages per operation, written by flushes and merges, read for queries and for
 * merges; all weigh the same.
 */
final class Meter {
  static final String THROUGHPUT = "throughput [op/s]";
  static final String CPU = "CPU [us/op]";
  static final String FLUSH_WRITTEN = "flushes wrote [B/op]";
  static final String MERGE_WRITTEN = "merges wrote [B/op]";
  static final String WRITTEN = "written [B/op]";
  static final String AMPLIFICATION = "write amplification";
  static final String WRITE_COST = "pages written [1/op]";
  static final String QUERY_READ = "pages read by queries [1/op]";
  static final String MERGE_READ = "pages read by merges [1/op]";
  static final String COST = "cost [pages/op]";
  static final String STALLED = "stalled [% of writers' time]";
  static final String P99 = "p99 of writes [ms]";
  static final String WRITE_MEMORY = "write memory [MB]";
  static final double MEGABYTE = 1 << 20;

  private final Store store;
  private final int writers;
  private final StoreStats before;
  private final ProcessCounters process = ProcessCounters.now();
  private final long startNanos = System.nanoTime();

  /** Begins now, with so many threads that write. */
  Meter(Store store, int writers) {
    this.store = store;
    this.writers = writers;
    before = store.stats();
  }

  /**
   * All figures from the beginning to now.
   *
   * @param done what clients did meanwhile
   * @param asked how much they were to do
   */
  Map<String, Double> figures(Driver.Done done, long asked) {
    StoreStats now = store.stats();
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    double operations = Math.max(1, done.operations());
    double page = store.options().pageSize();
    double flushed = now.flushBytesWritten() - before.flushBytesWritten();
    double merged = now.mergeBytesWritten() - before.mergeBytesWritten();
    double queryRead = now.cache().queryMisses() - before.cache().queryMisses();
    double mergeRead = now.cache().mergeMisses() - before.cache().mergeMisses();
    long cpu = ProcessCounters.now().cpuNanos() - process.cpuNanos();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(THROUGHPUT, operations / seconds);
    figures.put(CPU, cpu / 1e3 / operations);
    figures.put(WRITTEN, (flushed + merged) / operations);
    figures.put(FLUSH_WRITTEN, flushed / operations);
    figures.put(MERGE_WRITTEN, merged / operations);
    figures.put(
        "log wrote [B/op]", (now.logBytesWritten() - before.logBytesWritten()) / operations);
    if (done.writes() > 0) {
      figures.put(
          AMPLIFICATION, (flushed + merged) / ((double) done.writes() * Shape.RECORD_BYTES));
    }
    figures.put(WRITE_COST, (flushed + merged) / page / operations);
    figures.put(QUERY_READ, queryRead / operations);
    figures.put(MERGE_READ, mergeRead / operations);
    figures.put(COST, ((flushed + merged) / page + queryRead + mergeRead) / operations);
    figures.put(STALLED, 100 * (stalled(now) - stalled(before)) / 1e9 / seconds / writers);
    figures.put("flushes", (double) (now.flushes() - before.flushes()));
    figures.put("merges", (double) (now.merges() - before.merges()));
    figures.put("memory merges", (double) (now.memoryMerges() - before.memoryMerges()));
    figures.put(WRITE_MEMORY, now.writeMemoryLimitBytes() / MEGABYTE);
    figures.put("write memory used [MB]", now.writeMemoryBytes() / MEGABYTE);
    figures.put(
        "most groups in L0",
        (double) now.trees().stream().mapToInt(StoreStats.TreeStats::l0Groups).max().orElse(0));
    figures.put("operations", (double) done.operations());
    figures.put("done of what was planned [%]", 100.0 * done.operations() / Math.max(1, asked));
    figures.put("time [s]", done.seconds());
    figures.put("time with what was left to do [s]", seconds);
    return figures;
  }

  private static double stalled(StoreStats stats) {
    return stats.stallNanos();
  }
}
