package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.VirtualDevice;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client that needs most of a processor, while two workers want two, in virtual time. */
@Tag("any-jdk")
class SharedProcessorsTest {
  private static final long MICRO = 1_000;
  private static final int KEYS = 20_000;
  private static final int WRITES = 60_000;

  /** So fast that processors are all that anybody waits for. */
  private static final VirtualDevice.Limits DEVICE =
      new VirtualDevice.Limits(1L << 40, 1L << 40, 1L << 40, 1_000_000_000, 1);

  private record Run(long[] latencies, StoreStats stats) {
    long percentile(double part) {
      long[] sorted = latencies.clone();
      Arrays.sort(sorted);
      return sorted[(int) (part * (sorted.length - 1))];
    }
  }

  private static Run run(double minimum) {
    VirtualWorld world = new VirtualWorld(1, DEVICE, 2);
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder()
                    .pageSize(4096)
                    .memoryBudget(16 << 20)
                    .writeMemory(8 << 20)
                    .memoryTuner(false)
                    .backgroundThreads(2),
                e -> e.processorMinimum(minimum))
            .build();
    long[] latencies = new long[WRITES];
    try (Store store = world.open(options)) {
      Tree tree = world.filled(store, KEYS);
      SplittableRandom random = new SplittableRandom(1);
      long begin = world.clock.nanos();
      for (int i = 0; i < WRITES; i++) {
        long due = begin + i * 40 * MICRO;
        world.scheduler.sleepUntil(due);
        world.scheduler.compute(30 * MICRO);
        tree.put(key(random.nextInt(KEYS)), new byte[1000]);
        world.scheduler.settle();
        latencies[i] = world.clock.nanos() - due;
      }
      return new Run(latencies, store.stats());
    }
  }

  @Test
  void mergesInMemoryAndDeeperOnesGiveWayToClients() {
    Run never = run(1024);
    Run metered = run(0.01);
    assertEquals(0, never.stats().processorWaits(), "more than there are workers");
    assertTrue(metered.stats().processorWaits() > 10, metered.stats()::toJson);
    assertTrue(2 * metered.percentile(0.99) < never.percentile(0.99), "in virtual time");
  }
}
