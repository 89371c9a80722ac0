package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that is full all the time, of a tree whose keys are overwritten by Zipf's law. */
@Tag("any-jdk")
class PackedMemoryTest {
  private static final int KEYS = 40_000;
  private static final int WRITES = 80_000;
  private static final int VALUE = 400;

  /** Bytes put per round of flushes, and bytes that merges in memory wrote. */
  private record Found(double perSweep, long memoryMerged) {}

  /** A store whose memory is full long before its log. */
  private static StoreOptions.Builder longLog(MemoryComponent component) {
    return ExperimentalOptions.set(
        StoreOptions.builder()
            .memoryBudget(16 << 20)
            .writeMemory(2 << 20)
            .logLimit(64 << 20)
            .pageSize(4096)
            .memoryTuner(false),
        e -> e.memoryComponent(component));
  }

  /**
   * Writes, and checks what is there then.
   *
   * @param putsPerStep puts from one step of background work to the next
   */
  private static Found write(StoreOptions options, long seed, int putsPerStep) {
    SimulatedWorld world = new SimulatedWorld(seed);
    SplittableRandom random = new SplittableRandom(seed);
    int[] last = new int[KEYS];
    long[] merged = new long[1];
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      byte[] value = new byte[VALUE];
      for (int i = 0; i < KEYS; i++) {
        tree.put(key(i), value);
        world.background(2);
      }
      store.flush();
      store.addListener(
          new StoreListener() {
            @Override
            public void onMerged(Merge event) {
              merged[0] += event.kind() == MergeKind.MEMORY ? event.bytesWritten() : 0;
            }
          });
      long before = store.stats().trees().get(0).flushSweeps();
      for (int i = 1; i <= WRITES; i++) {
        // About as often as Zipf's law has it, over all keys: the rank's logarithm is uniform.
        int rank = (int) Math.exp(random.nextDouble() * Math.log(KEYS));
        int k = (int) (rank * 7919L % KEYS);
        tree.put(key(k), ByteBuffer.wrap(value).putInt(i).array());
        last[k] = i;
        if (i % putsPerStep == 0) {
          world.background(putsPerStep == 1 ? 2 : 1);
        }
      }
      double sweeps = store.stats().trees().get(0).flushSweeps() - before;
      for (int i = 0; i < KEYS; i += 37) {
        byte[] expected = ByteBuffer.allocate(VALUE).putInt(last[i]).array();
        assertArrayEquals(expected, tree.get(key(i)), "seed " + seed + ", key " + i);
      }
      return new Found((double) WRITES * VALUE / sweeps, merged[0]);
    }
  }

  /** Then slices of merges take long, and runs are sealed while one is under way. */
  @ParameterizedTest
  @ValueSource(ints = {60, 150})
  void whatIsSealedWhileASliceIsMergedStays(int putsPerStep) {
    assertTrue(
        write(longLog(MemoryComponent.PARTITIONED).build(), 3, putsPerStep).memoryMerged() > 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void aRoundOfSlicesTakesInMuchMoreThanAFlushOfALargeTree(long seed) {
    Found packed = write(longLog(MemoryComponent.PARTITIONED).build(), seed, 1);
    Found whole = write(longLog(MemoryComponent.MONOLITHIC).build(), seed, 1);
    assertTrue(
        packed.perSweep() >= 1.6 * whole.perSweep(),
        "seed " + seed + ": " + packed.perSweep() + " and " + whole.perSweep());
    assertTrue(packed.memoryMerged() < 5L * WRITES * VALUE, "merged " + packed.memoryMerged());
  }

  /** What merges pack of old and young keys together would hold the log for a round too long. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whereTheLogBoundsMemoryARoundTakesInMostOfIt(long seed) {
    long log = 8 << 20;
    StoreOptions options =
        longLog(MemoryComponent.PARTITIONED).writeMemory(5 << 20).logLimit(log).build();
    double perSweep = write(options, seed, 1).perSweep();
    assertTrue(perSweep > 0.58 * log, "seed " + seed + ": " + perSweep + " of " + log);
  }
}
