package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Clients that read beside flushes and merges on a volume that lets all pass at once until the
 * budget of a tenth of a second is spent, in virtual time.
 */
@Tag("any-jdk")
class HeldDeviceTest {
  private static final long MICRO = 1_000;
  private static final int KEYS = 20_000;
  private static final int READERS = 4;
  private static final long MB = 1 << 20;
  private static final long HELD = 20 * MB;
  private static final VirtualDevice.Limits QUICK =
      new VirtualDevice.Limits(1000 * MB, 1000 * MB, 1000 * MB, 100_000, 100 * MICRO);

  private record Run(List<Long> reads, StoreStats stats) {
    long percentile(double part) {
      return reads.stream().sorted().toList().get((int) (part * (reads.size() - 1)));
    }
  }

  /** One client writes 1 MB/s, others read 200 records a second each. */
  private static Run run(IoBandwidth bandwidth) {
    VirtualWorld world = new VirtualWorld(1, QUICK, 2);
    world.scheduler.holdDevice(new VirtualDevice.Held(HELD, HELD, VirtualWorld.SECOND / 10));
    StoreOptions options =
        StoreOptions.builder()
            .pageSize(4096)
            .memoryBudget(8 << 20)
            .writeMemory(1 << 20)
            .memoryTuner(false)
            .backgroundThreads(2)
            .ioBandwidth(bandwidth)
            .build();
    List<Long> reads = new ArrayList<>();
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), new byte[1000]);
      }
      store.awaitQuiet();
      world.scheduler.settle();
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c <= READERS; c++) {
        boolean writes = c == READERS;
        SplittableRandom random = new SplittableRandom(c);
        clients.add(
            world.scheduler.client(
                "client-" + c,
                () -> {
                  long begin = world.clock.nanos();
                  for (int i = 0; i < (writes ? 30_000 : 6_000); i++) {
                    long due = begin + i * (writes ? 1000 : 5000) * MICRO;
                    world.scheduler.sleepUntil(due);
                    world.scheduler.compute(3 * MICRO);
                    byte[] key = key(random.nextInt(KEYS));
                    if (writes) {
                      tree.put(key, new byte[1000]);
                    } else {
                      tree.get(key);
                      world.scheduler.settle();
                      reads.add(world.clock.nanos() - due);
                    }
                  }
                }));
      }
      clients.forEach(Client::join);
      return new Run(reads, store.stats());
    }
  }

  @Test
  void readsDoNotWaitForABudgetThatMergesHaveSpent() {
    Run free = run(IoBandwidth.unlimited());
    assertTrue(free.percentile(0.99) > 10_000 * MICRO, free.percentile(0.99) + " ns");
    Run learnt = run(IoBandwidth.auto());
    StoreStats stats = learnt.stats();
    assertEquals(HELD, stats.ioLimits().deviceBytesPerSecond(), HELD / 10.0, stats::toJson);
    assertTrue(learnt.percentile(0.99) < 1_000 * MICRO, learnt.percentile(0.99) + " ns");
    assertTrue(stats.mergeBytesWritten() > 100 * MB, stats::toJson);
  }
}
