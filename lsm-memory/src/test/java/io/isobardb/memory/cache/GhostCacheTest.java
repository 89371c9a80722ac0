package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GhostCacheTest {
  @Test
  void theOldestIsForgottenFirst() {
    try (PagePool pool = new PagePool(1 << 20, 4096, true);
        GhostCache ghost = new GhostCache(pool, 3)) {
      for (int i = 0; i < 3; i++) {
        ghost.record(BufferCache.key(1, i));
      }
      ghost.record(BufferCache.key(1, 0));
      ghost.record(BufferCache.key(2, 0));
      assertFalse(ghost.contains(BufferCache.key(1, 1)));
      assertTrue(ghost.contains(BufferCache.key(1, 0)));
      assertTrue(ghost.remove(BufferCache.key(1, 0)));
      assertFalse(ghost.remove(BufferCache.key(1, 0)));
      assertEquals(2, ghost.size());
      assertTrue(pool.ledger().bytes(Purpose.GHOST) > 0);
    }
  }

  @Test
  void itAgreesWithALinkedSet() {
    for (long seed = 1; seed <= 10; seed++) {
      System.out.println("GhostCacheTest seed " + seed);
      Random random = new Random(seed);
      int capacity = 1 + random.nextInt(200);
      Set<Long> model = new LinkedHashSet<>();
      try (PagePool pool = new PagePool(1 << 20, 4096, true);
          GhostCache ghost = new GhostCache(pool, capacity)) {
        for (int i = 0; i < 20_000; i++) {
          long key = BufferCache.key(1 + random.nextInt(3), random.nextInt(capacity));
          if (random.nextInt(3) < 2) {
            ghost.record(key);
            model.remove(key);
            model.add(key);
            if (model.size() > capacity) {
              model.remove(model.iterator().next());
            }
          } else {
            assertEquals(model.remove(key), ghost.remove(key));
          }
          assertEquals(model.size(), ghost.size());
          long probe = BufferCache.key(1 + random.nextInt(3), random.nextInt(capacity));
          assertEquals(model.contains(probe), ghost.contains(probe));
        }
      }
    }
  }

  @Test
  void useAfterCloseIsAnError() {
    try (PagePool pool = new PagePool(1 << 20, 4096, true)) {
      GhostCache ghost = new GhostCache(pool, 10);
      ghost.close();
      assertThrows(IllegalStateException.class, () -> ghost.record(1L << 32));
    }
  }
}
