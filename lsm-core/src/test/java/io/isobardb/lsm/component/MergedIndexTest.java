package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.state.Range;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.ShortSystem;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An index over sealed active SSTables answers as they do, asked one after another. */
@Tag("any-jdk")
class MergedIndexTest {
  private static final long SEED = Long.getLong("isobar.mergedIndex.seed", 20261121);

  private record Entry(byte[] key, long lsn, int kind, byte[] value) {
    boolean sameAs(Entry other) {
      return Arrays.equals(key, other.key)
          && lsn == other.lsn
          && kind == other.kind
          && Arrays.equals(value, other.value);
    }
  }

  private final SplittableRandom random = new SplittableRandom(SEED);

  /** Writers' view: everything older than the last tree's last entry is visible. */
  private final GivenVisibility visibility = GivenVisibility.upTo(8);

  private final List<byte[]> keys = new ArrayList<>();
  private final List<Long> snapshots = new ArrayList<>();

  /** Newest first. */
  private final List<WrittenEntries> sealed = new ArrayList<>();

  @ParameterizedTest
  @CsvSource({
    "4096, 0, true",
    "4096, 1, true",
    "8192, 2, true",
    "65536, 1, true",
    "4096, 3, true",
    "4096, 1, false",
    "8192, 3, false"
  })
  void answersAndCursorsAreThoseOfItsInputs(int pageSize, int keyStyle, boolean bytes) {
    System.out.println("seed " + SEED);
    KeyOrder order = bytes ? KeyOrder.BYTES : ActiveTreeModelTest.BACKWARDS;
    try (PagePool pool = new PagePool(96 << 20, pageSize, true)) {
      for (int i = 0; i < 400; i++) {
        keys.add(key(keyStyle, pageSize));
      }
      for (int merge = 0; merge < 4; merge++) {
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
          sealed.add(0, tree(pool, order, 400 + random.nextInt(1000)));
        }
        List<Entry> entries = entries(cursor(order, runs(order)), false);
        int[][] answers = answers(pool, sealed);
        MergedIndex index = merge(pool, order, runs(order));
        assertEquals(entries.size(), index.entries());
        assertEquals(
            sealed.stream().mapToLong(WrittenEntries::minLsn).min().orElseThrow(), index.minLsn());
        sealed.forEach(WrittenEntries::free);
        sealed.clear();
        sealed.add(index);
        settle(pool);
        assertEquals(index.bytesUsed(), pool.pages(Purpose.WRITE) * pageSize);
        assertEquals(0, pool.pages(Purpose.MERGE));
        assertArrayEquals(answers, answers(pool, sealed));
        same(entries, entries(index.cursor(Purpose.MERGE, null, null, -1), false));
        same(entries, entries(index.cursor(Purpose.MERGE, null, null, -1), true));
        seeks(index, entries, order);
      }
      sealed.forEach(WrittenEntries::free);
      settle(pool);
      assertEquals(0, pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void whatWasFlushedOfItsInputsIsNotInItAndNotFreedTwice() {
    try (PagePool pool = new PagePool(96 << 20, 4096, true)) {
      for (int i = 0; i < 400; i++) {
        keys.add(key(2, 4096));
      }
      ActiveTree oldest = tree(pool, KeyOrder.BYTES, 3000);
      ActiveTree newest = tree(pool, KeyOrder.BYTES, 3000);
      List<byte[]> sorted = new ArrayList<>(keys);
      sorted.sort(Arrays::compareUnsigned);
      byte[] middle = sorted.get(sorted.size() / 2);
      Range flushed = new Range(null, middle);
      List<Run> runs = new ArrayList<>();
      for (ActiveTree tree : List.of(newest, oldest)) {
        Run all = Run.of(KeyOrder.BYTES, new Table.Active(tree, new Table.StartLsn(1)));
        runs.add(all.without(flushed));
      }
      oldest.releaseRange(null, middle);
      List<Entry> entries = entries(cursor(KeyOrder.BYTES, runs), false);
      sealed.addAll(List.of(newest, oldest));
      MergedIndex index = merge(pool, KeyOrder.BYTES, runs);
      // The state that this was flushed from was still in use.
      newest.releaseRange(null, middle);
      newest.free();
      oldest.free();
      settle(pool);
      same(entries, entries(index.cursor(Purpose.MERGE, null, null, -1), false));
      assertTrue(entries.stream().allMatch(e -> Arrays.compareUnsigned(e.key, middle) > 0));
      assertEquals(index.bytesUsed(), pool.pages(Purpose.WRITE) * 4096);
      index.free();
      index.free();
      settle(pool);
      assertEquals(0, pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void aMergeThatIsGivenUpLeavesItsInputsAsTheyWere() {
    try (PagePool pool = new PagePool(8 << 20, 4096, true)) {
      for (int i = 0; i < 200; i++) {
        keys.add(key(1, 4096));
      }
      sealed.add(tree(pool, KeyOrder.BYTES, 3000));
      int[][] answers = answers(pool, sealed);
      List<Integer> taken = new ArrayList<>();
      long held = pool.pages(Purpose.WRITE);
      IndexMerge merge =
          new IndexMerge(
              pool,
              KeyOrder.BYTES,
              List.copyOf(sealed),
              cursor(KeyOrder.BYTES, runs(KeyOrder.BYTES)));
      assertTrue(merge.step(2000));
      for (int p = pool.allocate(Purpose.METADATA); p != PagePool.NONE; ) {
        taken.add(p);
        p = pool.allocate(Purpose.METADATA);
      }
      assertThrows(OutOfBudgetException.class, () -> merge.step(Integer.MAX_VALUE));
      merge.close();
      merge.close();
      taken.forEach(page -> pool.release(page, Purpose.METADATA));
      settle(pool);
      assertEquals(held, pool.pages(Purpose.WRITE));
      assertArrayEquals(answers, answers(pool, sealed));
      sealed.forEach(WrittenEntries::free);
      settle(pool);
      assertEquals(0, pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void aMergeDoesWithoutAFilterThatTheSystemHasNoMemoryFor() {
    try (PagePool pool = ShortSystem.pool(8 << 20, 4096, 8)) {
      for (int i = 0; i < 200; i++) {
        keys.add(key(1, 4096));
      }
      sealed.add(tree(pool, KeyOrder.BYTES, 1000));
      int[][] answers = answers(pool, sealed);
      List<Integer> taken = new ArrayList<>();
      for (int p = pool.tryAllocate(Purpose.METADATA); p != PagePool.NONE; ) {
        taken.add(p);
        p = pool.tryAllocate(Purpose.METADATA);
      }
      // For the cursor's copy of a leaf.
      pool.release(taken.remove(0), Purpose.METADATA);
      MergingCursor source = cursor(KeyOrder.BYTES, runs(KeyOrder.BYTES));
      IndexMerge merge = new IndexMerge(pool, KeyOrder.BYTES, List.copyOf(sealed), source);
      taken.forEach(page -> pool.release(page, Purpose.METADATA));
      while (merge.step(5000)) {
        assertTrue(pool.pages(Purpose.WRITE) > 0);
      }
      MergedIndex index = merge.finish();
      assertArrayEquals(answers, answers(pool, List.of(index)));
      sealed.forEach(WrittenEntries::free);
      index.free();
    }
  }

  @Test
  void leavesAreHandedOverOnce() {
    try (PagePool pool = new PagePool(8 << 20, 4096, true)) {
      keys.add(new byte[] {1});
      ActiveTree tree = tree(pool, KeyOrder.BYTES, 10);
      sealed.add(tree);
      MergedIndex index = merge(pool, KeyOrder.BYTES, runs(KeyOrder.BYTES));
      assertThrows(IllegalStateException.class, tree::handOver);
      assertEquals(0, tree.entries());
      sealed.set(0, index);
      MergedIndex next = merge(pool, KeyOrder.BYTES, runs(KeyOrder.BYTES));
      assertThrows(IllegalStateException.class, index::handOver);
      tree.free();
      index.free();
      next.free();
    }
  }

  private ActiveTree tree(PagePool pool, KeyOrder order, int writes) {
    ActiveTree tree = new ActiveTree(pool, order, 32L * pool.pageSize());
    for (int i = 0; i < writes; i++) {
      long lsn = visibility.visible + 8;
      byte[] key = keys.get(random.nextInt(1 + random.nextInt(keys.size())));
      long hash = KeyHash.hash(key, 0, key.length);
      int length = random.nextInt(40) == 0 ? random.nextInt(3 * pool.pageSize()) : 60;
      byte[] value = new byte[length];
      random.nextBytes(value);
      if (random.nextInt(8) == 0) {
        tree.put(
            new Write().of(Kind.DELETE, key, 0, key.length).value(key, 0, 0).at(lsn).hashed(),
            visibility);
      } else if (tree.fitsInline(key.length, length)) {
        tree.put(
            new Write().of(Kind.PUT, key, 0, key.length).value(value, 0, length).at(lsn).hashed(),
            visibility);
      } else {
        Write write =
            new Write().of(Kind.PUT, key, 0, key.length).value(value, 0, length).at(lsn).hashed();
        tree.writeOverflow(write);
        tree.put(write, visibility);
      }
      visibility.visible = lsn;
      if (random.nextInt(300) == 0) {
        visibility.newestSnapshot = lsn;
        snapshots.add(lsn);
      }
    }
    return tree;
  }

  private byte[] key(int style, int pageSize) {
    byte[] key =
        switch (style) {
          case 0 -> new byte[random.nextInt(3)];
          case 1 -> new byte[16];
          case 2 -> ("user62847818606" + random.nextInt(100_000)).getBytes();
          default -> new byte[random.nextInt(pageSize / 8)];
        };
    if (style < 2) {
      random.nextBytes(key);
    } else if (style == 3) {
      // A long shared stem, with the difference behind the head.
      Arrays.fill(key, (byte) 'x');
      for (int i = 0; i < 3 && key.length > 0; i++) {
        key[random.nextInt(key.length)] = (byte) random.nextInt();
      }
    }
    return key;
  }

  private List<Run> runs(KeyOrder order) {
    List<Run> runs = new ArrayList<>();
    for (WrittenEntries content : sealed) {
      runs.add(
          Run.of(
              order,
              content instanceof ActiveTree tree
                  ? new Table.Active(tree, new Table.StartLsn(1))
                  : new Table.Indexed((MergedIndex) content)));
    }
    return runs;
  }

  private static MergingCursor cursor(KeyOrder order, List<Run> runs) {
    EntryCursor[] sources = new EntryCursor[runs.size()];
    for (int i = 0; i < sources.length; i++) {
      sources[i] = new RunCursor(order, runs.get(i), table -> table.cursor(Access.MERGE, -1));
    }
    return new MergingCursor(order, sources);
  }

  private MergedIndex merge(PagePool pool, KeyOrder order, List<Run> runs) {
    try (IndexMerge merge = new IndexMerge(pool, order, List.copyOf(sealed), cursor(order, runs))) {
      while (merge.step(5000)) {
        assertTrue(pool.pages(Purpose.WRITE) > 0);
      }
      return merge.finish();
    }
  }

  private static void settle(PagePool pool) {
    // Frees what was retired: nobody reads.
    pool.setLimit(pool.limitBytes());
  }

  private List<Entry> entries(EntryCursor cursor, boolean backward) {
    List<Entry> entries = new ArrayList<>();
    try (cursor) {
      for (boolean on = backward ? cursor.last() : cursor.first();
          on;
          on = backward ? cursor.previous() : cursor.next()) {
        entries.add(backward ? 0 : entries.size(), entry(cursor));
      }
    }
    return entries;
  }

  private static Entry entry(EntryCursor cursor) {
    ByteBuffer value = ByteBuffer.allocate(cursor.valueLength());
    cursor.copyValue(0, value, 0, value.capacity());
    return new Entry(
        Arrays.copyOf(cursor.key(), cursor.keyLength()),
        cursor.lsn(),
        cursor.kind(),
        value.array());
  }

  private static void same(List<Entry> expected, List<Entry> seen) {
    assertEquals(expected.size(), seen.size());
    for (int i = 0; i < seen.size(); i++) {
      assertTrue(expected.get(i).sameAs(seen.get(i)), "entry " + i);
    }
  }

  /** Seeks, compared with a walk through all entries. */
  private void seeks(MergedIndex index, List<Entry> entries, KeyOrder order) {
    try (EntryCursor cursor = index.cursor(Purpose.CURSOR, null, null, -1)) {
      for (int i = 0; i < 80; i++) {
        byte[] picked = keys.get(random.nextInt(keys.size()));
        byte[] key =
            random.nextInt(3) == 0
                ? Arrays.copyOf(picked, random.nextInt(picked.length + 2))
                : picked;
        long lsn =
            random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextLong(visibility.visible) - 1;
        int from = 0;
        int below = 0;
        for (Entry entry : entries) {
          int c = order.compare(entry.key, 0, entry.key.length, key, 0, key.length);
          from += c < 0 || c == 0 && entry.lsn > lsn ? 1 : 0;
          below += c < 0 ? 1 : 0;
        }
        assertEquals(from < entries.size(), cursor.seek(key, 0, key.length, lsn));
        if (from < entries.size()) {
          assertTrue(entries.get(from).sameAs(entry(cursor)));
          assertEquals(from > 0, cursor.previous());
        }
        assertEquals(below > 0, cursor.seekBefore(key, 0, key.length));
        if (below > 0) {
          assertTrue(entries.get(below - 1).sameAs(entry(cursor)));
          assertEquals(below < entries.size(), cursor.next());
        } else {
          assertFalse(cursor.valid());
        }
      }
    }
  }

  /** Length and sum, and newest LSN, of each key: at the end, at the snapshots and at any LSN. */
  private int[][] answers(PagePool pool, List<WrittenEntries> components) {
    SplittableRandom lsns = new SplittableRandom(SEED + visibility.visible);
    int[][] answers = new int[keys.size() + 50][];
    ByteBuffer target = ByteBuffer.allocate(4 * pool.pageSize()).position(3);
    for (int k = 0; k < answers.length; k++) {
      byte[] key = k < keys.size() ? keys.get(k) : ("none " + k).getBytes();
      List<Long> at = new ArrayList<>(snapshots);
      at.add(visibility.visible);
      at.add(8 * lsns.nextLong(visibility.visible / 8));
      at.add(8 * lsns.nextLong(visibility.visible / 8));
      int[] answer = new int[2 * at.size() + 1];
      long hash = KeyHash.hash(key, 0, key.length);
      int epoch = pool.epochs().enter();
      try {
        for (int i = 0; i < at.size(); i++) {
          int found = Probe.ABSENT;
          for (int c = 0; c < components.size() && found == Probe.ABSENT; c++) {
            found = components.get(c).find(key, ActiveTrees.probe(hash, at.get(i), target));
          }
          answer[2 * i] = found;
          answer[2 * i + 1] = found > 0 ? target.slice(3, found).hashCode() : 0;
          assertEquals(3, target.position());
        }
        long newest = Probe.ABSENT;
        for (int c = 0; c < components.size() && newest == Probe.ABSENT; c++) {
          newest = components.get(c).newestLsn(key, hash);
        }
        answer[2 * at.size()] = (int) newest;
      } finally {
        pool.epochs().exit(epoch);
      }
      answers[k] = answer;
    }
    return answers;
  }
}
