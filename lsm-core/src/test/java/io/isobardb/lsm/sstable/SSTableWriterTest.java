package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Reclaimer;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

class SSTableWriterTest {
  private static final Memory VALUE = new Memory(ByteBuffer.allocateDirect(100));

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static void put(SSTableWriter writer, String key, long lsn) throws IOException {
    writer.add(key(key), key.length(), lsn, Kind.PUT, VALUE, 0, 100);
  }

  @Test
  void entriesOutOfOrderAreRefused() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
      String[][] pairs = {{"b", "a"}, {"bb", "b"}, {"b", "b"}, {"b\u007f", "b\u0001"}};
      for (String[] pair : pairs) {
        SSTableWriter writer =
            new SSTableWriter(new MemorySink(run.pool, bytes -> true), KeyOrder.BYTES, 1, 1, 10);
        put(writer, pair[0], 16);
        assertThrows(IllegalArgumentException.class, () -> put(writer, pair[1], 16));
        writer.abort();
      }
    }
  }

  @Test
  void keysTooLongAndLsnsOutOfStepAreRefused() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
      SSTableWriter writer =
          new SSTableWriter(new MemorySink(run.pool, bytes -> true), KeyOrder.BYTES, 1, 1, 10);
      assertThrows(IllegalArgumentException.class, () -> put(writer, "a".repeat(1025), 8));
      assertThrows(IllegalArgumentException.class, () -> put(writer, "a", 9));
      assertThrows(IllegalArgumentException.class, () -> put(writer, "a", -8));
      writer.abort();
    }
  }

  @Test
  void separatorsAreShortAndPrefixesAreStripped() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
      String common = "a-long-prefix-that-all-keys-have-in-common/";
      for (int i = 0; i < 2000; i++) {
        byte[] key = key(common + String.format("%06d", i * 37) + "/and-a-tail-after-it");
        run.add(key, 8, Kind.PUT, new byte[20]);
      }
      SSTable table = run.inMemory();
      int root = table.page(table.meta().rootPage());
      Memory memory = run.pool.memory(root);
      int base = run.pool.base(root);
      int count = PageReader.count(memory, base);
      assertTrue(count > 10);
      int longest = 0;
      for (int slot = 1; slot < count; slot++) {
        longest = Math.max(longest, PageReader.keyLength(memory, base, slot));
      }
      assertTrue(longest <= common.length() + 6, "longest separator " + longest);
      int prefix = memory.getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
      assertTrue(prefix >= common.length(), "prefix " + prefix);
      // 2000 entries of 20 bytes value, 26 or so of key suffix, 11 of slot and header
      assertTrue(
          table.meta().rootPage() < 2000 * 62 / 4000 + 2, "pages " + table.meta().rootPage());
      table.release();
    }
  }

  @Test
  void theFilterLetsAboutOnePercentThrough() throws IOException {
    try (Run run = new Run(8192, KeyOrder.BYTES, 10)) {
      SplittableRandom random = new SplittableRandom(99);
      for (int i = 0; i < 50_000; i++) {
        run.add(Run.bytes(random, 12), 8, Kind.PUT, new byte[0]);
      }
      run.sort();
      SSTable table = run.inMemory();
      int passed = 0;
      int probes = 200_000;
      for (int i = 0; i < probes; i++) {
        long hash = KeyHash.hash(Run.bytes(random, 13), 0, 13);
        passed += table.mayContain(hash, true) == SSTable.MAYBE ? 1 : 0;
      }
      double rate = 100.0 * passed / probes;
      assertTrue(rate > 0.5 && rate < 1.6, "false positives " + rate + " %");
      table.release();
    }
  }

  @Test
  void aMergeThatFindsNoMemoryToReadAheadDoesNotEmptyTheCacheForIt() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 400)) {
      run.randomEntries(new SplittableRandom(1), 3_000, 200);
      run.sort();
      SSTable source = run.onDisk(5, Packer.NONE, false);
      List<Integer> full = new ArrayList<>();
      for (int page = run.pool.allocate(Purpose.WRITE);
          page != PagePool.NONE;
          page = run.pool.allocate(Purpose.WRITE)) {
        full.add(page);
      }
      run.pool.setLimit(run.pool.allocatedBytes());
      int[] emptied = {0};
      run.pool.setReclaimer(
          new Reclaimer() {
            @Override
            public int reclaim(int pages) {
              return run.cache.reclaim(pages);
            }

            @Override
            public void vacate(IntPredicate leaving) {
              emptied[0]++;
            }
          });
      try (SSTableCursor merged = source.cursor(Access.MERGE)) {
        int count = 0;
        for (boolean more = merged.first(); more; more = merged.next()) {
          count++;
        }
        assertEquals(run.entries.size(), count);
      }
      assertEquals(0, emptied[0], "times that the cache was emptied");
      full.forEach(page -> run.pool.release(page, Purpose.WRITE));
      source.release();
    }
  }

  @Test
  void aMergeHandsOnWhatClientsReadAndNothingElseIfTheCacheIsFull() throws IOException {
    for (boolean room : new boolean[] {false, true}) {
      try (Run run = new Run(4096, KeyOrder.BYTES, 400)) {
        run.randomEntries(new SplittableRandom(1), 3_000, 200);
        run.sort();
        SSTable source = run.onDisk(5, Packer.NONE, false);
        byte[] read = run.entries.get(1_000).key();
        try (SSTableCursor reader = source.cursor(Access.QUERY)) {
          assertTrue(reader.seek(read, 0, read.length, Lsn.MAX));
        }
        long held = run.cache.stats().heldPages();
        run.cache.resize((room ? 400 : held) * 4096);

        FileSink sink = new FileSink(run.space, 6, 3, Packer.NONE, true);
        SSTableWriter writer = new SSTableWriter(sink, run.order, 6, 3, 10);
        try (SSTableCursor merged = source.cursor(Access.MERGE)) {
          for (boolean more = merged.first(); more; more = merged.next()) {
            writer.add(merged.leaf(), merged.lsn());
          }
        }
        SSTable result = SSTable.onDisk(run.space, run.order, writer.finish());

        int cached = run.cachedPages(6);
        assertEquals(room, cached > 50, "pages of the result in the cache: " + cached);
        long misses = run.cache.stats().queryMisses();
        try (SSTableCursor reader = result.cursor(Access.QUERY)) {
          assertTrue(reader.seek(read, 0, read.length, Lsn.MAX));
        }
        assertEquals(
            misses, run.cache.stats().queryMisses(), "the page that was read must be cached");
        source.release();
        result.release();
      }
    }
  }

  private static final String[] CODECS = {Codecs.NONE, Codecs.LZ4, DeflateCodec.NAME};

  @Test
  void anAbortedWriterLeavesNeitherPagesNorFiles() throws IOException {
    int failures = 0;
    for (int failAfter = 0; failAfter < 30; failAfter++) {
      try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
        run.randomEntries(new SplittableRandom(failAfter), 2_000, 200);
        run.storage.failAfterWrites = failAfter % 2 == 0 ? failAfter * 2 : failAfter;
        try {
          FileSink sink =
              new FileSink(run.space, 5, 3, Packer.of(CODECS[failAfter % 3]), failAfter % 4 == 0);
          SSTableWriter writer = new SSTableWriter(sink, run.order, 5, 3, 10);
          writer.sourceHot(true);
          try {
            run.write(writer);
            writer.finish();
          } catch (IOException e) {
            writer.abort();
            throw e;
          }
        } catch (IOException e) {
          failures++;
          assertEquals("injected", e.getMessage());
          assertTrue(run.storage.files.isEmpty());
          assertEquals(0, run.cachedPages(5));
        }
      }
    }
    assertTrue(failures > 8, "failures " + failures);
  }

  @Test
  void aWriterThatRunsOutOfMemoryCanBeAborted() throws IOException {
    for (int pages = 1; pages < 60; pages += 3) {
      int limit = pages * 4096 + 4096;
      PagePool pool = new PagePool(Math.max(limit, 140 << 10), 4096, true);
      while (pool.availablePages() > pages) {
        pool.allocate(Purpose.WRITE);
      }
      long held = pool.pages(Purpose.WRITE);
      SSTableWriter writer =
          new SSTableWriter(new MemorySink(pool, bytes -> true), KeyOrder.BYTES, 1, 1, 10);
      boolean failed = false;
      try {
        for (int i = 0; i < 2000; i++) {
          put(writer, String.format("%05d", i), 8);
        }
        writer.finish();
      } catch (OutOfBudgetException e) {
        failed = true;
      }
      assertTrue(failed);
      writer.abort();
      assertEquals(held, pool.pages(Purpose.WRITE));
    }
  }

  @Test
  void versionsOfOneKeyOverManyPagesAreFoundInOnePageEach() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
      for (int i = 1; i <= 3000; i++) {
        run.add(key("k"), 16L * i, Kind.PUT, new byte[30]);
      }
      run.sort();
      SSTable table = run.inMemory();
      long hash = KeyHash.hash(key("k"), 0, 1);
      for (long lsn = 16; lsn < 16 * 3001; lsn++) {
        long at = table.search(key("k"), hash, lsn, true);
        Memory memory = run.pool.memory(SSTable.pageOf(at));
        int base = run.pool.base(SSTable.pageOf(at));
        assertEquals(lsn & -16L, PageReader.lsn(memory, base, SSTable.entryOf(at)));
      }
      assertEquals(SSTable.ABSENT, table.search(key("k"), hash, 15, true));
      table.release();
    }
  }

  @Test
  void aReferenceKeepsThePagesUntilItIsGivenBack() throws IOException {
    try (Run run = new Run(4096, KeyOrder.BYTES, 10)) {
      run.add(key("k"), 8, Kind.PUT, new byte[30]);
      SSTable table = run.inMemory();
      assertTrue(table.tryRetain());
      table.release();
      assertTrue(run.pool.pages(Purpose.WRITE) > 0);
      table.release();
      assertEquals(0, run.pool.pages(Purpose.WRITE));
      assertFalse(table.tryRetain());
      assertThrows(IllegalStateException.class, table::release);
    }
  }
}
