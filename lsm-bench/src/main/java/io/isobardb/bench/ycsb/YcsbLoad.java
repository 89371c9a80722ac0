package io.isobardb.bench.ycsb;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.ycsb.IsobarClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * A workload of the stock YCSB client on Isobar, on files, as figures.
 *
 * @param letter of the workload, {@code a} to {@code f}
 * @param part by which a million records of 1 KB, as many operations and 256 MB of memory are
 *     multiplied; above 0
 * @param options of the store, by name; they come after its memory
 * @param tree options of the tree
 * @param dir where stores are made; null for a temporary directory
 */
public record YcsbLoad(
    String letter, double part, Map<String, String> options, TreeOptions tree, @Nullable Path dir) {
  public static final String SERVED = "operations [1/s]";
  public static final String PROCESSOR = "processor time [us/op]";
  public static final String WRITTEN = "written by flushes and merges [B/op]";
  public static final String SLOWEST = "p99 of the slowest kind of operation [ms]";
  public static final String SPACE = "on disk [bytes per byte of the records]";
  public static final String HELD = "most memory held [B]";

  private static final long RECORDS = 1_000_000;
  private static final int RECORD_BYTES = 1000;
  private static final long MEMORY_BYTES = 256L << 20;
  private static final long LEAST_MEMORY = 8L << 20;
  private static final long LEAST_RECORDS = 1000;
  private static final long DIRECT_BYTES = 256L << 20;
  private static final int THREADS = 2;

  /** The names of all workloads. */
  public static List<String> names() {
    return List.of("a", "b", "c", "d", "e", "f");
  }

  private int records() {
    return (int) Math.max(LEAST_RECORDS, Math.min(RECORDS * part, 100_000_000));
  }

  private long memoryBytes() {
    return Math.max(LEAST_MEMORY, (long) (MEMORY_BYTES * part));
  }

  /**
   * The options of its store.
   *
   * @throws UsageException if a store does not take them
   */
  public StoreOptions storeOptions() {
    Properties properties = new Properties();
    set(properties);
    StoreOptions store = UsageException.ofArguments(() -> IsobarClient.options(properties));
    UsageException.ofArguments(() -> new TreeShape(tree.runs(), store.maxSpace()).check());
    return store;
  }

  private void set(Properties properties) {
    properties.setProperty("isobar.engine", EngineKind.ISOBAR.label());
    properties.setProperty("isobar.memory", Long.toString(memoryBytes()));
    options.forEach((name, value) -> properties.setProperty("isobar.store." + name, value));
    EngineClient.setTree(properties, tree);
  }

  /**
   * Loads the records, and does the operations in another process. An interrupt ends it. The client
   * draws its keys by chance: no two runs are equal.
   *
   * @throws FailedException if an operation did not return OK
   */
  public Map<String, Double> run() throws IOException, InterruptedException {
    try (WorkDirectory work = workDirectory()) {
      Properties properties = YcsbRun.workload(letter);
      properties.setProperty("recordcount", Integer.toString(records()));
      properties.setProperty("operationcount", Integer.toString(records()));
      properties.setProperty("hdrhistogram.percentiles", "50,99");
      properties.setProperty("measurementtype", "hdrhistogram");
      properties.setProperty("status.interval", "1");
      properties.setProperty("isobar.dir", work.path().resolve("store").toString());
      set(properties);
      run(true, properties);
      YcsbRun run = run(false, properties);
      double operations = records();
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put(SERVED, run.output().throughput());
      figures.put(PROCESSOR, run.counter("cpuNanos") / 1e3 / operations);
      double written =
          run.counter("engine.flushWrittenBytes") + run.counter("engine.mergeWrittenBytes");
      figures.put(WRITTEN, written / operations);
      figures.put(SLOWEST, slowest(run.output()));
      double onDisk = Directories.allocatedBytes(work.path().resolve("store"));
      figures.put(SPACE, onDisk / ((double) records() * RECORD_BYTES));
      figures.put(HELD, run.counter("engine.peakBytes"));
      return figures;
    }
  }

  private WorkDirectory workDirectory() throws IOException {
    return dir == null
        ? WorkDirectory.of(null, "isobar-tune-")
        : WorkDirectory.temporary(dir, "isobar-tune-");
  }

  /** Milliseconds. */
  private static double slowest(YcsbOutput output) {
    double slowest = 0;
    for (Map.Entry<String, Map<String, Double>> operation : output.metrics().entrySet()) {
      Double p99 = YcsbOutput.percentile(operation.getValue(), "99");
      if (p99 != null && YcsbRun.isTimed(operation.getKey(), operation.getValue())) {
        slowest = Math.max(slowest, p99 / 1e3);
      }
    }
    return slowest;
  }

  private YcsbRun run(boolean load, Properties properties)
      throws IOException, InterruptedException {
    ChildJvm child =
        new ChildJvm(YcsbChild.class)
            .heapBytes(EngineKind.ISOBAR.heapBytes(memoryBytes()))
            .directBytes(storeOptions().memoryBudget() + DIRECT_BYTES);
    EngineKind.ISOBAR.jvmFlags().forEach(child::flag);
    YcsbRun run =
        YcsbRun.run(
            child,
            load,
            EngineClient.class.getName(),
            properties,
            THREADS,
            0,
            records(),
            status -> {});
    if (run.exit() != Exit.SUCCESS) {
      throw new FailedException(run.exit(), String.join("; ", run.problems()));
    }
    return run;
  }
}
