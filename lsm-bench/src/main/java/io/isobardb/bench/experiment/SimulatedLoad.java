package io.isobardb.bench.experiment;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.drive.Workload;
import io.isobardb.bench.drive.Workload.Keys;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.policy.TreeShape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * A workload on a simulated store of one tree, as figures: bytes, not time. Equal seeds count equal
 * bytes on any machine.
 *
 * @param name of the workload
 * @param part by which the usual sizes are multiplied; above 0
 * @param options of the store, by name; they come after its memory
 * @param tree options of the tree
 */
public record SimulatedLoad(
    String name, double part, Map<String, String> options, TreeOptions tree) {
  public static final String WRITTEN = Meter.WRITTEN;
  public static final String PAGES = "pages read and written [1/op]";
  public static final String SPACE = "on disk [bytes per byte of the records]";
  public static final String HELD = "memory held [B]";

  /** Operations before those measured, as a multiple. */
  private static final int BEFORE = 4;

  private static final long RECORDS = 400_000;
  private static final long BUDGET_BYTES = 32L << 20;
  private static final long LEAST_BUDGET_BYTES = 4L << 20;
  private static final long LEAST_RECORDS = 1000;
  private static final int BACKGROUND_THREADS = 2;
  private static final int MAX_OPEN_FILES = 1000;
  private static final String UNIFORM = "uniform";
  private static final String DAY = "day";

  /** Entries that a scan of a day reads, and how many records there are for one scan. */
  private static final int SCAN = 100;

  private static final int RECORDS_PER_SCAN = 20;

  /** The names of all of them. */
  public static List<String> names() {
    return List.of(UNIFORM, "write-only", "write-heavy", "read-heavy", "scan-heavy", DAY);
  }

  private Workload workload() {
    return name.equals(UNIFORM) ? Workload.mixed(100, Keys.UNIFORM) : Workload.named(name);
  }

  private long records() {
    return Math.max(LEAST_RECORDS, (long) (RECORDS * part));
  }

  /** Heap that it takes: all files are there. */
  public long heapBytes() {
    return SimulatedRig.heapBytes(2 * records(), storeOptions().logLimit());
  }

  /**
   * The options of its store.
   *
   * @throws UsageException if a store does not take them
   */
  public StoreOptions storeOptions() {
    Properties properties = new Properties();
    long budget = Math.max(LEAST_BUDGET_BYTES, (long) (BUDGET_BYTES * part));
    properties.setProperty("memoryBudget", Long.toString(budget));
    properties.setProperty("backgroundThreads", Integer.toString(BACKGROUND_THREADS));
    properties.setProperty("maxOpenFiles", Integer.toString(MAX_OPEN_FILES));
    options.forEach(properties::setProperty);
    StoreOptions store =
        UsageException.ofArguments(() -> StoreOptions.fromProperties(properties, ""));
    UsageException.ofArguments(() -> new TreeShape(tree.runs(), store.maxSpace()).check());
    return store;
  }

  /**
   * Loads the records, does several times as many operations, and measures as many as records. A
   * day is measured from the load on.
   */
  public Map<String, Double> run(long seed) {
    StoreOptions store = storeOptions();
    Shape shape = Shape.of(1, records());
    try (SimulatedRig rig = new SimulatedRig(store, shape, tree, seed)) {
      long before = 0;
      long pagesBefore = 0;
      long operations;
      rig.load();
      if (name.equals(DAY)) {
        operations = records() + day(rig);
      } else {
        rig.measure(workload(), BEFORE * records());
        before = rig.writtenBytes();
        pagesBefore = rig.pagesRead();
        operations = records();
        rig.measure(workload(), operations);
      }
      double written = (rig.writtenBytes() - before) / (double) operations;
      double read = (rig.pagesRead() - pagesBefore) / (double) operations;
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put(WRITTEN, written);
      figures.put(PAGES, written / store.pageSize() + read);
      figures.put(SPACE, rig.diskBytes() / ((double) records() * Shape.RECORD_BYTES));
      figures.put(HELD, (double) rig.peakMemoryBytes());
      return figures;
    }
  }

  /**
   * Half reads and half updates; then reads, and scans; then searches for what is not there; and
   * all that again.
   *
   * @return how many operations it had
   */
  private long day(SimulatedRig rig) {
    Workload reads = Workload.mixed(0, Keys.ZIPF);
    long half = records() / 2;
    long scans = Math.max(1, records() / RECORDS_PER_SCAN);
    for (int round = 0; round < 2; round++) {
      rig.measure(Workload.mixed(50, Keys.ZIPF), records());
      rig.measure(reads, half);
      rig.measure(reads.scanning(SCAN), scans);
      rig.measure(Workload.mixed(0, Keys.ABSENT), half);
    }
    return 2 * (records() + 2 * half + scans);
  }
}
