package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.simulation.VirtualDevice;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Clients that read beside flushes and merges on a volume that lets all pass at once until the
 * budget of a tenth of a second is spent, in virtual time.
 */
@Tag("any-jdk")
class HeldDeviceTest {
  private static final long MICRO = 1_000;
  private static final long MB = 1 << 20;
  private static final long HELD = 20 * MB;
  private static final VirtualDevice.Limits QUICK =
      new VirtualDevice.Limits(1000 * MB, 1000 * MB, 1000 * MB, 100_000, 100 * MICRO);

  /** One client writes 1 MB/s, others read 200 records a second each. */
  private static DeviceRun run(IoBandwidth bandwidth) {
    VirtualWorld world = new VirtualWorld(1, QUICK, 2);
    world.scheduler.holdDevice(new VirtualDevice.Held(HELD, HELD, VirtualWorld.SECOND / 10));
    StoreOptions options = VirtualWorld.options(8 << 20, 1 << 20).ioBandwidth(bandwidth).build();
    return DeviceRun.of(
        world, options, new DeviceRun.Pace(30_000, 1000), new DeviceRun.Pace(6_000, 5000));
  }

  @Test
  void readsDoNotWaitForABudgetThatMergesHaveSpent() {
    DeviceRun free = run(IoBandwidth.unlimited());
    assertTrue(free.percentile(0.99) > 10_000 * MICRO, free.percentile(0.99) + " ns");
    DeviceRun learnt = run(IoBandwidth.auto());
    StoreStats stats = learnt.stats();
    assertEquals(HELD, stats.ioLimits().deviceBytesPerSecond(), HELD / 10.0, stats::toJson);
    assertTrue(learnt.percentile(0.99) < 1_000 * MICRO, learnt.percentile(0.99) + " ns");
    assertTrue(stats.mergeBytesWritten() > 100 * MB, stats::toJson);
  }
}
