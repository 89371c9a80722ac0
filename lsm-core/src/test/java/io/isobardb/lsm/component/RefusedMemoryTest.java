package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.ShortSystem;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of writes when the system refuses memory that the budget has room for. */
class RefusedMemoryTest {
  private static final int PAGE = 4096;

  private static final Visibility ALL = GivenVisibility.ofAll();

  private final PagePool pool = ShortSystem.pool(16 << 20, PAGE, 2);
  private final Deque<Integer> taken = new ArrayDeque<>();
  private ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);

  @AfterEach
  void nothingLeaks() {
    leave(Integer.MAX_VALUE);
    tree.free();
    pool.close();
  }

  /** Leaves so many pages free, if not more have been taken. */
  private void leave(int pages) {
    for (int page = pool.tryAllocate(Purpose.CACHE); page != PagePool.NONE; ) {
      taken.push(page);
      page = pool.tryAllocate(Purpose.CACHE);
    }
    for (int i = 0; i < pages && !taken.isEmpty(); i++) {
      pool.release(taken.pop(), Purpose.CACHE);
    }
  }

  private void put(byte[] key, long lsn, byte[] value) {
    long hash = KeyHash.hash(key, 0, key.length);
    tree.put(
        new Write().of(Kind.PUT, key, 0, key.length).value(value, 0, value.length).at(lsn).hashed(),
        ALL);
  }

  private byte @Nullable [] get(byte[] key) {
    int epoch = pool.epochs().enter();
    try {
      return ActiveTrees.get(tree, key, Long.MAX_VALUE);
    } finally {
      pool.epochs().exit(epoch);
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(16).putLong(i * 0x9E3779B97F4A7C15L).putLong(i).array();
  }

  @Test
  void aValueWithoutRoomHoldsNothing() {
    leave(0);
    leave(5);
    Ledger before = pool.ledger();
    Write write = new Write().value(new byte[6 * PAGE], 0, 6 * PAGE);
    OutOfBudgetException refused =
        assertThrows(OutOfBudgetException.class, () -> tree.writeOverflow(write));
    String told = String.valueOf(refused.getMessage());
    assertTrue(told.contains("-XX:MaxDirectMemorySize"), told);
    assertEquals(before, pool.ledger());
    tree.writeOverflow(write.value(new byte[4 * PAGE], 0, 4 * PAGE));
    tree.freeOverflow(write.takeOverflow());
    assertEquals(before, pool.ledger());
  }

  /** The filters are of one page, five and twenty. */
  @ParameterizedTest
  @ValueSource(ints = {64 << 10, 1 << 20, 4 << 20})
  void aWriteWithoutRoomHoldsNothingAndOneThatLacksAFilterOnlyIsDone(int targetBytes) {
    tree = new ActiveTree(pool, KeyOrder.BYTES, targetBytes);
    byte[] value = new byte[120];
    int stored = 0;
    for (int i = 0; i < 600; i++) {
      int left = 1 + i / 100;
      leave(left);
      try {
        put(key(stored), 8 + 8L * stored, value);
        stored++;
      } catch (OutOfBudgetException e) {
        // The first split takes three pages, any other two.
        assertTrue(left < 3, () -> "a write has failed with room for it: " + e);
      }
      assertEquals(tree.bytesUsed(), pool.pages(Purpose.WRITE) * PAGE);
    }
    assertEquals(stored, tree.entries());
    new TreeCheck(pool, KeyOrder.BYTES).check(tree);
    assertTrue(stored > 400);
    for (int i = 0; i < stored; i++) {
      assertNotNull(get(key(i)), "key " + i);
    }
  }

  @Test
  void anEntryThatCannotBeReplacedStays() {
    byte[] key = key(1);
    put(key, 8, new byte[1500]);
    put(key, 8, new byte[1600]);
    leave(0);
    byte[] larger = new byte[1700];
    assertThrows(OutOfBudgetException.class, () -> put(key, 8, larger));
    assertArrayEquals(new byte[1600], get(key));
    leave(1);
    put(key, 8, larger);
    assertArrayEquals(larger, get(key));
  }
}
