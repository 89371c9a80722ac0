package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a store learns of volumes as clouds have them, in virtual time: one that is fast while it
 * has credits, and one that is held to operations a second.
 */
@Tag("any-jdk")
class CloudVolumeTest {
  private static final long MICRO = 1_000;
  private static final long MB = 1 << 20;
  private static final long FAST = 60 * MB;
  private static final long BASE = 10 * MB;
  private static final int KEYS = 8_000;

  private static VirtualDevice.Limits bytes(long bytes) {
    return new VirtualDevice.Limits(bytes, bytes, bytes, 100_000, 100 * MICRO);
  }

  /** Of 125 MB/s, and so many bytes an operation. */
  private static VirtualDevice.Limits operations(long bytes) {
    return new VirtualDevice.Limits(125 * MB, 125 * MB, 125 * MB, 3_000, bytes, 100 * MICRO);
  }

  private static StoreOptions options(int budget, IoBandwidth bandwidth) {
    return VirtualWorld.options(budget, 1 << 20).ioBandwidth(bandwidth).build();
  }

  /** Clients write 1.2 MB and read 600 records a second, then a twentieth of it, in turns. */
  private static List<Client> use(VirtualWorld world, Tree tree, int seed, List<Integer> seconds) {
    List<Client> clients = new ArrayList<>();
    for (int c = 0; c <= 4; c++) {
      boolean writes = c == 4;
      SplittableRandom random = new SplittableRandom(100L * seed + c);
      clients.add(
          world.scheduler.client(
              "client-" + c,
              () -> {
                long begin = world.clock.nanos();
                for (int turn = 0; turn < seconds.size(); turn++) {
                  int rate = (writes ? 1200 : 150) / (turn % 2 == 0 ? 1 : 20);
                  for (int i = 0; i < seconds.get(turn) * rate; i++) {
                    world.scheduler.sleepUntil(begin + i * VirtualWorld.SECOND / rate);
                    world.use(tree, random, KEYS, writes);
                    world.scheduler.settle();
                  }
                  begin += seconds.get(turn) * VirtualWorld.SECOND;
                }
              }));
    }
    return clients;
  }

  private static void assertLearnt(long bytes, VirtualWorld world, Store store) {
    long learnt = store.stats().ioLimits().deviceBytesPerSecond();
    String when = "at " + world.clock.nanos() / VirtualWorld.SECOND + " s";
    assertEquals((double) bytes / MB, (double) learnt / MB, 0.15 * bytes / MB, when);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void creditsThatEndAndComeBackAreFollowed(int seed) {
    VirtualWorld world = new VirtualWorld(seed, bytes(FAST), 2);
    try (Store store = world.open(options(4 << 20, IoBandwidth.auto()))) {
      Tree tree = world.filled(store, KEYS);
      world.scheduler.lendToDevice(new VirtualDevice.Credits(bytes(BASE), 2 * VirtualWorld.SECOND));
      final List<Client> clients = use(world, tree, seed, List.of(20, 20, 5));
      final long begin = world.clock.nanos();
      world.scheduler.sleepUntil(begin + 2 * VirtualWorld.SECOND);
      assertLearnt(FAST, world, store);
      world.scheduler.sleepUntil(begin + 20 * VirtualWorld.SECOND);
      assertLearnt(BASE, world, store);
      world.scheduler.sleepUntil(begin + 45 * VirtualWorld.SECOND);
      assertLearnt(FAST, world, store);
      clients.forEach(Client::join);
    }
  }

  /** Of clients that write 1.5 MB a second, and read so often. */
  private static DeviceRun run(long operationBytes, long micros, IoBandwidth bandwidth) {
    VirtualWorld world = new VirtualWorld(1, operations(operationBytes), 2);
    DeviceRun.Pace writing = new DeviceRun.Pace(20_000, 667);
    DeviceRun.Pace reading = new DeviceRun.Pace((int) (13_000_000 / micros), micros);
    return DeviceRun.of(world, options(8 << 20, bandwidth), writing, reading);
  }

  @ParameterizedTest
  @ValueSource(longs = {3_700, 4_000, 4_400})
  void operationsThatAreScarceDoNotHoldMergesBackAndReadsWaitNoLongerForThem(long micros) {
    for (long operationBytes : new long[] {128 << 10, 16 << 10}) {
      DeviceRun learnt = run(operationBytes, micros, IoBandwidth.auto());
      DeviceRun byHand = run(operationBytes, micros, IoBandwidth.of(40 * MB));
      String both = learnt.percentile(0.99) + " and " + byHand.percentile(0.99) + " ns";
      assertTrue(learnt.percentile(0.99) <= 1.15 * byHand.percentile(0.99), both);
      assertEquals(0, learnt.stats().ioLimits().waits(), () -> learnt.stats().toJson());
    }
  }
}
