package io.isobardb.bench.crash;

import io.isobardb.lsm.OpenStore;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.SplittableRandom;

/** A simulated disk, clock and scheduler to open stores in, one after another. */
final class World {
  /** Far more than a process of any script takes: minutes of real time. */
  private static final long STEP_LIMIT = 5_000_000;

  /** Time that goes by from a crash to the next opening: what was to expire soon has then. */
  private static final long OPENING_MILLIS = 100;

  private final SimulatedStorage storage;
  private final SimulatedClock clock;
  private final SplittableRandom random;
  private SimulatedScheduler scheduler;

  /** A world with an empty disk. */
  World(long seed) {
    this(new SimulatedClock(), seed);
  }

  private World(SimulatedClock clock, long seed) {
    this(new SimulatedStorage(clock), clock, seed);
  }

  /** A world that finds a disk as another one left it. */
  World(SimulatedStorage storage, long seed) {
    this(storage, storage.newClock(), seed);
    clock.jumpWall(OPENING_MILLIS);
  }

  private World(SimulatedStorage storage, SimulatedClock clock, long seed) {
    this.storage = storage;
    this.clock = clock;
    this.random = new SplittableRandom(seed);
    this.scheduler = new SimulatedScheduler(clock, 0);
    scheduler.setStepLimit(STEP_LIMIT);
  }

  SimulatedStorage storage() {
    return storage;
  }

  Store open(StoreOptions options) {
    scheduler = new SimulatedScheduler(clock, random.nextLong());
    scheduler.setStepLimit(STEP_LIMIT);
    return OpenStore.in(
        new Environment(storage, clock, scheduler, new SplittableRandom(random.nextLong())),
        options);
  }

  /** Lets up to {@code steps} steps of background work happen. */
  void background(int steps) {
    for (int i = 0; i < steps && scheduler.runOne(); i++) {}
  }

  /** The wall time, which goes on from world to world. */
  Instant now() {
    return Instant.ofEpochMilli(clock.wallMillis());
  }

  /** Lets simulated time go by, and the background work with it. */
  void pass(long nanos) {
    scheduler.runFor(nanos);
  }

  /**
   * Checks what a closed store has left: nothing open, and no file but the log's and those the
   * manifest knows.
   *
   * @throws AssertionError if not
   */
  void checkClosed() throws IOException {
    if (storage.openFiles() != 0) {
      throw new AssertionError(storage.openFiles() + " files left open");
    }
    PagePool pool = new PagePool(1 << 20, 4096);
    try {
      Recovered recovered = Manifest.open(storage, pool, Manifest.DEFAULT_ROLL_BYTES);
      List<String> names = storage.list();
      try (Manifest manifest = recovered.manifest()) {
        if (!manifest.orphans(names).isEmpty()) {
          throw new AssertionError("files nobody knows: " + manifest.orphans(names));
        }
        if (!names.containsAll(manifest.liveFiles())) {
          throw new AssertionError("missing: some of " + manifest.liveFiles());
        }
      }
    } finally {
      pool.close();
    }
  }
}
