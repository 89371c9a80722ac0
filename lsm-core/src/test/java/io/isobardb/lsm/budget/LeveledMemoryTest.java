package io.isobardb.lsm.budget;

import static io.isobardb.lsm.SimulatedStores.key;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a memory component in levels merges and flushes. */
@Tag("any-jdk")
class LeveledMemoryTest {
  private static final int KEYS = 40_000;
  private static final int WRITES = 60_000;
  private static final int VALUE = 400;

  /** What the store has told of its memory. */
  private static final class Told implements StoreListener {
    final Set<FlushKind> flushes = EnumSet.noneOf(FlushKind.class);
    long merged;
    long merges;

    @Override
    public void onFlushed(Flush event) {
      flushes.add(event.kind());
    }

    @Override
    public void onMerged(Merge event) {
      if (event.kind() == MergeKind.MEMORY) {
        merges++;
        merged += event.bytesWritten();
      }
    }
  }

  private static StoreOptions.Builder options() {
    return ExperimentalOptions.set(
        StoreOptions.builder()
            .memoryBudget(16 << 20)
            .writeMemory(2 << 20)
            .logLimit(64 << 20)
            .pageSize(4096)
            .memoryTuner(false),
        e -> e.memoryComponent(MemoryComponent.LEVELED).activeTableSize(64 << 10));
  }

  /**
   * Writes, and checks what is there meanwhile and then.
   *
   * @param keys which key is written when
   * @param putsPerStep puts from one step of background work to the next
   */
  private static Told write(StoreOptions options, IntUnaryOperator keys, int putsPerStep) {
    SimulatedWorld world = new SimulatedWorld(7);
    Told told = new Told();
    int[] last = new int[KEYS];
    try (Store store = world.open(options)) {
      Tree tree = store.openTree("t");
      store.addListener(told);
      byte[] value = new byte[VALUE];
      for (int i = 1; i <= WRITES; i++) {
        int k = keys.applyAsInt(i);
        tree.put(key(k), ByteBuffer.wrap(value).putInt(i).array());
        last[k] = i;
        if (i % putsPerStep == 0) {
          world.background(putsPerStep == 1 ? 4 : 1);
        }
        if (i % 5000 == 0) {
          check(tree, last);
        }
      }
      check(tree, last);
    }
    return told;
  }

  private static void check(Tree tree, int[] last) {
    for (int k = 0; k < KEYS; k += 37) {
      byte[] expected = last[k] == 0 ? null : ByteBuffer.allocate(VALUE).putInt(last[k]).array();
      assertArrayEquals(expected, tree.get(key(k)), "key " + k);
    }
  }

  /** About as often as Zipf's law has it, over all keys: the rank's logarithm is uniform. */
  private static IntUnaryOperator skewed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    return i -> (int) ((long) Math.exp(random.nextDouble() * Math.log(KEYS)) * 7919L % KEYS);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "3, 60", "4, 150"})
  void memoryIsMergedByLevelsAndFlushedBySlicesOfTheLast(long seed, int putsPerStep) {
    Told told = write(options().build(), skewed(seed), putsPerStep);
    assertEquals(EnumSet.of(StoreListener.FlushKind.PARTIAL), told.flushes, "seed " + seed);
    assertTrue(told.merges > 0, "seed " + seed);
  }

  @Test
  void forTheLogGoesWhatKeepsItWithAllThatIsOlder() {
    Told told = write(options().logLimit(2 << 20).build(), skewed(5), 1);
    assertTrue(told.flushes.contains(StoreListener.FlushKind.OLDEST), told.flushes.toString());
  }

  @Test
  void whatOverlapsNothingIsNotMergedWithIt() {
    Told told = write(options().build(), i -> i * (KEYS / 2) / WRITES, 1);
    // Each entry is packed once; what it meets is the end of the SSTable before.
    long put = (long) WRITES * VALUE;
    assertTrue(told.merged < put + put / 2, told.merged + " of " + put);
  }
}
