package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EntryIndexTest {
  private static final long SEED = 20261128;

  /** Pages without an index of the sink's, and one made of them. */
  private static final class Indexed implements AutoCloseable {
    final Run run;
    final int[] pages;
    final EntryIndex index;

    Indexed(Run run) throws IOException {
      this.run = run;
      MemorySink sink = new MemorySink(run.pool, bytes -> false);
      SSTableWriter writer = new SSTableWriter(sink, run.order, 7, 3, 10);
      run.write(writer);
      writer.finish();
      pages = sink.pages();
      EntryIndex made = EntryIndex.of(run.pool, pages, run.entries.size());
      assertNotNull(made);
      index = made;
    }

    long find(byte[] key) {
      return find(key, KeyHash.hash(key, 0, key.length));
    }

    long find(byte[] key, long hash) {
      long at = index.guess(hash);
      return at < 0 || EntryIndex.isKey(run.pool, at, key) ? at : EntryIndex.UNSURE;
    }

    byte[] keyAt(long location) {
      Memory memory = run.pool.memory(SSTable.pageOf(location));
      int base = run.pool.base(SSTable.pageOf(location));
      byte[] key = new byte[PageLayout.maxKeyBytes(run.pool.pageSize())];
      for (int slot = 0; slot < PageReader.count(memory, base); slot++) {
        if (PageReader.entry(memory, base, slot) == SSTable.entryOf(location)) {
          return Arrays.copyOf(key, PageReader.copyKey(memory, base, slot, key));
        }
      }
      throw new AssertionError("no entry there");
    }

    long lsnAt(long location) {
      Memory memory = run.pool.memory(SSTable.pageOf(location));
      int base = run.pool.base(SSTable.pageOf(location));
      return PageReader.lsn(memory, base, SSTable.entryOf(location));
    }

    @Override
    public void close() {
      index.retire();
      for (int i = 1; i < pages.length; i++) {
        run.pool.release(pages[i], Purpose.WRITE);
      }
    }
  }

  @Test
  void eachKeyIsFoundAtItsNewestVersionAndNoOther() throws IOException {
    int found = 0;
    int unsure = 0;
    for (int round = 0; round < 10; round++) {
      SplittableRandom random = new SplittableRandom(SEED + round);
      KeyOrder order = round % 4 == 3 ? Run.REVERSE : KeyOrder.BYTES;
      String what = "seed " + SEED + " round " + round;
      try (Run run = new Run(4096 << round % 5, order, 8)) {
        run.randomEntries(random, random.nextInt(1, 1000), 65536);
        try (Indexed indexed = new Indexed(run)) {
          for (Run.Entry entry : run.entries) {
            long location = indexed.find(entry.key());
            if (location == EntryIndex.UNSURE) {
              unsure++;
            } else {
              found++;
              assertTrue(location >= 0, what);
              assertArrayEquals(entry.key(), indexed.keyAt(location), what);
              assertEquals(run.newest(entry.key(), Lsn.MAX).lsn(), indexed.lsnAt(location), what);
            }
            byte[] other = entry.key().clone();
            if (other.length > 0) {
              other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
              boolean there = run.newest(other, Lsn.MAX) != null;
              assertTrue(there || indexed.find(other) < 0, what);
              assertTrue(!there || indexed.find(other) != EntryIndex.ABSENT, what);
            }
          }
        }
      }
    }
    assertTrue(unsure < found / 100, unsure + " of " + found);
  }

  @Test
  void aKeyWithTheHashOfAnotherIsNotTakenForIt() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 500; i++) {
        run.add(key("prefix-%05d", i), 8, Kind.PUT, new byte[100]);
      }
      run.sort();
      try (Indexed indexed = new Indexed(run)) {
        for (int i = 0; i < 500; i++) {
          byte[] key = key("prefix-%05d", i);
          long hash = KeyHash.hash(key, 0, key.length);
          long location = indexed.find(key, hash);
          assertTrue(location >= 0 || location == EntryIndex.UNSURE);
          int suffix =
              PageReader.suffixLength(
                  run.pool.memory(SSTable.pageOf(location)),
                  run.pool.base(SSTable.pageOf(location)),
                  SSTable.entryOf(location));
          byte[][] others = {
            Arrays.copyOf(key, key.length + 1), // Longer than what is there.
            Arrays.copyOf(key, key.length - 1),
            Arrays.copyOfRange(key, key.length - suffix, key.length), // The suffix alone.
            key.clone(), // The same suffix behind another prefix.
            withByteBefore(run, indexed.pages, location, key),
          };
          others[3][0]++;
          for (byte[] other : others) {
            assertEquals(EntryIndex.UNSURE, indexed.find(other, hash));
          }
        }
      }
    }
  }

  /** A key that is a byte longer, which is what lies before the prefix in the page. */
  private static byte[] withByteBefore(Run run, int[] pages, long location, byte[] key) {
    Memory memory = run.pool.memory(SSTable.pageOf(location));
    int base = run.pool.base(SSTable.pageOf(location));
    int at = memory.getUnsignedShort(base + PageLayout.PREFIX_OFFSET);
    byte[] longer = new byte[key.length + 1];
    longer[0] = memory.getByte(base + at - 1);
    System.arraycopy(key, 0, longer, 1, key.length);
    return longer;
  }

  @Test
  void twoKeysThatLookTheSameLeaveTheIndexUnsure() throws IOException {
    // So many keys that some pairs share a bucket and a tag.
    try (Run run = new Run(65536, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 30_000; i++) {
        run.add(key("%06d", i), 8, Kind.PUT, new byte[8]);
      }
      run.sort();
      try (Indexed indexed = new Indexed(run)) {
        int unsure = 0;
        for (int i = 0; i < 30_000; i++) {
          byte[] key = key("%06d", i);
          long location = indexed.find(key);
          if (location == EntryIndex.UNSURE) {
            unsure++;
          } else {
            assertArrayEquals(key, indexed.keyAt(location));
          }
        }
        assertTrue(unsure > 0 && unsure < 300, "unsure " + unsure);
      }
    }
  }

  @Test
  void anSSTableReadsByItsIndexAndGivesItBack() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 5000; i++) {
        run.add(key("%05d", i), 8 * (i + 1), Kind.PUT, new byte[100]);
        run.add(key("%05d", i), 8 * (i + 50_001), Kind.PUT, new byte[101]);
      }
      run.sort();
      long before = run.pool.pages(Purpose.WRITE);
      SSTable table = run.inMemory();
      long held = run.pool.pages(Purpose.WRITE) - before;
      assertEquals(held * 4096, table.meta().sizeBytes());
      assertTrue(held > table.meta().pageCount(), "there is an index");
      int slot = run.pool.epochs().enter();
      for (int i = 0; i < 5000; i++) {
        byte[] key = key("%05d", i);
        long hash = KeyHash.hash(key, 0, key.length);
        // A reader that must not see the newest version is not given it.
        assertEquals(101, valueLength(run, table.search(key, hash, Lsn.MAX, true)));
        assertEquals(100, valueLength(run, table.search(key, hash, 8 * (i + 50_000), true)));
        assertEquals(SSTable.ABSENT, table.search(key, hash, 8 * i, true));
        assertEquals(101, valueLength(run, table.search(key, hash, table.meta().maxLsn(), true)));
      }
      run.pool.epochs().exit(slot);
      table.release();
      assertEquals(before, run.pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void aLocationOutsideOfEpochsHasThePageOfTheSSTable() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 2000; i++) {
        run.add(key("%05d", i), 8, Kind.PUT, new byte[100]);
      }
      run.sort();
      // Has the pages of the pool whose numbers are those of an SSTable, too.
      SSTable first = run.inMemory();
      SSTable table = run.inMemory();
      assertTrue(table.isIndexed(Lsn.MAX));
      for (int i = 0; i < 2000; i++) {
        byte[] key = key("%05d", i);
        long location = table.locatePinned(key, KeyHash.hash(key, 0, key.length), Lsn.MAX, true);
        int page = table.loadPage(SSTable.pageOf(location), Access.QUERY);
        assertEquals(100, valueLength(run, (long) page << 32 | SSTable.entryOf(location)));
      }
      table.release();
      first.release();
    }
  }

  @Test
  void aGuessIsNotTakenForAKeyWithoutALookAtIt() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 2000; i++) {
        run.add(key("%05d", i), 8, Kind.PUT, new byte[100]);
      }
      run.sort();
      SSTable table = run.inMemory();
      int slot = run.pool.epochs().enter();
      int guessed = 0;
      for (int i = 0; i < 2000; i++) {
        byte[] key = key("%05d", i);
        long guess = table.guess(KeyHash.hash(key, 0, key.length));
        guessed += guess == SSTable.UNKNOWN ? 0 : 1;
        assertEquals(100, valueLength(run, table.search(key, Lsn.MAX, guess)));
        byte[] absent = key("%06d", i);
        assertEquals(SSTable.ABSENT, table.search(absent, Lsn.MAX, guess));
      }
      assertTrue(guessed > 1900, "guessed " + guessed);
      run.pool.epochs().exit(slot);
      table.release();
    }
  }

  @Test
  void aReaderInAnEpochFindsKeysOfAnSSTableThatHasGone() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      for (int i = 0; i < 5000; i++) {
        run.add(key("%05d", i), 8, Kind.PUT, new byte[100]);
      }
      run.sort();
      SSTable table = run.inMemory();
      int slot = run.pool.epochs().enter();
      table.release();
      // Who takes pages now must not get those of the index.
      List<Integer> taken = new ArrayList<>();
      for (int page = run.pool.tryAllocate(Purpose.WRITE);
          page != PagePool.NONE;
          page = run.pool.tryAllocate(Purpose.WRITE)) {
        taken.add(page);
        run.pool.memory(page).zero(run.pool.base(page), 4096);
      }
      for (int i = 0; i < 5000; i++) {
        byte[] key = key("%05d", i);
        long hash = KeyHash.hash(key, 0, key.length);
        assertEquals(100, valueLength(run, table.search(key, hash, Lsn.MAX, true)));
      }
      run.pool.epochs().exit(slot);
      for (int page : taken) {
        run.pool.release(page, Purpose.WRITE);
      }
    }
  }

  static int valueLength(Run run, long location) {
    Memory memory = run.pool.memory(SSTable.pageOf(location));
    int base = run.pool.base(SSTable.pageOf(location));
    return PageReader.valueLength(memory, base, SSTable.entryOf(location));
  }

  @Test
  void withoutRoomThereIsNoIndexAndNothingIsHeld() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
      int taken = run.pool.availablePages();
      int[] pages = new int[taken];
      for (int i = 0; i < taken; i++) {
        pages[i] = run.pool.tryAllocate(Purpose.WRITE);
      }
      for (int left = 0; left < 3; left++) {
        assertNull(EntryIndex.of(run.pool, new int[] {PagePool.NONE}, 2000));
        assertEquals(left, run.pool.availablePages());
        run.pool.release(pages[left], Purpose.WRITE);
      }
      for (int i = 3; i < taken; i++) {
        run.pool.release(pages[i], Purpose.WRITE);
      }
    }
  }

  @Test
  void smallEntriesHaveNoIndex() throws IOException {
    for (int valueBytes : new int[] {8, 200}) {
      try (Run run = new Run(4096, KeyOrder.BYTES, 8)) {
        for (int i = 0; i < 5000; i++) {
          run.add(key("%05d", i), 8, Kind.PUT, new byte[valueBytes]);
        }
        run.sort();
        SSTable table = run.inMemory();
        assertEquals(
            valueBytes == 200, table.meta().sizeBytes() > 4096L * (table.meta().pageCount() - 1));
        table.release();
      }
    }
  }

  private static byte[] key(String format, int i) {
    return String.format(format, i).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
  }
}
