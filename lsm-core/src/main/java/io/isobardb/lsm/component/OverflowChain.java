package io.isobardb.lsm.component;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;

/**
 * Values that do not fit into a leaf: chains of pool pages, charged to {@link Purpose#WRITE}.
 *
 * <pre>
 *   0                     4        8
 *   +---------------------+--------+----------------------+
 *   | next page, or NONE  | spare  | the value's bytes    |
 *   +---------------------+--------+----------------------+
 * </pre>
 *
 * <p>Thread rule: a chain is written by one thread before it is published, and never changed then.
 */
final class OverflowChain {
  private static final int DATA = 8;

  private OverflowChain() {}

  /** Bytes of a value that one page takes. */
  private static int pageBytes(PagePool pool) {
    return pool.pageSize() - DATA;
  }

  /** Pages that a value takes. */
  static int pageCount(PagePool pool, int length) {
    return Math.max(1, (int) (((long) length + pageBytes(pool) - 1) / pageBytes(pool)));
  }

  /**
   * Copies a value into a new chain; gives its first page.
   *
   * @throws OutOfBudgetException if there is no room; nothing is held then
   */
  static int write(PagePool pool, byte[] value, int offset, int length) {
    int first = PagePool.NONE;
    int count = pageCount(pool, length);
    // From the last page to the first, so that each knows its successor.
    for (int i = count - 1; i >= 0; i--) {
      int page = pool.allocate(Purpose.WRITE);
      if (page == PagePool.NONE) {
        release(pool, first);
        throw pool.outOfBudget("no page left for a value of " + length + " bytes");
      }
      int from = i * pageBytes(pool);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      memory.putInt(base, first);
      memory.put(base + DATA, value, offset + from, Math.min(pageBytes(pool), length - from));
      first = page;
    }
    return first;
  }

  /** Changes the first bytes of a chain that was not published: those that its first page has. */
  static void change(PagePool pool, int first, byte[] value, int offset, int length) {
    pool.memory(first).put(pool.base(first) + DATA, value, offset, length);
  }

  /** Frees a chain that was never published. */
  static void release(PagePool pool, int first) {
    for (int page = first; page != PagePool.NONE; ) {
      int next = pool.memory(page).getInt(pool.base(page));
      pool.release(page, Purpose.WRITE);
      page = next;
    }
  }

  /** Frees a chain that was unlinked just now; readers in an epoch may still walk it. */
  static int retire(PagePool pool, int first) {
    int count = 0;
    for (int page = first; page != PagePool.NONE; count++) {
      int next = pool.memory(page).getInt(pool.base(page));
      pool.retire(page, Purpose.WRITE);
      page = next;
    }
    return count;
  }

  /** Copies a part of a value to the absolute index {@code at} of {@code target}. */
  static void copy(PagePool pool, int first, int from, ByteBuffer target, int at, int length) {
    int page = first;
    int skip = from;
    for (; skip >= pageBytes(pool); skip -= pageBytes(pool)) {
      page = pool.memory(page).getInt(pool.base(page));
    }
    int copied = 0;
    while (copied < length) {
      int part = Math.min(length - copied, pageBytes(pool) - skip);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      memory.get(base + DATA + skip, target, at + copied, part);
      copied += part;
      skip = 0;
      page = memory.getInt(base);
    }
  }

  /** Copies a part of a value to {@code at} of {@code target}. */
  static void copy(PagePool pool, int first, int from, Memory target, int at, int length) {
    int page = first;
    int skip = from;
    for (; skip >= pageBytes(pool); skip -= pageBytes(pool)) {
      page = pool.memory(page).getInt(pool.base(page));
    }
    int copied = 0;
    while (copied < length) {
      int part = Math.min(length - copied, pageBytes(pool) - skip);
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      target.copyFrom(at + copied, memory, base + DATA + skip, part);
      copied += part;
      skip = 0;
      page = memory.getInt(base);
    }
  }
}
