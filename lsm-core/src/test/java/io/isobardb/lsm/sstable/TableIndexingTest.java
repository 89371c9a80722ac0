package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Indexes over the entries of SSTables on disk. */
class TableIndexingTest {
  private static final long SEED = Long.getLong("isobar.seed", 20261130L);
  private static final int KEYS = 3000;

  private static byte[] key(int i) {
    return String.format("%05d", i).getBytes(StandardCharsets.US_ASCII);
  }

  private static long hash(byte[] key) {
    return KeyHash.hash(key, 0, key.length);
  }

  private static void addTwoVersions(Run run) {
    for (int i = 0; i < KEYS; i++) {
      run.add(key(2 * i), 8 * (i + 1), Kind.PUT, new byte[100]);
      run.add(key(2 * i), 8 * (i + 50_001), Kind.PUT, new byte[101]);
    }
    run.sort();
  }

  private static void load(SSTable table) {
    for (int pageNo = 1; pageNo < table.meta().pageCount(); pageNo++) {
      table.loadPage(pageNo, Access.QUERY);
      table.unpin(pageNo);
    }
  }

  private static boolean index(SSTable table) {
    try (TableIndexing indexing = TableIndexing.begin(table)) {
      if (indexing == null) {
        return false;
      }
      assertFalse(table.isIndexed(Lsn.MAX));
      while (indexing.step(1)) {
        assertFalse(table.isIndexed(Lsn.MAX));
      }
    }
    return table.isIndexed(Lsn.MAX);
  }

  /** An SSTable on disk of two versions of each key, of which the cache has all. */
  private static SSTable cached(Run run) throws IOException {
    addTwoVersions(run);
    SSTable table = run.onDisk(7, Packer.NONE, false);
    load(table);
    return table;
  }

  private static long search(Run run, SSTable table, byte[] key, long lsn) {
    int slot = run.pool.epochs().enter();
    try {
      return table.search(key, hash(key), lsn, true);
    } finally {
      run.pool.epochs().exit(slot);
    }
  }

  @Test
  void eachVersionIsFoundThatTheReaderSees() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      assertTrue(index(table));
      long bytes = EntryIndex.bytesFor(run.pool, table.meta().entries());
      assertEquals(bytes, run.pool.ledger().bytes(Purpose.INDEXES));
      int slot = run.pool.epochs().enter();
      for (int i = 0; i < KEYS; i++) {
        byte[] key = key(2 * i);
        assertEquals(
            101, EntryIndexTest.valueLength(run, table.search(key, hash(key), Lsn.MAX, true)));
        assertEquals(
            100,
            EntryIndexTest.valueLength(run, table.search(key, hash(key), 8 * (i + 50_000), true)));
        assertEquals(SSTable.ABSENT, table.search(key, hash(key), 8 * i, true));
        long guess = table.guess(hash(key));
        long place = guess < 0 ? guess : table.place(guess);
        assertEquals(101, EntryIndexTest.valueLength(run, table.search(key, Lsn.MAX, place)));
        byte[] absent = key(2 * i + 1);
        assertEquals(SSTable.ABSENT, table.search(absent, hash(absent), Lsn.MAX, true));
        assertEquals(SSTable.ABSENT, table.search(absent, Lsn.MAX, place));
      }
      run.pool.epochs().exit(slot);
      table.release();
      assertEquals(0, run.pool.ledger().bytes(Purpose.INDEXES));
    }
  }

  @Test
  void allKindsOfTablesAgreeWithTheModel() throws IOException {
    int indexed = 0;
    for (int round = 0; round < 12; round++) {
      SplittableRandom random = new SplittableRandom(SEED + round);
      KeyOrder order = round % 4 == 3 ? Run.REVERSE : KeyOrder.BYTES;
      Packer packer = round % 3 == 1 ? Run.withDictionary(1000) : Packer.NONE;
      String what = "seed " + SEED + " round " + round;
      try (Run run = new Run(4096 << round % 3, order, 1500)) {
        run.randomEntries(random, random.nextInt(1, 800), 20_000);
        SSTable table = run.onDisk(7, packer, round % 2 == 0, round % 2 == 0);
        load(table);
        indexed += index(table) ? 1 : 0;
        for (Run.Entry entry : run.entries) {
          byte[] key = entry.key();
          for (long lsn : new long[] {Lsn.MAX, table.meta().maxLsn(), entry.lsn()}) {
            Run.Entry newest = run.newest(key, lsn);
            long location = search(run, table, key, lsn);
            assertNotNull(newest, what);
            assertTrue(location >= 0, what);
            Memory memory = run.pool.memory(SSTable.pageOf(location));
            int base = run.pool.base(SSTable.pageOf(location));
            assertEquals(
                newest.lsn(), PageReader.lsn(memory, base, SSTable.entryOf(location)), what);
          }
        }
        table.release();
      }
    }
    assertEquals(12, indexed);
  }

  @Test
  void nothingIsMadeUnlessAllDataIsThere() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      addTwoVersions(run);
      SSTable table = run.onDisk(7, Packer.NONE, false);
      assertFalse(index(table));
      for (int pageNo = 2; pageNo < table.meta().pageCount(); pageNo++) {
        table.loadPage(pageNo, Access.QUERY);
        table.unpin(pageNo);
      }
      assertFalse(index(table));
      table.loadPage(1, Access.QUERY);
      table.unpin(1);
      assertTrue(index(table));
      table.release();
    }
  }

  @Test
  void nothingIsMadeOfWhatGoesMeanwhile() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      try (TableIndexing indexing = TableIndexing.begin(table)) {
        assertNotNull(indexing);
        assertTrue(indexing.step(1));
        run.cache.drop(table.fileNumber(), table.meta().pageCount());
        while (indexing.step(1)) {
          assertFalse(table.isIndexed(Lsn.MAX));
        }
      }
      assertFalse(table.isIndexed(Lsn.MAX));
      assertEquals(0, run.pool.ledger().bytes(Purpose.INDEXES));
      table.release();
    }
  }

  @Test
  void nothingIsMadeWithoutRoom() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      run.cache.resize(4096L * table.meta().pageCount());
      assertFalse(index(table));
      run.cache.resize(4096L * 2000);
      List<Integer> taken = new ArrayList<>();
      while (run.pool.availablePages() > 20) {
        taken.add(run.pool.tryAllocate(Purpose.WRITE));
      }
      assertFalse(index(table));
      taken.forEach(page -> run.pool.release(page, Purpose.WRITE));
      assertEquals(0, run.pool.ledger().bytes(Purpose.INDEXES));
      assertTrue(index(table));
      table.release();
    }
  }

  @Test
  void aMissNamesTheOnlyPageThatIsToBeRead() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      assertTrue(index(table));
      // The file's pages go, and the index does not.
      run.cache.drop(table.fileNumber(), table.meta().pageCount());
      assertEquals(0, run.cachedPages(table.fileNumber()));
      byte[] key = key(2000);
      long miss = search(run, table, key, Lsn.MAX);
      assertTrue(SSTable.isMiss(miss));
      long location = table.locatePinned(key, hash(key), Lsn.MAX, false);
      assertEquals(SSTable.missedPage(miss), SSTable.pageOf(location));
      assertEquals(1, run.cachedPages(table.fileNumber()));
      table.unpin(SSTable.pageOf(location));
      assertEquals(101, EntryIndexTest.valueLength(run, search(run, table, key, Lsn.MAX)));
      byte[] absent = key(2001);
      assertEquals(SSTable.ABSENT, table.locatePinned(absent, hash(absent), Lsn.MAX, false));
      assertEquals(1, run.cachedPages(table.fileNumber()));
      // One for whom the newest version is too new goes by the index pages.
      location = table.locatePinned(key, hash(key), 8 * 50_000, false);
      assertEquals(SSTable.missedPage(miss), SSTable.pageOf(location));
      assertTrue(run.cachedPages(table.fileNumber()) > 1);
      table.unpin(SSTable.pageOf(location));
      table.release();
    }
  }

  @Test
  void itGoesBeforePagesDoAndReadersGoByTheIndexPages() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      assertTrue(index(table));
      int slot = run.pool.epochs().enter();
      byte[] key = key(2000);
      long guess = table.guess(hash(key));
      run.cache.resize(4096L * table.meta().pageCount());
      assertFalse(table.isIndexed(Lsn.MAX));
      assertEquals(0, run.pool.ledger().bytes(Purpose.INDEXES));
      // A guess remains what it was.
      assertEquals(
          101, EntryIndexTest.valueLength(run, table.search(key, Lsn.MAX, table.place(guess))));
      assertEquals(SSTable.UNKNOWN, table.guess(hash(key)));
      assertEquals(0, table.fetch(hash(key)));
      for (int i = 0; i < KEYS; i++) {
        byte[] other = key(2 * i);
        assertEquals(
            101, EntryIndexTest.valueLength(run, table.search(other, hash(other), Lsn.MAX, true)));
      }
      run.pool.epochs().exit(slot);
      table.release();
    }
  }

  @Test
  void aReaderInAnEpochMayLookAtAnIndexThatHasGone() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      EntryIndex made =
          EntryIndex.empty(run.pool, Purpose.INDEXES, table.meta().entries(), table::dropIndex);
      assertNotNull(made);
      assertTrue(run.cache.expectExtra(made.pages().length));
      int[] pages = made.pages();
      table.setIndex(made);
      run.cache.addExtra(made);
      int slot = run.pool.epochs().enter();
      table.release();
      List<Integer> taken = new ArrayList<>();
      for (int page = run.pool.tryAllocate(Purpose.WRITE);
          page != PagePool.NONE;
          page = run.pool.tryAllocate(Purpose.WRITE)) {
        taken.add(page);
      }
      for (int page : pages) {
        assertFalse(taken.contains(page));
      }
      run.pool.epochs().exit(slot);
      taken.forEach(page -> run.pool.release(page, Purpose.WRITE));
    }
  }

  @Test
  void packedDataWithoutAnIndexGetsOneOfTheCachesMemory() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      addTwoVersions(run);
      long before = run.pool.pages(Purpose.WRITE);
      MemorySink sink = new MemorySink(run.pool, bytes -> false);
      SSTableWriter writer = new SSTableWriter(sink, run.order, 7, 3, 10);
      run.write(writer);
      SSTable table = SSTable.inMemory(run.space, run.order, writer.finish(), sink);
      for (int round = 0; round < 2; round++) {
        assertFalse(table.isPaidFor(0.25));
        table.countFound(2 * KEYS);
        assertTrue(table.isPaidFor(0.25));
        assertTrue(index(table));
        assertTrue(run.pool.ledger().bytes(Purpose.INDEXES) > 0);
        for (int i = 0; i < KEYS; i++) {
          byte[] key = key(2 * i);
          assertEquals(101, EntryIndexTest.valueLength(run, search(run, table, key, Lsn.MAX)));
          assertEquals(
              100, EntryIndexTest.valueLength(run, search(run, table, key, 8 * (i + 50_000))));
          assertEquals(SSTable.ABSENT, search(run, table, key(2 * i + 1), Lsn.MAX));
        }
        if (round == 0) {
          run.cache.resize(0);
          assertFalse(table.isIndexed(Lsn.MAX));
          assertEquals(101, EntryIndexTest.valueLength(run, search(run, table, key(0), Lsn.MAX)));
          run.cache.resize(4096L * 2000);
        }
      }
      table.release();
      assertEquals(0, run.pool.ledger().bytes(Purpose.INDEXES));
      assertEquals(before, run.pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void lookupsPayForIt() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 2000)) {
      SSTable table = cached(run);
      assertTrue(TableIndexing.isWorthIt(table));
      assertFalse(table.isPaidFor(0.25));
      assertTrue(table.isPaidFor(0));
      int told = 0;
      while (!table.isPaidFor(0.25)) {
        told += table.countFound(64) ? 1 : 0;
      }
      assertTrue(told > 0);
      assertTrue(index(table));
      assertFalse(table.isPaidFor(0));
      assertFalse(table.countFound(1 << 20));
      run.cache.resize(0);
      assertFalse(table.isIndexed(Lsn.MAX));
      assertFalse(table.isPaidFor(0.25), "the next one has to be paid for anew");
      table.release();
      SSTable packed = run.inMemory();
      assertFalse(packed.isPaidFor(0));
      assertNull(TableIndexing.begin(packed));
      packed.release();
    }
  }
}
