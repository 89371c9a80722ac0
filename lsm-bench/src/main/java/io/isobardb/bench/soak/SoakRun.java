package io.isobardb.bench.soak;

import io.isobardb.bench.engine.Directories;
import io.isobardb.bench.process.MappedMemory;
import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.ThreadScheduler;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.Watchdog;
import io.isobardb.repair.StoreInspector;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lets workers loose on a store, and meanwhile moves its budget, flushes, makes and drops trees,
 * changes how many runs their levels have, slows the disk down, and now and then closes the store,
 * checks its files and opens it again.
 *
 * <p>Thread rule: used by one thread; starts the workers' own.
 */
public final class SoakRun {
  private static final int OPENINGS = 8;
  private static final int STEPS = 50;
  private static final long TICK_MILLIS = 200;

  /**
   * What may stay on the heap, or open, from one opening to the last before it counts as a leak.
   */
  private static final long HEAP_SLACK = 48 << 20;

  private static final long RESIDENT_SLACK = 160 << 20;

  /** Part of the name of the file that slabs are mapped from: see decision 0016. */
  private static final String SLABS = ".isobar-memory-";

  /** What may be mapped for a moment while memory comes and goes, or is another store's. */
  private static final long SLAB_SLACK = 8 << 20;

  private static final int FILE_SLACK = 8;

  /** In less time the JVM's warming up is all that drifts. */
  private static final long DRIFT_MILLIS = 600_000;

  /**
   * The longest that a call may take: waits for locks of others, who wait for the disk, included.
   */
  private static final Duration MOST_CALL = Watchdog.BOUND.multipliedBy(3);

  /** The longest that a writer may wait. */
  private static final long MOST_STALL_MILLIS = 30_000;

  private final SoakSpec spec;
  private final Watcher report;
  private final SplittableRandom random;
  private final List<SoakWorker> workers = new ArrayList<>();
  private final ReentrantReadWriteLock opening = new ReentrantReadWriteLock(true);
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Long> heaps = new ArrayList<>();
  private final List<Long> residents = new ArrayList<>();
  private final List<Double> closedHours = new ArrayList<>();
  private final List<Integer> files = new ArrayList<>();
  private final AtomicLong longestStall = new AtomicLong();
  private final long start = System.nanoTime();
  private @Nullable Store store;
  private @Nullable SlowStorage storage;
  private volatile boolean stopped;
  private long largestDisk;
  private long mostSlabs;
  private int mostGroups;
  private int mostTiers;
  private long mostDebt;
  private long lastDebt;
  private long stallMillis;
  private int temporary;

  private SoakRun(SoakSpec spec, Watcher report) {
    this.spec = spec;
    this.report = report;
    this.random = new SplittableRandom(spec.seed());
    for (int i = 0; i < spec.threads(); i++) {
      workers.add(new SoakWorker(i, spec.trees(), spec.keys(), spec.seed()));
    }
  }

  /**
   * Soaks.
   *
   * @param report is given a line now and then
   * @throws IllegalArgumentException if the directory holds anything
   */
  public static SoakResult run(SoakSpec spec, Watcher report)
      throws IOException, InterruptedException {
    try (WorkDirectory directory = WorkDirectory.fresh(spec.directory())) {
      SoakResult result = new SoakRun(spec, report).go();
      // What fails while all is being taken away is no finding.
      if (result.wrong() != null && !Shutdown.isUnderWay()) {
        directory.keep();
      }
      return result;
    }
  }

  private SoakResult go() throws IOException, InterruptedException {
    try (Watchdog watchdog =
        new Watchdog("soak with seed " + spec.seed(), MOST_CALL, Watchdog::halt)) {
      Watchdog.Watch watch = watchdog.watch();
      try {
        return go(watchdog);
      } finally {
        watch.close();
      }
    }
  }

  private SoakResult go(Watchdog watchdog) throws IOException, InterruptedException {
    Store first = open();
    store = first;
    for (int i = 0; i < spec.trees(); i++) {
      Compression compression = i % 3 == 2 ? Compression.LZ4.last("ZSTD") : Compression.NONE;
      first.openTree(
          SoakWorker.treeName(i), TreeOptions.builder().compression(compression).build());
    }
    first.openTree(SoakWorker.COUNTER_TREE);
    List<Thread> threads = new ArrayList<>();
    for (SoakWorker worker : workers) {
      Thread thread = new Thread(() -> watchdog.watch(() -> work(worker)), "soak-worker");
      thread.start();
      threads.add(thread);
    }
    int openings = 1;
    try {
      long nextReport = spec.reportMillis();
      for (long millis = 0; millis < spec.millis() && failure.get() == null; ) {
        Watchdog.mark("a disturbance");
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        disturb();
        checkResident();
        if (millis >= nextReport) {
          report.at(sample().line(), millis, spec.millis());
          nextReport += spec.reportMillis();
        }
        if (millis >= openings * spec.millis() / OPENINGS && failure.get() == null) {
          reopen();
          openings++;
        }
      }
    } catch (RuntimeException | AssertionError e) {
      fail(e);
    } finally {
      stopped = true;
    }
    Watchdog.unmark();
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() == null) {
      try {
        // Merges may have much to do.
        settle();
        reopen();
        openings++;
      } catch (RuntimeException | AssertionError e) {
        fail(e);
      }
    }
    if (store != null) {
      // A short run was not looked at before.
      sample();
    }
    Watchdog.mark("closing");
    close();
    Watchdog.unmark();
    long operations = workers.stream().mapToLong(SoakWorker::operations).sum();
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    return new SoakResult(
        operations,
        seconds,
        openings,
        heaps,
        residents,
        spec.millis() < DRIFT_MILLIS ? 0 : Math.round(slope(closedHours, residents)),
        files,
        largestDisk,
        mostSlabs,
        mostGroups,
        mostTiers,
        mostDebt,
        lastDebt,
        stallMillis,
        TimeUnit.NANOSECONDS.toMillis(longestStall.get()),
        wrong());
  }

  /** By how much the values grow for each unit of {@code at}: least squares, without the first. */
  static double slope(List<Double> at, List<Long> values) {
    int count = values.size() - 1;
    if (count < 2) {
      return 0;
    }
    double meanAt = at.stream().skip(1).mapToDouble(x -> x).average().orElse(0);
    double mean = values.stream().skip(1).mapToLong(y -> y).average().orElse(0);
    double both = 0;
    double square = 0;
    for (int i = 1; i <= count; i++) {
      both += (at.get(i) - meanAt) * (values.get(i) - mean);
      square += (at.get(i) - meanAt) * (at.get(i) - meanAt);
    }
    return both / square;
  }

  private @Nullable String wrong() {
    Throwable thrown = failure.get();
    if (thrown != null) {
      return thrown + (thrown.getCause() == null ? "" : ", caused by " + thrown.getCause());
    }
    if (heaps.size() > 2 && heaps.get(heaps.size() - 1) > heaps.get(1) + HEAP_SLACK) {
      return "the heap grows from opening to opening: " + heaps;
    }
    if (spec.millis() >= DRIFT_MILLIS
        && residents.get(residents.size() - 1) > residents.get(1) + RESIDENT_SLACK) {
      return "the resident memory grows from opening to opening: " + residents;
    }
    long stall = TimeUnit.NANOSECONDS.toMillis(longestStall.get());
    if (stall > MOST_STALL_MILLIS) {
      return "a writer waited for " + stall + " ms";
    }
    if (lastDebt > spec.memoryBytes()) {
      return "merges leave " + lastDebt + " bytes undone when there is nothing else to do";
    }
    if (files.size() > 2 && files.get(files.size() - 1) > files.get(1) + FILE_SLACK) {
      return "files are left open: " + files;
    }
    return null;
  }

  private void fail(Throwable thrown) {
    failure.compareAndSet(null, thrown);
  }

  private void work(SoakWorker worker) {
    try {
      while (!stopped && failure.get() == null) {
        Watchdog.unmark();
        opening.readLock().lock();
        try {
          for (int i = 0; i < STEPS; i++) {
            Watchdog.mark("step " + worker.operations());
            worker.step(current());
          }
        } finally {
          opening.readLock().unlock();
        }
      }
    } catch (RuntimeException | Error e) {
      fail(e);
    }
  }

  private Store current() {
    Store now = store;
    if (now == null) {
      throw new IllegalStateException("no store is open");
    }
    return now;
  }

  private Store open() throws IOException {
    SlowStorage slow = new SlowStorage(DirectoryStorage.open(spec.directory(), true));
    storage = slow;
    Environment environment =
        new Environment(slow, Clock.SYSTEM, new ThreadScheduler("soak", 2), random.split());
    StoreOptions options = SoakOptions.draw(random, spec.memoryBytes());
    Store opened = Inside.open(environment, options);
    opened.addListener(
        new StoreListener() {
          @Override
          public void onStalled(Stall event) {
            longestStall.accumulateAndGet(event.nanos(), Math::max);
          }

          @Override
          public void onLeaked(Leak event) {
            fail(new AssertionError(event.what() + " was left open", event.origin()));
          }
        });
    return opened;
  }

  private SoakSample sample() {
    SoakSample sample =
        SoakSample.of(
            current().stats(),
            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start),
            workers.stream().mapToLong(SoakWorker::operations).sum(),
            Directories.sizeBytes(spec.directory()));
    largestDisk = Math.max(largestDisk, sample.disk());
    mostGroups = Math.max(mostGroups, sample.groups());
    mostTiers = Math.max(mostTiers, sample.tiers());
    mostDebt = Math.max(mostDebt, sample.debt());
    if (sample.peak() > spec.memoryBytes()) {
      fail(new AssertionError("more memory was allocated than ever allowed: " + sample.line()));
    }
    return sample;
  }

  /** Holds the slabs that are resident against the ledger. */
  private void checkResident() {
    long before = current().stats().ledger().allocatedBytes();
    long resident = MappedMemory.residentBytes(SLABS);
    long ledger = Math.max(before, current().stats().ledger().allocatedBytes());
    mostSlabs = Math.max(mostSlabs, resident);
    if (resident > ledger * 11 / 10 + SLAB_SLACK) {
      fail(
          new AssertionError(
              resident + " bytes of slabs are resident, with " + ledger + " in the ledger"));
    }
  }

  /** Does one of the things that stores are exposed to. */
  private void disturb() {
    Store now = current();
    SlowStorage disk = storage;
    switch (random.nextInt(40)) {
      case 0 ->
          now.setMemoryBudget(
              spec.memoryBytes() / 3 + random.nextLong(spec.memoryBytes() * 2 / 3 + 1));
      case 1 -> now.flush();
      case 2 -> now.checkpoint();
      case 3 -> {
        Tree tree = now.openTree("temporary" + temporary);
        for (int i = 0; i < 500; i++) {
          tree.put(("k" + random.nextInt(10_000)).getBytes(), new byte[random.nextInt(1_000)]);
        }
      }
      case 4 -> {
        if (now.treeNames().contains("temporary" + temporary)) {
          now.dropTree("temporary" + temporary);
          temporary++;
        }
      }
      case 5 -> {
        if (spec.spikes() && disk != null) {
          disk.delay(TimeUnit.MILLISECONDS.toNanos(1 + random.nextInt(20)));
        }
      }
      case 6, 7, 8 -> {
        if (disk != null) {
          disk.delay(0);
        }
      }
      case 9, 10 -> changeShape(now.tree(SoakWorker.treeName(random.nextInt(spec.trees()))));
      default -> {
        // Leaves it alone for a while.
      }
    }
  }

  private void changeShape(Tree tree) {
    TreeShape shape = SoakOptions.shape(random);
    // One run goes with any space.
    tree.setRuns(Runs.leveled());
    tree.setMaxSpace(shape.maxSpace());
    tree.setRuns(shape.runs());
  }

  /** Leaves the store alone until its merges have done what there is to do. */
  private void settle() {
    if (storage != null) {
      storage.delay(0);
    }
    workers.forEach(SoakWorker::release);
    current().awaitQuiet();
    lastDebt = current().stats().mergeDebtBytes();
  }

  private void close() {
    Store open = store;
    if (open != null) {
      store = null;
      for (SoakWorker worker : workers) {
        worker.release();
      }
      StoreStats stats = open.stats();
      stallMillis += stats.stallNanos() / 1_000_000;
      open.close();
      StoreStats.ReaderStats readers = stats.readers();
      if (readers.snapshots() + readers.cursors() + stats.transactions().open() > 0) {
        fail(new AssertionError("left open: " + readers + ", " + stats.transactions()));
      }
    }
  }

  private void reopen() throws IOException {
    Watchdog.unmark();
    opening.writeLock().lock();
    try {
      if (storage != null) {
        storage.delay(0);
      }
      Watchdog.mark("closing");
      close();
      Watchdog.unmark();
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      heaps.add(runtime.totalMemory() - runtime.freeMemory());
      residents.add(ProcessCounters.now().residentBytes());
      closedHours.add((System.nanoTime() - start) / 3.6e12);
      files.add(openFiles());
      try (StoreInspector inspector =
          StoreInspector.open(
              spec.directory(), StoreOptions.builder().memoryBudget(spec.memoryBytes()).build())) {
        List<Finding> findings = inspector.check(CheckProgress.NONE).findings();
        if (!findings.isEmpty()) {
          throw new AssertionError("the closed store is not sound: " + findings);
        }
      }
      Store opened = open();
      store = opened;
      for (SoakWorker worker : workers) {
        worker.verifyAll(opened);
      }
      for (int i = 0; i < SoakWorker.COUNTERS; i++) {
        int counter = i;
        long expected = workers.stream().mapToLong(worker -> worker.counted(counter)).sum();
        if (SoakWorker.read(opened, i) != expected) {
          throw new AssertionError(
              "counter " + i + " is " + SoakWorker.read(opened, i) + ", not " + expected);
        }
      }
      report.at(
          "closed, checked, opened and verified",
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
          spec.millis());
    } finally {
      opening.writeLock().unlock();
    }
  }

  private static int openFiles() {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return (int) open.count();
    } catch (IOException e) {
      return 0;
    }
  }
}
