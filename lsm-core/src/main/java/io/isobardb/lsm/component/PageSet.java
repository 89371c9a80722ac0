package io.isobardb.lsm.component;

import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;

/**
 * A set of pages, which only grows. Open addressing, at most half full: a {@code Set<Integer>}
 * makes an object for each question.
 *
 * <p>Thread rule: one thread at a time.
 */
final class PageSet {
  /** Spreads the numbers of neighbouring pages; 2^32 divided by the golden ratio. */
  private static final int SPREAD = 0x9e3779b9;

  private int[] slots = empty(16);
  private int size;

  private static int[] empty(int slots) {
    int[] made = new int[slots];
    Arrays.fill(made, PagePool.NONE);
    return made;
  }

  boolean contains(int page) {
    return slots[slot(page)] == page;
  }

  /** Adds a page, which may be there already. */
  void add(int page) {
    int slot = slot(page);
    if (slots[slot] == page) {
      return;
    }
    slots[slot] = page;
    size++;
    if (size * 2 > slots.length) {
      int[] before = slots;
      slots = empty(before.length * 2);
      for (int moved : before) {
        if (moved != PagePool.NONE) {
          slots[slot(moved)] = moved;
        }
      }
    }
  }

  /** The slot that a page is in, or would go to. */
  private int slot(int page) {
    int mask = slots.length - 1;
    int slot = page * SPREAD >>> (1 + Integer.numberOfLeadingZeros(slots.length));
    while (slots[slot] != page && slots[slot] != PagePool.NONE) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }
}
