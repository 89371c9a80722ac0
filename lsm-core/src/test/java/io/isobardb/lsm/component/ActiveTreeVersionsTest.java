package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which versions are dropped, who is told to come again, and what happens without memory. */
class ActiveTreeVersionsTest {
  private static final byte[] KEY = "user6284781860667377211".getBytes();

  private final PagePool pool = new PagePool(16 << 20, 4096, true);
  private ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20);
  private final GivenVisibility visibility = GivenVisibility.upTo(0);

  @AfterEach
  void nothingLeaks() {
    tree.free();
    pool.close();
  }

  private void put(byte[] key, long lsn, byte[] value) {
    Write write = write(Kind.PUT, key, lsn, value);
    if (!tree.fitsInline(key.length, value.length)) {
      tree.writeOverflow(write);
    }
    tree.put(write, visibility);
  }

  private static Write write(int kind, byte[] key, long lsn, byte[] value) {
    return new Write().of(kind, key, 0, key.length).value(value, 0, value.length).at(lsn).hashed();
  }

  private void put(long lsn) {
    put(KEY, lsn, value(lsn));
  }

  private static byte[] value(long lsn) {
    return ByteBuffer.allocate(100).putLong(lsn).array();
  }

  private byte @Nullable [] get(byte[] key, long lsn) {
    int epoch = pool.epochs().enter();
    try {
      return ActiveTrees.get(tree, key, lsn);
    } finally {
      pool.epochs().exit(epoch);
    }
  }

  @Test
  void aCursorTakesAPageOnceThereIsSomethingToCopy() {
    long held = pool.allocatedBytes();
    try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, 0)) {
      assertFalse(cursor.first());
      assertFalse(cursor.seekBefore(KEY, 0, KEY.length));
      assertEquals(held, pool.allocatedBytes());
      put(8);
      assertTrue(cursor.seek(KEY, 0, KEY.length, 8));
      assertArrayEquals(KEY, Arrays.copyOf(cursor.key(), cursor.keyLength()));
    }
  }

  @Test
  void aHotKeyKeepsTwoVersionsInOnePage() {
    for (long lsn = 8; lsn <= 80_000; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
    }
    assertEquals(2, tree.entries());
    assertEquals(4096, tree.bytesUsed());
    assertArrayEquals(value(80_000), get(KEY, visibility.visible));
    assertEquals(8, tree.minLsn());
  }

  @Test
  void aHotKeyWithValuesOfChangingSizeStaysSmall() {
    for (long lsn = 8; lsn <= 16_000; lsn += 8) {
      byte[] value = new byte[(int) (lsn * 7919 % 9000)];
      put(KEY, lsn, value);
      visibility.visible = lsn;
      assertEquals(value.length, get(KEY, lsn).length);
    }
    assertTrue(tree.entries() <= 2, "versions");
    assertTrue(tree.bytesUsed() <= 12 * 4096, "bytes used: " + tree.bytesUsed());
  }

  @Test
  void aTreeOfFewPagesHasNoFilterAndALargerOneHas() {
    int asked = 1000;
    int passed = asked;
    for (int i = 0; passed == asked; i++) {
      put(("key" + i * 7919).getBytes(), 8L * (i + 1), new byte[200]);
      passed = 0;
      for (int absent = 0; absent < asked; absent++) {
        byte[] key = ("absent" + absent).getBytes();
        passed += tree.mayContain(KeyHash.hash(key, 0, key.length)) ? 1 : 0;
      }
      assertTrue(tree.bytesUsed() <= 64 * 4096, "no filter at " + tree.bytesUsed() + " bytes");
    }
    assertTrue(tree.bytesUsed() >= 16 * 4096, "a filter at " + tree.bytesUsed() + " bytes");
    assertTrue(passed < asked / 10, passed + " of " + asked + " absent keys passed");
  }

  @Test
  void whatASnapshotSeesStaysAndWhatLiesBetweenGoes() {
    for (long lsn = 8; lsn <= 800; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
      visibility.newestSnapshot = lsn >= 400 ? 400 : lsn >= 200 ? 200 : -1;
    }
    assertArrayEquals(value(200), get(KEY, 200));
    assertArrayEquals(value(400), get(KEY, 400));
    assertArrayEquals(value(800), get(KEY, 800));
    // 200, 208 to 400 (a snapshot taken later saw the newest of them), 792 and 800.
    assertTrue(tree.entries() <= 6, "versions: " + tree.entries());
  }

  @Test
  void aReaderThatCameTooLateIsToldToComeAgain() {
    put(8);
    visibility.visible = 8;
    put(16);
    visibility.visible = 16;
    put(24);
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 8));
    assertEquals(
        Probe.RETRY,
        tree.find(
            KEY, ActiveTrees.probe(KeyHash.hash(KEY, 0, KEY.length), 8, ByteBuffer.allocate(0))));
    assertArrayEquals(value(16), get(KEY, 16));
  }

  @Test
  void aLateReaderIsNotGivenAnOlderVersionThatASnapshotKeeps() {
    put(8);
    visibility.visible = 8;
    visibility.newestSnapshot = 8;
    for (long lsn = 16; lsn <= 40; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
    }
    // 16 and 24 are gone, 8 is not.
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 16));
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 24));
    assertArrayEquals(value(8), get(KEY, 8));
    assertArrayEquals(value(40), get(KEY, 40));
  }

  @Test
  void aKeyThatIsOnlyNewerIsAbsentWhereAnotherWasPruned() {
    for (long lsn = 8; lsn <= 80; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
    }
    byte[] other = "user6284781860667377212".getBytes();
    put(other, 88, value(88));
    assertNull(get(other, 80));
    visibility.visible = 88;
    assertArrayEquals(value(88), get(other, 88));
    assertNull(get(other, 40));
  }

  @Test
  void versionsOfOneKeyFillManyLeaves() {
    for (long lsn = 8; lsn <= 16_000; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
      visibility.newestSnapshot = lsn;
    }
    assertEquals(2000, tree.entries());
    for (long lsn = 8; lsn <= 16_000; lsn += 8) {
      assertArrayEquals(value(lsn), get(KEY, lsn));
    }
    // The snapshots go: the next puts prune; late readers are told so, whichever leaf they end in.
    visibility.newestSnapshot = -1;
    for (long lsn = 16_008; lsn <= 16_400; lsn += 8) {
      put(lsn);
      visibility.visible = lsn;
    }
    for (long lsn = 8; lsn <= 16_400; lsn += 8) {
      byte[] got = get(KEY, lsn);
      if (got != ActiveTrees.RETRY_VALUE) {
        assertArrayEquals(value(lsn), got);
      }
    }
    new TreeCheck(pool, KeyOrder.BYTES).check(tree);
  }

  @Test
  void theLaterOfTwoEqualVersionsReplacesTheEarlier() {
    byte[] large = new byte[1200];
    put(KEY, 8, value(1));
    put(KEY, 8, value(2));
    put(KEY, 8, large);
    put(KEY, 8, new byte[1900]);
    put(KEY, 8, new byte[10_000]);
    put(KEY, 8, value(3));
    assertEquals(1, tree.entries());
    visibility.visible = 8;
    assertArrayEquals(value(3), get(KEY, 8));
  }

  @Test
  void keysThatAreOverwrittenAllTakeLittleMoreThanOnce() {
    int keys = 1000;
    long lsn = 0;
    long once = 0;
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < keys; i++) {
        lsn += 8;
        put(other(i * 389 % keys), lsn, value(lsn));
        visibility.visible = lsn;
      }
      once = round == 0 ? tree.bytesUsed() : once;
    }
    assertTrue(tree.bytesUsed() <= once * 3 / 2, once + " to " + tree.bytesUsed() + " bytes");
    assertTrue(tree.entries() < keys * 8 / 5, "versions: " + tree.entries());
    new TreeCheck(pool, KeyOrder.BYTES).check(tree);
  }

  @Test
  void whatASnapshotSeesStaysThoughOtherKeysNeedTheRoom() {
    put(8);
    visibility.visible = 8;
    visibility.newestSnapshot = 8;
    for (long lsn = 16; lsn <= 32; lsn += 8) {
      put(lsn);
    }
    visibility.visible = 32;
    assertArrayEquals(value(24), get(KEY, 24));
    overwriteOthers();
    assertArrayEquals(value(8), get(KEY, 8));
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 16));
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 24));
    assertArrayEquals(value(32), get(KEY, 32));
    visibility.newestSnapshot = -1;
    overwriteOthers();
    assertSame(ActiveTrees.RETRY_VALUE, get(KEY, 8));
    assertArrayEquals(value(32), get(KEY, visibility.visible));
  }

  @Test
  void whatIsNotVisibleYetTakesNothingAway() {
    put(8);
    visibility.visible = 8;
    put(1 << 20);
    overwriteOthers();
    assertArrayEquals(value(8), get(KEY, visibility.visible));
  }

  @Test
  void whatOperandsNeedStaysThoughOtherKeysNeedTheRoom() {
    put(8);
    for (long lsn = 16; lsn <= 24; lsn += 8) {
      tree.put(write(Kind.MERGE, KEY, lsn, value(lsn)), visibility);
    }
    visibility.visible = 24;
    overwriteOthers();
    assertEquals(3, ActiveTrees.versions(tree, KEY, visibility.visible));
  }

  /** Writes keys behind {@link #KEY} again and again, beginning in its leaf. */
  private void overwriteOthers() {
    long lsn = visibility.visible;
    for (int i = 0; i < 400; i++) {
      lsn += 8;
      put(other(i % 20), lsn, value(lsn));
      visibility.visible = lsn;
    }
  }

  private static byte[] other(int i) {
    return ("user6284781860667377211-" + (1000 + i)).getBytes();
  }

  @Test
  void ascendingKeysFillTheirLeaves() {
    byte[] value = new byte[100];
    for (int i = 0; i < 4000; i++) {
      put(ByteBuffer.allocate(16).putLong(8, i).array(), 8 + 8L * i, value);
    }
    long perEntry = tree.bytesUsed() / 4000;
    assertTrue(perEntry < 165, "bytes per entry: " + perEntry);
    new TreeCheck(pool, KeyOrder.BYTES).check(tree);
  }

  @Test
  void aTreeWithoutMemoryThrowsAndIsAsItWas() {
    int held = 0;
    int[] hog = new int[8192];
    byte[] value = new byte[120];
    int stored = 0;
    for (int left = 0; left < 60; left++) {
      while (true) {
        int page = pool.allocate(Purpose.CACHE);
        if (page == PagePool.NONE) {
          break;
        }
        hog[held++] = page;
      }
      for (int i = 0; i < left && held > 0; i++) {
        pool.release(hog[--held], Purpose.CACHE);
      }
      try {
        while (true) {
          byte[] key = key(stored);
          put(key, 8 + 8L * stored, value);
          stored++;
        }
      } catch (OutOfBudgetException e) {
        new TreeCheck(pool, KeyOrder.BYTES).check(tree);
        assertEquals(stored, tree.entries());
      }
    }
    assertTrue(stored > 1000);
    for (int i = 0; i < stored; i++) {
      assertArrayEquals(value, get(key(i), Long.MAX_VALUE));
    }
    assertNull(get(key(stored), Long.MAX_VALUE));
    assertThrows(
        OutOfBudgetException.class,
        () -> tree.writeOverflow(new Write().value(new byte[1 << 20], 0, 1 << 20)));
    for (int i = 0; i < held; i++) {
      pool.release(hog[i], Purpose.CACHE);
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(16).putLong(i * 0x9E3779B97F4A7C15L).putLong(i).array();
  }

  /** The second tree grows to ten times the size that it is full at, and has more filters then. */
  @ParameterizedTest
  @ValueSource(ints = {1 << 20, 64 << 10})
  void theFilterKnowsAllKeysAndFewOthers(int targetBytes) {
    tree = new ActiveTree(pool, KeyOrder.BYTES, targetBytes);
    int count = 5000;
    for (int i = 0; i < count; i++) {
      put(key(i), 8 + 8L * i, value(i));
    }
    int passed = 0;
    for (int i = 0; i < 2 * count; i++) {
      byte[] key = key(i);
      boolean may = tree.mayContain(KeyHash.hash(key, 0, key.length));
      assertTrue(may || i >= count, "a key the filter does not know");
      passed += may && i >= count ? 1 : 0;
    }
    assertTrue(passed < count / 50, "false positives: " + passed);
  }

  @Test
  void whatIsTooLargeIsRefused() {
    byte[] large = new byte[4096];
    assertThrows(
        IllegalArgumentException.class,
        () ->
            tree.put(
                new Write().of(Kind.DELETE, large, 0, 1025).value(large, 0, 0).at(8).hashed(),
                visibility));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            tree.put(
                new Write().of(Kind.PUT, KEY, 0, 5).value(large, 0, 4000).at(8).hashed(),
                visibility));
    assertEquals(0, tree.bytesUsed());
  }

  @Test
  void aChainThatWasNotPutIsFreed() {
    Write write = new Write().value(new byte[20_000], 0, 20_000);
    tree.writeOverflow(write);
    assertEquals(5, pool.pages(Purpose.WRITE));
    tree.freeOverflow(write.takeOverflow());
    assertEquals(0, pool.pages(Purpose.WRITE));
  }
}
