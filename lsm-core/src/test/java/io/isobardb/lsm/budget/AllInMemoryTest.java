package io.isobardb.lsm.budget;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Trees that write memory has room for. */
@Tag("any-jdk")
class AllInMemoryTest {
  private static final long SEED = Long.getLong("isobar.seed", 5);

  private static byte[] key(long number) {
    return ByteBuffer.allocate(16).putLong(number * 0x9e3779b97f4a7c15L).putLong(number).array();
  }

  private static Store open(SimulatedWorld world, long writeBytes) {
    return world.open(
        StoreOptions.builder()
            .memoryBudget(2 * writeBytes)
            .writeMemory(writeBytes)
            .memoryTuner(false)
            .build());
  }

  private static Tree unlogged(Store store) {
    return store.openTree("t", TreeOptions.builder().logged(false).build());
  }

  @Test
  void whatFitsIsMergedInsteadOfFlushedHoweverOftenItIsOverwritten() {
    SimulatedWorld world = new SimulatedWorld(SEED);
    try (Store store = open(world, 16 << 20)) {
      Tree tree = unlogged(store);
      SplittableRandom random = new SplittableRandom(SEED);
      int records = 3000;
      int[] last = new int[records];
      for (int i = 1; i <= 60_000; i++) {
        int record = random.nextInt(records);
        last[record] = i;
        tree.put(key(record), ByteBuffer.allocate(1000).putInt(i).array());
        world.background(8);
      }
      assertEquals(0, store.stats().flushBytesWritten());
      for (int record = 0; record < records; record++) {
        assertArrayEquals(
            ByteBuffer.allocate(1000).putInt(last[record]).array(), tree.get(key(record)));
      }
    }
  }

  /** Puts that nothing is overwritten by, and some gets each; runs in memory afterwards. */
  private static int runs(int gets) {
    SimulatedWorld world = new SimulatedWorld(SEED);
    try (Store store = open(world, 256 << 20)) {
      Tree tree = unlogged(store);
      byte[] value = new byte[1000];
      for (int i = 0; i < 60_000; i++) {
        tree.put(key(i), value);
        for (int j = 0; j < gets; j++) {
          tree.get(key(i / 2));
        }
      }
      assertEquals(0, store.stats().flushBytesWritten());
      return store.stats().trees().get(0).memoryRuns();
    }
  }

  @Test
  void anActiveSSTableGrowsOnWhileReadsGainByIt() {
    assertTrue(runs(0) > 0);
    assertEquals(0, runs(20));
  }
}
