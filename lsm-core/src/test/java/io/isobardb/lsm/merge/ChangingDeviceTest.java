package io.isobardb.lsm.merge;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualScheduler.Client;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a store learns of a device that becomes slower and faster while clients use it. */
@Tag("any-jdk")
class ChangingDeviceTest {
  private static final long MICRO = 1_000;
  private static final int KEYS = 8_000;
  private static final int READERS = 3;
  private static final int SECONDS = 36;
  private static final long MB = 1 << 20;
  private static final long FAST = 60 * MB;
  private static final long SLOW = 10 * MB;

  private VirtualWorld world;

  private static VirtualDevice.Limits device(long bytes) {
    return new VirtualDevice.Limits(bytes, bytes, bytes, 100_000, 100 * MICRO);
  }

  /** Reads 150 records a second, or writes 1 MB. */
  private Client client(Tree tree, int number) {
    boolean writes = number == READERS;
    SplittableRandom random = new SplittableRandom(number);
    long micros = writes ? 1_000 : 6_667;
    return world.client(
        "client-" + number,
        (int) (SECONDS * 1_000_000 / micros),
        micros * MICRO,
        due -> world.use(tree, random, KEYS, writes));
  }

  /** What is known of the device after so many seconds. */
  private long learnt(Store store, int seconds) {
    world.scheduler.sleepUntil(world.clock.nanos() + seconds * VirtualWorld.SECOND);
    return store.stats().ioLimits().deviceBytesPerSecond();
  }

  @Test
  void itIsFollowedWithinTwentySecondsDownAndUp() {
    world = new VirtualWorld(1, device(FAST), 2);
    try (Store store = world.open(VirtualWorld.options(4 << 20, 1 << 20).build())) {
      Tree tree = world.filled(store, KEYS);
      List<Client> clients = new ArrayList<>();
      for (int c = 0; c <= READERS; c++) {
        clients.add(client(tree, c));
      }
      final long fast = learnt(store, 8);
      world.scheduler.changeDevice(device(SLOW));
      final long slow = learnt(store, 20);
      world.scheduler.changeDevice(device(FAST));
      final long fastAgain = learnt(store, 8);
      clients.forEach(Client::join);
      assertIsAbout(FAST, fast);
      assertIsAbout(SLOW, slow);
      assertIsAbout(FAST, fastAgain);
    }
  }

  private static void assertIsAbout(long bytes, long learnt) {
    String message = learnt + " bytes a second learnt, " + bytes + " are right";
    assertTrue(Math.abs(learnt - bytes) <= bytes / 10, message);
  }
}
