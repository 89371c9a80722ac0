package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writers and readers beside a compaction by hand, in virtual time. */
@Tag("any-jdk")
class CompactBesideWritersTest {
  private static final int KEYS = 20_000;
  private static final long DEVICE = 20 << 20;

  /** A write or a read of each client begins so often. */
  private static final long EVERY_NANOS = VirtualWorld.MILLI;

  private static final int OPERATIONS = 4_000;

  private static final StoreOptions OPTIONS =
      StoreOptions.builder()
          .pageSize(4096)
          .memoryBudget(8 << 20)
          .writeMemory(1 << 20)
          .memoryTuner(false)
          .backgroundThreads(2)
          .build();

  /**
   * What clients saw.
   *
   * @param writes latencies, in nanoseconds, as those of reads
   * @param stops how often writers waited, and were not only slowed down
   * @param took what the compaction did, in nanoseconds; 0 if there was none
   */
  private record Run(List<Long> writes, List<Long> reads, long stops, long took) {
    static long percentile(List<Long> latencies, double part) {
      return latencies.stream().sorted().toList().get((int) (part * (latencies.size() - 1)));
    }
  }

  private static long stops(StoreStats stats) {
    return stats.stalls().entrySet().stream()
        .filter(stall -> stall.getKey().name().endsWith("_FULL"))
        .mapToLong(stall -> stall.getValue().count())
        .sum();
  }

  private static Run run(boolean compacts) {
    VirtualWorld world = new VirtualWorld(1, DEVICE, 2);
    List<Long> writes = new ArrayList<>();
    List<Long> reads = new ArrayList<>();
    long stops;
    long[] took = {0};
    try (Store store = world.open(OPTIONS)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), new byte[1000]);
        if (i % 7 == 0) {
          tree.delete(key(i / 2));
        }
      }
      store.awaitQuiet();
      long before = stops(store.stats());
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c < 3; c++) {
        boolean isWriter = c < 2;
        SplittableRandom random = new SplittableRandom(c);
        clients.add(
            world.client(
                "client-" + c,
                OPERATIONS,
                EVERY_NANOS,
                due -> {
                  byte[] key = key(random.nextInt(KEYS));
                  if (isWriter) {
                    tree.put(key, new byte[1000]);
                  } else {
                    tree.get(key);
                  }
                  world.scheduler.settle();
                  (isWriter ? writes : reads).add(world.clock.nanos() - due);
                }));
      }
      if (compacts) {
        world
            .scheduler
            .client(
                "compact",
                () -> {
                  world.scheduler.sleepUntil(world.clock.nanos() + VirtualWorld.SECOND / 2);
                  long begun = world.clock.nanos();
                  tree.compact(null, null);
                  world.scheduler.settle();
                  took[0] = world.clock.nanos() - begun;
                })
            .join();
      }
      clients.forEach(Client::join);
      stops = stops(store.stats()) - before;
    }
    return new Run(writes, reads, stops, took[0]);
  }

  @Test
  void clientsHardlyFeelIt() {
    Run alone = run(false);
    Run beside = run(true);
    assertTrue(beside.took() > VirtualWorld.SECOND, beside.took() + " ns: there was little to do");
    assertEquals(0, beside.stops());
    for (double part : new double[] {0.5, 0.99}) {
      long before = Run.percentile(alone.reads(), part);
      long now = Run.percentile(beside.reads(), part);
      assertTrue(now < 2 * before, "reads, " + part + ": " + before + " ns, now " + now);
    }
    long longest = Run.percentile(beside.writes(), 1);
    assertTrue(longest < 10 * VirtualWorld.MILLI, longest + " ns");
  }
}
