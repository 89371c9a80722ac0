package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random operations on an {@link ActiveTree}, compared with a sorted map of all versions. */
@Tag("any-jdk")
class ActiveTreeModelTest {
  /** An order that is not that of the bytes, and total: shorter first, then reversed bytes. */
  static final KeyOrder BACKWARDS =
      new KeyOrder() {
        @Override
        public String name() {
          return "backwards";
        }

        @Override
        public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
          return Arrays.compareUnsigned(
              b, bOffset, bOffset + bLength, a, aOffset, aOffset + aLength);
        }
      };

  private static final byte[] DELETE = {};

  private record Version(byte[] key, long lsn) {}

  private static final class Model implements Visibility {
    final TreeMap<Version, byte[]> versions;
    final TreeSet<Long> snapshots = new TreeSet<>();
    final KeyOrder order;
    long visible = 8;

    Model(KeyOrder order) {
      this.order = order;
      this.versions = new TreeMap<>(this::compare);
    }

    private int compare(Version a, Version b) {
      int c = compareKeys(a.key, b.key);
      return c != 0 ? c : Long.compare(b.lsn, a.lsn);
    }

    int compareKeys(byte[] a, byte[] b) {
      return order.compare(a, 0, a.length, b, 0, b.length);
    }

    Map.@Nullable Entry<Version, byte[]> newest(byte[] key, long lsn) {
      Map.Entry<Version, byte[]> found = versions.ceilingEntry(new Version(key, lsn));
      return found != null && Arrays.equals(found.getKey().key, key) ? found : null;
    }

    @Override
    public long visible() {
      return visible;
    }

    @Override
    public long newestSnapshot() {
      return snapshots.isEmpty() ? -1 : snapshots.last();
    }
  }

  private final SplittableRandom seeds = new SplittableRandom(20261101);

  @ParameterizedTest
  @CsvSource({
    "4096, 0, true", "8192, 1, true", "16384, 2, true", "32768, 3, true", "65536, 1, true",
    "4096, 1, true", "4096, 2, true", "4096, 3, true", "8192, 2, true", "8192, 3, true",
    "4096, 0, false", "4096, 1, false", "4096, 2, false", "8192, 3, false", "4096, 3, false"
  })
  void answersAreThoseOfASortedMap(int pageSize, int keyStyle, boolean bytes) {
    for (int run = 0; run < 2; run++) {
      long seed = seeds.nextLong() + 31L * pageSize + 7L * keyStyle + run + (bytes ? 1 : 0);
      System.out.println("pages of " + pageSize + ", keys " + keyStyle + ", seed " + seed);
      run(pageSize, keyStyle, bytes ? KeyOrder.BYTES : BACKWARDS, new SplittableRandom(seed));
    }
  }

  private void run(int pageSize, int keyStyle, KeyOrder order, SplittableRandom random) {
    try (PagePool pool = new PagePool(96 << 20, pageSize, true)) {
      boolean crowded = random.nextBoolean();
      ActiveTree tree =
          crowded
              ? ActiveTrees.crowded(pool, order, 24 * pageSize)
              : new ActiveTree(pool, order, 24 * pageSize);
      Model model = new Model(order);
      List<byte[]> keys = new ArrayList<>();
      int distinct = 20 + random.nextInt(600);
      for (int i = 0; i < distinct; i++) {
        keys.add(key(keyStyle, tree.maxKeyBytes(), random));
      }
      int rounds = 40 + random.nextInt(160);
      for (int round = 0; round < rounds; round++) {
        putInFlight(tree, model, keys, pageSize, random);
        if (random.nextInt(20) == 0) {
          model.snapshots.add(model.visible);
        }
        if (random.nextInt(30) == 0 && !model.snapshots.isEmpty()) {
          model.snapshots.remove(model.snapshots.first());
        }
        byte[] key = keys.get(random.nextInt(keys.size()));
        checkAtAll(pool, tree, model, key);
        check(pool, tree, model, key, 8L * random.nextInt((int) (model.visible / 8)));
      }
      for (byte[] key : keys) {
        checkAtAll(pool, tree, model, key);
        check(pool, tree, model, key(keyStyle, tree.maxKeyBytes(), random), model.visible);
      }
      checkCursor(tree.cursor(Purpose.CURSOR, null, null, -1), tree, model, keys, random);
      // Once sealed it is read where it is, and takes no page for that.
      tree.sealedAt(model.visible + 1);
      long held = pool.allocatedBytes();
      EntryCursor inPlace = tree.cursor(Purpose.CURSOR, null, null, model.visible);
      assertEquals(held, pool.allocatedBytes(), "a page was taken");
      checkCursor(inPlace, tree, model, keys, random);
      tree.free();
    }
  }

  /** Trees with a few entries, on the heap or in a page by then. */
  @ParameterizedTest
  @CsvSource({"4096, 0, true", "8192, 1, true", "8192, 2, true", "4096, 3, true", "8192, 2, false"})
  void firstEntriesAnswerAsASortedMap(int pageSize, int keyStyle, boolean bytes) {
    long seed = seeds.nextLong();
    System.out.println("pages of " + pageSize + ", keys " + keyStyle + ", seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    KeyOrder order = bytes ? KeyOrder.BYTES : BACKWARDS;
    int onHeap = 0;
    try (PagePool pool = new PagePool(16 << 20, pageSize, true)) {
      for (int run = 0; run < 60; run++) {
        ActiveTree tree = ActiveTrees.crowded(pool, order, 24 * pageSize);
        Model model = new Model(order);
        List<byte[]> keys = new ArrayList<>();
        int distinct = 1 + random.nextInt(12);
        for (int i = 0; i < distinct; i++) {
          keys.add(key(keyStyle, tree.maxKeyBytes(), random));
        }
        for (int round = random.nextInt(4); round >= 0; round--) {
          putInFlight(tree, model, keys, pageSize, random);
          if (random.nextInt(3) == 0) {
            model.snapshots.add(model.visible);
          }
          keys.forEach(key -> checkAtAll(pool, tree, model, key));
          check(pool, tree, model, key(keyStyle, tree.maxKeyBytes(), random), model.visible);
          checkCursor(tree.cursor(Purpose.CURSOR, null, null, -1), tree, model, keys, random);
        }
        onHeap += tree.root() == PagePool.NONE ? 1 : 0;
        tree.sealedAt(model.visible + 1);
        EntryCursor sealed = tree.cursor(Purpose.MERGE, null, null, model.visible);
        checkCursor(sealed, tree, model, keys, random);
        tree.free();
      }
    }
    assertTrue(onHeap > 0, "each tree has a page");
  }

  /** A few versions whose LSNs come out of order, as from concurrent writers; then all visible. */
  private void putInFlight(
      ActiveTree tree, Model model, List<byte[]> keys, int pageSize, SplittableRandom random) {
    List<Long> lsns = new ArrayList<>();
    int inFlight = 1 + random.nextInt(12);
    for (int i = 1; i <= inFlight; i++) {
      lsns.add(model.visible + 8L * i);
    }
    for (int i = lsns.size() - 1; i > 0; i--) {
      Collections.swap(lsns, i, random.nextInt(i + 1));
    }
    int hot = random.nextInt(keys.size());
    for (long lsn : lsns) {
      byte[] key = random.nextInt(4) == 0 ? keys.get(hot) : keys.get(random.nextInt(keys.size()));
      put(tree, model, key, lsn, pageSize, random);
      if (random.nextInt(6) == 0) {
        put(tree, model, key, lsn, pageSize, random);
      }
    }
    model.visible += 8L * inFlight;
    if (random.nextInt(8) == 0) {
      new TreeCheck(tree.pool, model.order).check(tree);
    }
  }

  private void put(
      ActiveTree tree, Model model, byte[] key, long lsn, int pageSize, SplittableRandom random) {
    long hash = KeyHash.hash(key, 0, key.length);
    byte[] padded = new byte[key.length + 5];
    System.arraycopy(key, 0, padded, 3, key.length);
    if (random.nextInt(8) == 0) {
      tree.put(
          new Write().of(Kind.DELETE, padded, 3, key.length).value(key, 0, 0).at(lsn).hashed(),
          model);
      model.versions.put(new Version(key, lsn), DELETE);
      return;
    }
    int length =
        switch (random.nextInt(12)) {
          case 0 -> 0;
          case 1 -> random.nextInt(3 * pageSize);
          case 2 -> random.nextInt(pageSize / 2);
          case 3, 4, 5 -> 100;
          default -> random.nextInt(200);
        };
    byte[] value = new byte[length + 2];
    random.nextBytes(value);
    byte[] stored = Arrays.copyOfRange(value, 1, length + 1);
    if (tree.fitsInline(key.length, length)) {
      tree.put(
          new Write().of(Kind.PUT, padded, 3, key.length).value(value, 1, length).at(lsn).hashed(),
          model);
    } else {
      Write write =
          new Write().of(Kind.PUT, padded, 3, key.length).value(value, 1, length).at(lsn).hashed();
      tree.writeOverflow(write);
      tree.put(write, model);
    }
    model.versions.put(new Version(key, lsn), length == 0 ? new byte[0] : stored);
  }

  private static byte[] key(int style, int max, SplittableRandom random) {
    byte[] key =
        switch (style) {
          case 0 -> new byte[random.nextInt(4)];
          case 1 -> new byte[16];
          case 2 -> ("user62847818606" + random.nextInt(100_000)).getBytes();
          default -> new byte[random.nextInt(3) == 0 ? max : random.nextInt(max + 1)];
        };
    if (style == 0 || style == 1) {
      random.nextBytes(key);
    } else if (style == 3) {
      // A long shared stem, with the difference anywhere.
      Arrays.fill(key, (byte) 'x');
      for (int i = 0; i < 3 && key.length > 0; i++) {
        key[random.nextInt(key.length)] = (byte) random.nextInt();
      }
    }
    return key;
  }

  /** Now, and as of each snapshot. */
  private void checkAtAll(PagePool pool, ActiveTree tree, Model model, byte[] key) {
    check(pool, tree, model, key, model.visible);
    for (long snapshot : model.snapshots) {
      check(pool, tree, model, key, snapshot);
    }
  }

  private void check(PagePool pool, ActiveTree tree, Model model, byte[] key, long lsn) {
    long hash = KeyHash.hash(key, 0, key.length);
    boolean mayBeLate = lsn < model.visible && !model.snapshots.contains(lsn);
    Map.Entry<Version, byte[]> expected = model.newest(key, lsn);
    int epoch = pool.epochs().enter();
    try {
      byte[] got = ActiveTrees.get(tree, key, lsn);
      ByteBuffer target = ByteBuffer.allocateDirect(4 * pool.pageSize());
      target.position(5);
      int length = tree.find(key, ActiveTrees.probe(hash, lsn, target));
      if (mayBeLate && got == ActiveTrees.RETRY_VALUE) {
        assertEquals(Probe.RETRY, length);
      } else if (expected == null) {
        assertNull(got);
        assertEquals(Probe.ABSENT, length);
      } else if (expected.getValue() == DELETE) {
        assertSame(ActiveTrees.DELETED_VALUE, got);
        assertEquals(Probe.DELETED, length);
      } else {
        assertArrayEquals(expected.getValue(), got);
        assertEquals(expected.getValue().length, length);
        byte[] copied = new byte[length];
        target.get(5, copied);
        assertArrayEquals(expected.getValue(), copied);
        assertEquals(
            length, tree.find(key, ActiveTrees.probe(hash, lsn, ByteBuffer.allocate(length / 2))));
      }
    } finally {
      pool.epochs().exit(epoch);
    }
  }

  private void checkCursor(
      EntryCursor checked,
      ActiveTree tree,
      Model model,
      List<byte[]> keys,
      SplittableRandom random) {
    List<Version> seen = new ArrayList<>();
    try (EntryCursor cursor = checked) {
      for (boolean on = cursor.first(); on; on = cursor.next()) {
        Version version = current(cursor);
        if (!seen.isEmpty()) {
          assertTrue(model.compare(seen.get(seen.size() - 1), version) < 0, "order");
        }
        seen.add(version);
        byte[] value = model.versions.get(version);
        assertEquals(value == DELETE, cursor.kind() == Kind.DELETE);
        assertEquals(value.length, cursor.valueLength());
        int from = random.nextInt(value.length + 1);
        ByteBuffer part = ByteBuffer.allocate(value.length - from);
        cursor.copyValue(from, part, 0, part.capacity());
        assertArrayEquals(Arrays.copyOfRange(value, from, value.length), part.array());
      }
      assertEquals(seen.size(), tree.entries());
      TreeSet<Version> present = new TreeSet<>(model::compare);
      present.addAll(seen);
      List<Long> lsns = new ArrayList<>(model.snapshots);
      lsns.add(model.visible);
      for (byte[] key : keys) {
        for (long lsn : lsns) {
          Map.Entry<Version, byte[]> needed = model.newest(key, lsn);
          assertTrue(needed == null || present.contains(needed.getKey()), "a version is gone");
        }
      }
      List<Version> back = new ArrayList<>();
      for (boolean on = cursor.last(); on; on = cursor.previous()) {
        back.add(0, current(cursor));
      }
      assertEquals(seen.size(), back.size());
      for (int i = 0; i < seen.size(); i++) {
        assertEquals(0, model.compare(seen.get(i), back.get(i)));
      }
      for (int i = 0; i < 200; i++) {
        byte[] key = keys.get(random.nextInt(keys.size()));
        if (random.nextInt(3) == 0) {
          key = Arrays.copyOf(key, random.nextInt(key.length + 1));
        }
        long lsn = random.nextBoolean() ? Long.MAX_VALUE : 8L * random.nextInt(3000);
        Version from = present.ceiling(new Version(key, Math.min(lsn, Long.MAX_VALUE)));
        if (random.nextBoolean()) {
          // What was found for another place is of no use.
          byte[] near = random.nextInt(4) == 0 ? keys.get(random.nextInt(keys.size())) : key;
          cursor.approach(near, 0, near.length, random.nextInt(4) == 0 ? 0 : lsn);
          cursor.fetch();
        }
        assertStands(model, from, cursor.seek(key, 0, key.length, lsn), cursor);
        if (from != null) {
          Version before = present.lower(from);
          assertStands(model, before, cursor.previous(), cursor);
        }
        Version below = present.lower(new Version(key, Long.MAX_VALUE));
        assertStands(model, below, cursor.seekBefore(key, 0, key.length), cursor);
        if (below != null) {
          assertStands(model, present.higher(below), cursor.next(), cursor);
        }
      }
      if (model.order.isBytes() && !present.isEmpty()) {
        checkBoundedSeeks((LeafCursor) cursor, model, present, random);
      }
    }
  }

  /** A seek finds what is before the bound; it need not find what is not. */
  private static void checkBoundedSeeks(
      LeafCursor cursor, Model model, TreeSet<Version> present, SplittableRandom random) {
    List<Version> all = new ArrayList<>(present);
    for (int i = 0; i < 400; i++) {
      int at = random.nextInt(all.size());
      byte[] key = all.get(at).key;
      // Right behind an entry, which may be the last one of its leaf.
      byte[] sought = random.nextInt(4) == 0 ? key : Arrays.copyOf(key, key.length + 1);
      byte[] bound = all.get(Math.min(at + random.nextInt(6), all.size() - 1)).key;
      cursor.endBefore(bound);
      Version expected = present.ceiling(new Version(sought, Long.MAX_VALUE));
      boolean on = cursor.seek(sought, 0, sought.length, Long.MAX_VALUE);
      if (on) {
        assertStands(model, expected, true, cursor);
      } else {
        assertTrue(expected == null || model.compareKeys(expected.key, bound) >= 0, "passed over");
      }
    }
    cursor.endBefore(null);
    assertStands(model, present.first(), cursor.first(), cursor);
    assertStands(model, present.last(), cursor.last(), cursor);
  }

  private static Version current(EntryCursor cursor) {
    return new Version(Arrays.copyOf(cursor.key(), cursor.keyLength()), cursor.lsn());
  }

  private static void assertStands(
      Model model, @Nullable Version expected, boolean on, EntryCursor cursor) {
    assertEquals(expected != null, on);
    assertEquals(on, cursor.valid());
    if (expected != null) {
      assertEquals(0, model.compare(expected, current(cursor)));
    }
  }

  @Test
  void anEmptyTreeHoldsNothingAndAnswers() {
    try (PagePool pool = new PagePool(1 << 20, 8192, true)) {
      ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 4 << 20);
      assertEquals(0, tree.bytesUsed());
      assertEquals(0, pool.allocatedBytes());
      assertNull(ActiveTrees.get(tree, new byte[1], 100));
      assertEquals(0, tree.entries());
      assertEquals(Long.MAX_VALUE, tree.minLsn());
      try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, -1)) {
        assertFalse(cursor.first());
        assertFalse(cursor.last());
        assertFalse(cursor.seek(new byte[1], 0, 1, 5));
        assertFalse(cursor.seekBefore(new byte[1], 0, 1));
      }
      tree.free();
      tree.free();
    }
  }
}
