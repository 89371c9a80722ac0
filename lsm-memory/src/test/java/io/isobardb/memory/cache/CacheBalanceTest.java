package io.isobardb.memory.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.memory.cache.CacheBalance.Seen;
import org.junit.jupiter.api.Test;

class CacheBalanceTest {
  private static final Seen NOTHING = new Seen(0, 0);
  private static final Seen LITTLE = new Seen(10, 100);
  private static final Seen MUCH = new Seen(20, 100);

  @Test
  void entriesBeginWithALittle() {
    assertEquals(200, CacheBalance.entryPages(0, 6400, NOTHING, MUCH));
    assertEquals(1, CacheBalance.entryPages(0, 10, NOTHING, NOTHING));
  }

  @Test
  void memoryGoesWhereAPageMoreSavesMore() {
    assertEquals(501, CacheBalance.entryPages(400, 6400, MUCH, LITTLE));
    assertEquals(349, CacheBalance.entryPages(400, 6400, LITTLE, MUCH));
  }

  @Test
  void aSmallDifferenceMovesNothing() {
    assertEquals(400, CacheBalance.entryPages(400, 6400, LITTLE, new Seen(11, 100)));
    assertEquals(400, CacheBalance.entryPages(400, 6400, new Seen(11, 100), LITTLE));
    assertEquals(400, CacheBalance.entryPages(400, 6400, NOTHING, NOTHING));
  }

  @Test
  void neitherGetsAll() {
    assertEquals(4800, CacheBalance.entryPages(4700, 6400, MUCH, LITTLE));
    assertEquals(100, CacheBalance.entryPages(101, 6400, LITTLE, MUCH));
  }
}
