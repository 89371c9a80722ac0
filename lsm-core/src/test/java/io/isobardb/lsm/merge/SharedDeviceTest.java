package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that read while flushes and merges use the same device, in virtual time. */
@Tag("any-jdk")
class SharedDeviceTest {
  private static final long MICRO = 1_000;
  private static final int KEYS = 20_000;
  private static final int READERS = 4;
  private static final long MB = 1 << 20;

  /** 100 MB/s, so that a page of 4 KB takes 39 us and 256 KB take 2.5 ms. */
  private static final VirtualDevice.Limits DEVICE =
      new VirtualDevice.Limits(100 * MB, 100 * MB, 100 * MB, 100_000, 100 * MICRO);

  private record Run(List<Long> reads, StoreStats stats) {
    long percentile(double part) {
      return reads.stream().sorted().toList().get((int) (part * (reads.size() - 1)));
    }
  }

  /** One client writes 4 MB/s, others read 1,000 records a second each. */
  private static Run run(IoBandwidth bandwidth) {
    VirtualWorld world = new VirtualWorld(1, DEVICE, 2);
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder()
                    .pageSize(4096)
                    .memoryBudget(8 << 20)
                    .writeMemory(2 << 20)
                    .memoryTuner(false)
                    .backgroundThreads(2)
                    .ioBandwidth(bandwidth),
                // So few that merges can't be put off for long.
                e -> e.l0MostGroups(12))
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
                  for (int i = 0; i < (writes ? 16_000 : 4_000); i++) {
                    long due = begin + i * (writes ? 250 : 1000) * MICRO;
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
  void readsWaitForSmallPiecesOfMerges() {
    for (IoBandwidth bandwidth : List.of(IoBandwidth.auto(), IoBandwidth.of(100 * MB))) {
      assertReadsWaitForSmallPieces(run(bandwidth));
    }
  }

  private static void assertReadsWaitForSmallPieces(Run run) {
    System.out.printf(
        "p50 %d us, p99 %d us, longest %d us, limits %s, merges wrote %d%n",
        run.percentile(0.5) / MICRO,
        run.percentile(0.99) / MICRO,
        run.percentile(1) / MICRO,
        run.stats().ioLimits(),
        run.stats().mergeBytesWritten());
    assertTrue(run.stats().mergeBytesWritten() > 20 * MB, run.stats()::toJson);
    assertEquals(8 << 10, run.stats().ioLimits().pieceBytes(), run.stats()::toJson);
    assertTrue(run.percentile(0.99) < 1_000 * MICRO, run.percentile(0.99) + " ns");
  }

  @Test
  void mergesPayForWhatClientsLeaveThem() {
    Run limited = run(IoBandwidth.of(30 * MB));
    StoreStats stats = limited.stats();
    assertTrue(stats.ioLimits().waits() > 10, stats::toJson);
    // Merges of L0 are not limited at moments when writers are about to wait; deeper ones are.
    assertTrue(stats.ioLimits().deepBytesPerSecond() < Long.MAX_VALUE, stats::toJson);
    assertTrue(stats.ioBytesRead().get(IoPurpose.MERGE_L0) > 10 * MB, stats::toJson);
    Run unlimited = run(IoBandwidth.unlimited());
    assertEquals(0, unlimited.stats().ioLimits().waits());
    assertReadsWaitForSmallPieces(unlimited);
  }
}
