package io.isobardb.lsm.schedule;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.Storage;
import io.isobardb.memory.pool.AllocationFaults;
import java.util.SplittableRandom;

/**
 * The world as a store sees it: real, or simulated so that a seed replays it.
 *
 * @param storage the store's directory; closed by the store
 * @param clock time
 * @param scheduler background work; closed by the store
 * @param random the only source of randomness; used under the store's own locks
 * @param memoryFaults which allocations of pages fail
 */
public record Environment(
    Storage storage,
    Clock clock,
    Scheduler scheduler,
    SplittableRandom random,
    AllocationFaults memoryFaults) {
  /** A world where no allocation fails. */
  public Environment(Storage storage, Clock clock, Scheduler scheduler, SplittableRandom random) {
    this(storage, clock, scheduler, random, AllocationFaults.NONE);
  }

  /** The same world with another storage. */
  public Environment with(Storage other) {
    return new Environment(other, clock, scheduler, random, memoryFaults);
  }
}
