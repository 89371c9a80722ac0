package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.simulation.VirtualDevice;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that read while flushes and merges use the same device, in virtual time. */
@Tag("any-jdk")
class SharedDeviceTest {
  private static final long MICRO = 1_000;
  private static final long MB = 1 << 20;

  /** 100 MB/s, so that a page of 4 KB takes 39 us and 256 KB take 2.5 ms. */
  private static final VirtualDevice.Limits DEVICE =
      new VirtualDevice.Limits(100 * MB, 100 * MB, 100 * MB, 100_000, 100 * MICRO);

  /** One client writes 4 MB/s, others read 1,000 records a second each. */
  private static DeviceRun run(IoBandwidth bandwidth) {
    VirtualWorld world = new VirtualWorld(1, DEVICE, 2);
    StoreOptions options =
        ExperimentalOptions.set(
                VirtualWorld.options(8 << 20, 2 << 20).ioBandwidth(bandwidth),
                // So few that merges can't be put off for long.
                e -> e.l0MostGroups(12))
            .build();
    return DeviceRun.of(
        world, options, new DeviceRun.Pace(16_000, 250), new DeviceRun.Pace(4_000, 1000));
  }

  @Test
  void readsWaitForSmallPiecesOfMerges() {
    for (IoBandwidth bandwidth : List.of(IoBandwidth.auto(), IoBandwidth.of(100 * MB))) {
      assertReadsWaitForSmallPieces(run(bandwidth));
    }
  }

  private static void assertReadsWaitForSmallPieces(DeviceRun run) {
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
    DeviceRun limited = run(IoBandwidth.of(30 * MB));
    StoreStats stats = limited.stats();
    assertTrue(stats.ioLimits().waits() > 10, stats::toJson);
    // Merges of L0 are not limited at moments when writers are about to wait; deeper ones are.
    assertTrue(stats.ioLimits().deepBytesPerSecond() < Long.MAX_VALUE, stats::toJson);
    assertTrue(stats.ioBytesRead().get(IoPurpose.MERGE_L0) > 10 * MB, stats::toJson);
    DeviceRun unlimited = run(IoBandwidth.unlimited());
    assertEquals(0, unlimited.stats().ioLimits().waits());
    assertReadsWaitForSmallPieces(unlimited);
  }
}
