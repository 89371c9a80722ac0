package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Checks the structure of a quiescent {@link ActiveTree}: fences, order, heads, space. */
final class TreeCheck {
  private record Bound(byte[] key, long lsn) {}

  private final PagePool pool;
  private final io.isobardb.lsm.option.KeyOrder order;

  TreeCheck(PagePool pool, io.isobardb.lsm.option.KeyOrder order) {
    this.pool = pool;
    this.order = order;
  }

  void check(ActiveTree tree) {
    if (tree.root() != PagePool.NONE) {
      node(tree.root(), null, null);
    }
  }

  private int compare(Bound a, Bound b) {
    int c = order.compare(a.key, 0, a.key.length, b.key, 0, b.key.length);
    return c != 0 ? c : Long.compare(b.lsn, a.lsn);
  }

  private static Bound at(Memory memory, int entry) {
    byte[] key = new byte[ActiveNodes.keyLength(memory, entry)];
    memory.get(entry + ActiveNodes.ENTRY_KEY, key, 0, key.length);
    return new Bound(key, ActiveNodes.lsn(memory, entry));
  }

  private static void assertFence(@Nullable Bound expected, Memory memory, int base, int field) {
    int offset = memory.getUnsignedShort(base + field);
    assertEquals(expected == null, offset == 0, "fence " + field);
    if (expected != null) {
      Bound stored = at(memory, base + offset);
      assertTrue(Arrays.equals(expected.key, stored.key) && expected.lsn == stored.lsn, "fence");
    }
  }

  private void node(int page, @Nullable Bound lower, @Nullable Bound upper) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    long shape = memory.getLong(base + ActiveNodes.SHAPE);
    assertEquals(0, memory.getInt(base) & 1, "unlatched");
    assertFence(lower, memory, base, ActiveNodes.LOWER);
    assertFence(upper, memory, base, ActiveNodes.UPPER);
    int count = ActiveNodes.count(shape);
    int capacity = ActiveNodes.capacity(shape);
    int used = 0;
    Bound before = null;
    int headBefore = Integer.MIN_VALUE;
    Bound low = lower;
    int child = memory.getInt(base + ActiveNodes.FIRST_CHILD);
    for (int i = 0; i < count; i++) {
      int entry = ActiveNodes.entryAt(memory, base, capacity, i);
      Bound bound = at(memory, entry);
      used += ActiveNodes.entryBytes(memory, entry);
      assertTrue(lower == null || compare(lower, bound) <= 0, "not before the lower fence");
      assertTrue(upper == null || compare(bound, upper) < 0, "before the upper fence");
      assertTrue(before == null || compare(before, bound) < 0, "sorted");
      int head = memory.getInt(ActiveNodes.headAt(base, i));
      assertTrue(headBefore <= head, "heads sorted");
      headBefore = head;
      before = bound;
      if (ActiveNodes.level(shape) > 0) {
        node(child, low, bound);
        child = memory.getInt(entry + ActiveNodes.ENTRY_LINK);
        low = bound;
      }
    }
    if (ActiveNodes.level(shape) > 0) {
      node(child, low, upper);
    }
    for (int field : new int[] {ActiveNodes.LOWER, ActiveNodes.UPPER}) {
      int offset = memory.getUnsignedShort(base + field);
      used += offset == 0 ? 0 : ActiveNodes.entryBytes(memory, base + offset);
    }
    int heap = pool.pageSize() - memory.getInt(base + ActiveNodes.HEAP_START);
    assertEquals(heap, used + memory.getInt(base + ActiveNodes.GARBAGE), "heap bytes");
    assertTrue(
        ActiveNodes.HEADS + ActiveNodes.SLOT_BYTES * capacity
            <= memory.getInt(base + ActiveNodes.HEAP_START));
  }
}
