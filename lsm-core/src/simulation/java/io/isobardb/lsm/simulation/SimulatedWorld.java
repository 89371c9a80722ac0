package io.isobardb.lsm.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.tuning.TunerFile;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.tuner.memory.DecisionText;
import io.isobardb.tuner.memory.MemoryTuner;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerOptions;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A simulated disk, clock and scheduler to open stores in, one after another. */
public final class SimulatedWorld {
  /** Far more than a process of any script takes: minutes of real time. */
  private static final long STEP_LIMIT = 5_000_000;

  /** Time that goes by from a crash to the next opening: what was to expire soon has then. */
  private static final long OPENING_MILLIS = 100;

  /** How many trees get a plan. */
  private static final int PLANNED_TREES = 4;

  private final SimulatedStorage storage;
  private final SimulatedClock clock;
  private final SplittableRandom random;
  private SimulatedScheduler scheduler;
  private long earlier;

  /** A world with an empty disk. */
  public SimulatedWorld(long seed) {
    this(new SimulatedClock(), seed);
  }

  private SimulatedWorld(SimulatedClock clock, long seed) {
    this(new SimulatedStorage(clock), clock, seed);
  }

  /** A world that finds a disk as another one left it. */
  public SimulatedWorld(SimulatedStorage storage, long seed) {
    this(storage, storage.newClock(), seed);
    clock.jumpWall(OPENING_MILLIS);
  }

  private SimulatedWorld(SimulatedStorage storage, SimulatedClock clock, long seed) {
    this.storage = storage;
    this.clock = clock;
    this.random = new SplittableRandom(seed);
    this.scheduler = scheduler(0);
  }

  private SimulatedScheduler scheduler(long seed) {
    SimulatedScheduler made = new SimulatedScheduler(clock, seed);
    made.setStepLimit(STEP_LIMIT);
    return made;
  }

  /** Its disk. */
  public SimulatedStorage storage() {
    return storage;
  }

  /** Its clock. */
  public SimulatedClock clock() {
    return clock;
  }

  /** What stands for all that has happened: equal for equal histories, background work included. */
  public long trace() {
    return 31 * (31 * earlier + scheduler.traceHash()) + storage.traceHash();
  }

  /** Opens a store, as the next process. */
  public Store open(StoreOptions options) {
    return open(options, storage);
  }

  /** As {@link #open(StoreOptions)}, on a disk that passes on to this world's. */
  public Store open(StoreOptions options, Storage disk) {
    earlier = 31 * earlier + scheduler.traceHash();
    scheduler = scheduler(random.nextLong());
    return Inside.open(
        new Environment(disk, clock, scheduler, new SplittableRandom(random.nextLong())), options);
  }

  /**
   * Leaves a decision of the memory tuner in the directory of a store that is not open, so that the
   * wall moves when it is opened, and plans for the levels of some trees.
   *
   * @param share of the memory, for writes
   */
  public void decided(double share) throws IOException {
    long budget = 1L << 30;
    StoreCycle cycle =
        new StoreCycle(5, budget, (long) (share * budget), 4096, 9, 1, 1, 0, 0, 1 << 20, List.of());
    TunerHistory history = new MemoryTuner(TunerOptions.DEFAULT).decide(TunerHistory.EMPTY, cycle);
    StringBuilder text = new StringBuilder(DecisionText.write(requireNonNull(history.last())));
    for (int tree = 1; tree <= PLANNED_TREES; tree++) {
      text.append('\n').append(LevelText.write(planned(tree, share)));
    }
    overwrite(TunerFile.NAME, text + "\n");
  }

  /** A plan for a tree's levels, which is being measured: as many levels as its number says. */
  private static LevelDecision planned(int tree, double share) {
    List<Double> shares = new ArrayList<>(List.of(1.0));
    while (shares.size() < tree) {
      shares.add(shares.get(shares.size() - 1) * (0.01 + share / 4));
    }
    LevelShares plan = new LevelShares(shares);
    LevelProgress progress = new LevelProgress(Stage.MEASURING, plan, plan, null, 1, 1, 1, 0, 3);
    return new LevelDecision(5, tree, Action.STAY, 1, 1, 1, "so that there is one", progress);
  }

  /** Makes a file with this text, in the place of what stands there. */
  public void overwrite(String name, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    storage.delete(name);
    try (DataFile file = storage.create(name, IoMode.BUFFERED)) {
      file.write(
          0, new Memory(ByteBuffer.allocateDirect(bytes.length).put(0, bytes)), 0, bytes.length);
    }
  }

  /** What a file of text holds. */
  public String text(String name) throws IOException {
    try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
      byte[] bytes = new byte[(int) file.size()];
      Memory memory = new Memory(ByteBuffer.allocateDirect(bytes.length));
      file.read(0, memory, 0, bytes.length);
      memory.get(0, bytes, 0, bytes.length);
      return new String(bytes, UTF_8);
    }
  }

  /** Lets up to {@code steps} steps of background work happen. */
  public void background(int steps) {
    for (int i = 0; i < steps && scheduler.runOne(); i++) {}
  }

  /** The wall time, which goes on from world to world. */
  public Instant now() {
    return Instant.ofEpochMilli(clock.wallMillis());
  }

  /** Lets simulated time go by, and the background work with it. */
  public void pass(long nanos) {
    scheduler.runFor(nanos);
  }

  /**
   * Checks what a closed store has left: nothing open, and no file but the log's and those the
   * manifest knows.
   *
   * @throws AssertionError if not
   */
  public void checkClosed() throws IOException {
    check(storage.openFiles() == 0, storage.openFiles() + " files left open");
    PagePool pool = new PagePool(1 << 20, 4096);
    try {
      Recovered recovered = Manifest.open(storage, pool, Manifest.DEFAULT_ROLL_BYTES);
      List<String> names = storage.list();
      try (Manifest manifest = recovered.manifest()) {
        List<String> orphans = manifest.orphans(names);
        check(orphans.isEmpty(), "files nobody knows: " + orphans);
        check(names.containsAll(manifest.liveFiles()), "missing: some of " + manifest.liveFiles());
        check(recovered.counters().logStartLsn() >= Lsn.ZERO, "a log that starts nowhere");
      }
    } finally {
      pool.close();
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** A key in hexadecimal, cut where it gets long. */
  public static String text(byte[] key) {
    StringBuilder text = new StringBuilder("[");
    for (byte b : Arrays.copyOf(key, Math.min(key.length, 24))) {
      text.append(String.format("%02x", b));
    }
    return text.append(key.length > 24 ? "...] of " + key.length + " bytes" : "]").toString();
  }
}
