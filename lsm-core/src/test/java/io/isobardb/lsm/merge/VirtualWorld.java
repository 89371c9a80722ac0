package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import io.isobardb.lsm.simulation.VirtualScheduler.Machine;
import io.isobardb.lsm.simulation.VirtualStorage;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;

/** A machine in virtual time, with two processors, for one store. The caller is its first actor. */
public final class VirtualWorld {
  public static final long MILLI = 1_000_000;
  public static final long SECOND = 1_000 * MILLI;
  private static final long STEP_NANOS = 100_000;
  private static final int STEP_BYTES = 64 << 10;
  private static final long OPERATION_NANOS = 3_000;

  public final SimulatedClock clock = new SimulatedClock();
  public final VirtualScheduler scheduler;
  public final VirtualStorage storage;
  private final long seed;

  /** A machine whose device writes so many bytes in a second, and reads twice as many. */
  public VirtualWorld(long seed, long bytesPerSecond, int workers) {
    this(
        seed,
        new VirtualDevice.Limits(
            2 * bytesPerSecond, bytesPerSecond, 2 * bytesPerSecond, 10_000, 2 * MILLI),
        workers);
  }

  public VirtualWorld(long seed, VirtualDevice.Limits device, int workers) {
    this.seed = seed;
    scheduler =
        new VirtualScheduler(clock, new Machine(workers, 2, STEP_NANOS, STEP_BYTES, device));
    storage = new VirtualStorage(new SimulatedStorage(clock), scheduler);
  }

  /** Options of a small store with two workers, whose memory stays divided as it is. */
  static StoreOptions.Builder options(long memoryBudget, long writeMemory) {
    return StoreOptions.builder()
        .pageSize(4096)
        .memoryBudget(memoryBudget)
        .writeMemory(writeMemory)
        .memoryTuner(false)
        .backgroundThreads(2);
  }

  /** Puts one of so many records of 1,000 bytes, or gets it. */
  void use(Tree tree, SplittableRandom random, int records, boolean writes) {
    byte[] key = key(random.nextInt(records));
    if (writes) {
      tree.put(key, new byte[1000]);
    } else {
      tree.get(key);
      scheduler.settle();
    }
  }

  /** A tree with so many records of 1,000 bytes, of which nothing is left to flush or to merge. */
  Tree filled(Store store, int records) {
    Tree tree = store.openTree("t");
    for (int i = 0; i < records; i++) {
      tree.put(key(i), new byte[1000]);
    }
    store.awaitQuiet();
    scheduler.settle();
    return tree;
  }

  /**
   * A client that does something so often, as soon as it can, at some processor time.
   *
   * @param operation is told when it was due
   */
  Client client(String name, int operations, long everyNanos, LongConsumer operation) {
    return scheduler.client(
        name,
        () -> {
          long begin = clock.nanos();
          for (int i = 0; i < operations; i++) {
            long due = begin + i * everyNanos;
            scheduler.sleepUntil(due);
            scheduler.compute(OPERATION_NANOS);
            operation.accept(due);
          }
        });
  }

  public Store open(StoreOptions options) {
    return Inside.open(
        new Environment(storage, clock, scheduler, new SplittableRandom(seed)), options);
  }
}
