package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.CrashMode;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.SplittableRandom;

/** A simulated disk to open small stores on, one after another. */
final class SimulatedDatasets {
  static final StoreOptions SMALL =
      StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096).logLimit(1 << 20).build();

  private final SplittableRandom random;
  private SimulatedClock clock = new SimulatedClock();
  private SimulatedStorage storage = new SimulatedStorage(clock);
  private SimulatedScheduler scheduler = new SimulatedScheduler(clock, 0);

  SimulatedDatasets(long seed) {
    this.random = new SplittableRandom(seed);
  }

  Store open() {
    scheduler = new SimulatedScheduler(clock, random.nextLong());
    return Inside.open(
        new Environment(storage, clock, scheduler, new SplittableRandom(random.nextLong())), SMALL);
  }

  SimulatedClock clock() {
    return clock;
  }

  /** How the disk could look if the power failed now. */
  SimulatedStorage crashed(CrashMode mode) {
    return storage.crash(random.split(), mode);
  }

  /** From now on stores are opened on this disk. */
  void use(SimulatedStorage other) {
    clock = new SimulatedClock();
    storage = other;
  }

  void background(int steps) {
    for (int i = 0; i < steps && scheduler.runOne(); i++) {}
  }
}
