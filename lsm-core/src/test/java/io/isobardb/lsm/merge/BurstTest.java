package io.isobardb.lsm.merge;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.merge.VirtualWorld.MILLI;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.simulation.VirtualDevice;
import java.time.Duration;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Bursts of writes with pauses between them, as in "Towards a Burst-Aware LevelDB", section 6: 10 s
 * of synced batches of 100 random writes to 1 M keys, then 20 s of rest, for 120 s; the device
 * writes 100 MB/s. All is a thirtieth of that, unless {@code -Dbursts.scale=1} is set.
 */
@Tag("any-jdk")
class BurstTest {
  private static final int SCALE = Integer.getInteger("bursts.scale", 30);
  private static final int KEYS = 1_000_000 / SCALE;
  private static final long BURST_NANOS = 10_000 * MILLI / SCALE;
  private static final int BURSTS = 4;
  private static final int BATCH = 100;

  private static final VirtualDevice.Limits DEVICE =
      new VirtualDevice.Limits(400_000_000, 100_000_000, 400_000_000, 50_000, 300_000);

  private static double megabytesPerSecond(MergeSchedule schedule) {
    VirtualWorld world = new VirtualWorld(1, DEVICE, 2);
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder()
                    .pageSize(4096)
                    .memoryBudget(Math.max(4L << 20, (32L << 20) / SCALE))
                    .writeMemory((4L << 20) / SCALE)
                    .memoryTuner(false)
                    .backgroundThreads(2)
                    .mergeSchedule(schedule)
                    // As in the paper: what clients use limits nobody.
                    .ioBandwidth(IoBandwidth.unlimited()),
                // As in the paper, too: levels of fixed sizes. Others need fewer merges.
                e ->
                    e.levelSizeRatio(10)
                        .l0SlowdownGroups(1000)
                        .l0StopGroups(1018)
                        .mergeDebtLimit(1L << 40))
            .build();
    SplittableRandom random = new SplittableRandom(2);
    long written = 0;
    long nanos = 0;
    StoreStats stats;
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < BURSTS; i++) {
        long begin = world.clock.nanos();
        while (world.clock.nanos() < begin + BURST_NANOS) {
          WriteBatch batch = store.newBatch();
          for (int j = 0; j < BATCH; j++) {
            batch.put(tree, key(random.nextInt(KEYS)), new byte[100]);
          }
          world.scheduler.compute(BATCH * 2_000);
          store.write(batch, Durability.SYNC);
          world.scheduler.settle();
          written += BATCH * 116L;
        }
        nanos += world.clock.nanos() - begin;
        world.scheduler.sleepUntil(world.clock.nanos() + 2 * BURST_NANOS);
      }
      stats = store.stats();
    }
    double rate = written * 1e3 / nanos;
    System.out.printf(
        Locale.ROOT,
        "%s: %.1f MB/s, %.1f MB; flushes wrote %.1f MB, merges %.1f MB, stalls %s%n",
        schedule.kind(),
        rate,
        written / 1e6,
        stats.flushBytesWritten() / 1e6,
        stats.mergeBytesWritten() / 1e6,
        stats.stalls());
    return rate;
  }

  /**
   * The paper has 2.3 times, over a store that writes 6.1 MB/s while it merges. The rest is as fast
   * as there.
   */
  @Test
  void burstsWriteMoreIfMergesArePostponed() {
    Duration half = Duration.ofMillis(500 / SCALE);
    double always = megabytesPerSecond(MergeSchedule.ALWAYS);
    double below = megabytesPerSecond(MergeSchedule.belowThroughput(512 << 10, half));
    double after = megabytesPerSecond(MergeSchedule.afterLastWrite(half));
    assertTrue(below > 1.4 * always, below + " against " + always);
    assertTrue(after > 1.4 * always, after + " against " + always);
  }
}
