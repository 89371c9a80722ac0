package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.simulation.Inside;
import io.isobardb.lsm.simulation.SimulatedClock;
import io.isobardb.lsm.simulation.SimulatedScheduler;
import io.isobardb.lsm.simulation.SimulatedStorage;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Memory merges that find too little room for their outputs, beside a flush that somebody waits
 * for. A merge that began again and again with the same slice kept it waiting for ever.
 */
class FlushBesideMergesTest {
  private static final long WRITE_MEMORY = 256 << 10;
  private static final long STEPS = 200_000;

  private static long[] seeds() {
    return new SplittableRandom(Long.getLong("isobar.seed", 20261121)).longs(40).toArray();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void aFlushComesToItsEndHoweverLittleRoomMergesFind(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    SimulatedClock clock = new SimulatedClock();
    SimulatedScheduler scheduler = new SimulatedScheduler(clock, seed);
    scheduler.setStepLimit(STEPS);
    Environment environment =
        new Environment(new SimulatedStorage(clock), clock, scheduler, random.split());
    StoreOptions options =
        StoreOptions.builder()
            .pageSize(4096)
            .memoryBudget(4 << 20)
            .writeMemory(WRITE_MEMORY)
            .memoryTuner(false)
            .build();
    try (Store store = Inside.open(environment, options)) {
      Tree tree = store.openTree("t");
      // A little less than what makes flushes begin.
      long enough = WRITE_MEMORY / 64 * random.nextInt(40, 56);
      for (int i = 0; store.stats().writeMemoryBytes() < enough; i++) {
        boolean large = random.nextInt(8) == 0;
        byte[] value = new byte[random.nextInt(large ? 20_000 : 200)];
        tree.put(new byte[] {(byte) random.nextInt(256), (byte) (i >> 8), (byte) i}, value);
      }
      store.flush();
      assertEquals(0, store.stats().trees().get(0).memoryBytes());
      assertTrue(store.stats().flushes() > 0);
    }
  }
}
