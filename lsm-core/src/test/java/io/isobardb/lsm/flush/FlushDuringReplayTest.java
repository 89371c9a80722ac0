package io.isobardb.lsm.flush;

import static io.isobardb.lsm.SimulatedStores.key;
import static io.isobardb.lsm.SimulatedStores.value;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.KeyOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flushes of an active SSTable that begin while replay is in the middle of an operation that goes
 * into it. Trees fill the memory while none of their active SSTables is full; replay and flushes
 * are slow, so that one flush follows another.
 *
 * <p>It is threads that meet, or do not: one run of four found the bug that this is for.
 */
class FlushDuringReplayTest {
  private static final int TREES = 8;
  private static final int OPERATIONS = 4_000;
  private static final SlowOrder ORDER = new SlowOrder();

  @TempDir private Path dir;

  @Test
  void anOperationThatIsBeingReplayedIsNotFlushedWithoutIt() {
    try (Store store = Store.open(dir, options(128 << 20))) {
      List<Tree> trees = trees(store);
      for (int i = 0; i < OPERATIONS; i++) {
        trees.get(treeOf(i)).put(keyOf(i), value(i, 3000));
      }
    }
    ORDER.replay = Thread.currentThread();
    try (Store store = Store.open(dir, options(16 << 20))) {
      ORDER.replay = null;
      assertTrue(store.stats().flushes() > 0, "the replay flushed nothing");
      List<Tree> trees = trees(store);
      for (int i = 0; i < OPERATIONS; i++) {
        assertArrayEquals(value(i, 3000), trees.get(treeOf(i)).get(keyOf(i)), "operation " + i);
      }
    } finally {
      ORDER.replay = null;
    }
  }

  private static int treeOf(int i) {
    return Math.floorMod(i * 0x9E3779B1, TREES);
  }

  /** Falling keys: each goes to where a flush begins. */
  private static byte[] keyOf(int i) {
    return key(OPERATIONS - i);
  }

  private static StoreOptions options(int memory) {
    return ExperimentalOptions.set(
            StoreOptions.builder().memoryBudget(memory).writeMemory(memory / 2),
            e -> e.activeTableSize(memory / 8))
        .logLimit(128 << 20)
        .memoryTuner(false)
        .durability(Durability.ASYNC)
        .keyOrder(ORDER)
        .build();
  }

  private static List<Tree> trees(Store store) {
    TreeOptions options = TreeOptions.builder().keyOrder(ORDER).build();
    List<Tree> trees = new ArrayList<>();
    for (int i = 0; i < TREES; i++) {
      trees.add(store.openTree("t" + i, options));
    }
    return trees;
  }

  /** The order of bytes, where threads stop for a while now and then. */
  private static final class SlowOrder implements KeyOrder {
    private static final long REPLAY_NANOS = 1_000_000;
    private static final long FLUSH_NANOS = 200_000;

    private volatile @Nullable Thread replay;

    @Override
    public String name() {
      return "slow";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      Thread slow = replay;
      if (slow != null && Thread.currentThread() != slow) {
        LockSupport.parkNanos(FLUSH_NANOS);
      } else if (slow != null && ThreadLocalRandom.current().nextInt(100) == 0) {
        LockSupport.parkNanos(REPLAY_NANOS);
      }
      return BYTES.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }
}
