package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Ledger;

/** Pages whose contents are their key, so that a page in the wrong place is seen. */
final class TestPages {
  private TestPages() {}

  static void write(long key, Memory memory, int base, int pageSize) {
    for (int i = 0; i < pageSize; i += 512) {
      memory.putLong(base + i, key + i);
    }
  }

  static boolean isPageOf(long key, PagePool pool, int page) {
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    for (int i = 0; i < pool.pageSize(); i += 512) {
      if (memory.getLong(base + i) != key + i) {
        return false;
      }
    }
    return true;
  }

  static PageLoader loader(PagePool pool) {
    return (key, memory, base) -> write(key, memory, base, pool.pageSize());
  }

  static void checkLedger(PagePool pool) {
    Ledger ledger = pool.ledger();
    long sum = ledger.bytes().values().stream().mapToLong(Long::longValue).sum();
    assertEquals(ledger.allocatedBytes(), sum, ledger::toString);
  }
}
