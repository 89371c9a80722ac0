package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which leaves go with a slice: those that lie in it, whatever the inner nodes are cut by. */
@Tag("any-jdk")
class LeafReleaseTest {
  private static final int VERSIONED = 700;
  private static final KeyOrder ORDER = KeyOrder.BYTES;
  private static final Visibility ALL_KEPT = GivenVisibility.keepingAll();

  private final PagePool pool = new PagePool(16 << 20, 4096, true);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void theLeavesOfASliceAreGivenUp(long seed) {
    Random random = new Random(seed);
    ActiveTree tree = new ActiveTree(pool, ORDER, 1 << 20);
    byte[] value = new byte[400];
    for (int i = 1; i <= 4000; i++) {
      // Some keys have so many versions that leaves are cut between them.
      byte[] key = key(random.nextInt(8) == 0 ? VERSIONED : random.nextInt(2000));
      tree.put(
          new Write()
              .of(Kind.PUT, key, 0, key.length)
              .value(value, 0, value.length)
              .at(i * 8L)
              .hashed(),
          ALL_KEPT);
    }
    assertTrue(level(tree.root()) > 1, "the tree has inner nodes below its root");
    Set<Integer> gone = new HashSet<>();
    byte[] low = null;
    TreeSet<Integer> bounds = new TreeSet<>(Set.of(VERSIONED, 2200));
    random.ints(random.nextInt(20), 0, 2000).forEach(bounds::add);
    for (int bound : bounds) {
      byte[] high = key(bound);
      int before = gone.size();
      addLeavesWithin(tree.root(), low, high, gone);
      long bytes = tree.releaseRange(low, high);
      assertEquals((long) (gone.size() - before) * pool.pageSize(), bytes, "slice up to " + bound);
      low = random.nextInt(4) == 0 ? low : high;
    }
    addLeavesWithin(tree.root(), null, null, gone);
    tree.releaseRange(null, null);
    for (int page : gone) {
      assertTrue(tree.isReleased(page), "page " + page);
    }
    tree.free();
    pool.close();
  }

  private static byte[] key(int number) {
    return String.format("user%06d", number).getBytes();
  }

  private int level(int page) {
    return ActiveNodes.level(pool.memory(page).getLong(pool.base(page) + ActiveNodes.SHAPE));
  }

  /** Looks at every leaf and its fences. */
  private void addLeavesWithin(
      int page, byte @Nullable [] low, byte @Nullable [] high, Set<Integer> leaves) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + ActiveNodes.SHAPE);
    if (ActiveNodes.level(shape) > 0) {
      addLeavesWithin(memory.getInt(base + ActiveNodes.FIRST_CHILD), low, high, leaves);
      for (int i = 0; i < ActiveNodes.count(shape); i++) {
        int entry = ActiveNodes.entryAt(memory, base, ActiveNodes.capacity(shape), i);
        addLeavesWithin(memory.getInt(entry + ActiveNodes.ENTRY_LINK), low, high, leaves);
      }
      return;
    }
    byte[] lower = fence(memory, base, ActiveNodes.LOWER);
    byte[] upper = fence(memory, base, ActiveNodes.UPPER);
    boolean above = low == null || (lower != null && Arrays.compareUnsigned(lower, low) > 0);
    boolean upTo = high == null || (upper != null && Arrays.compareUnsigned(upper, high) <= 0);
    if (above && upTo) {
      leaves.add(page);
    }
  }

  private static byte @Nullable [] fence(Memory memory, int base, int field) {
    int offset = memory.getUnsignedShort(base + field);
    if (offset == 0) {
      return null;
    }
    byte[] key = new byte[ActiveNodes.keyLength(memory, base + offset)];
    memory.get(base + offset + ActiveNodes.ENTRY_KEY, key, 0, key.length);
    return key;
  }
}
