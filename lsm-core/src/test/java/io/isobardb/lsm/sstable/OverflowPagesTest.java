package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** How values lie in the overflow pages of an SSTable. */
class OverflowPagesTest {
  private static final int PAGE = 8192;

  /** So many values of a length, with keys in order. */
  private static void addValues(Run run, int count, int length) {
    SplittableRandom random = new SplittableRandom(length);
    for (int i = 0; i < count; i++) {
      byte[] key = String.format("key%06d", i).getBytes(StandardCharsets.US_ASCII);
      run.add(key, 8, Kind.PUT, Run.bytes(random, length));
    }
  }

  private static int pagesOf(int type, Run run, SSTable table) {
    int found = 0;
    for (int pageNo = 1; pageNo < table.meta().pageCount(); pageNo++) {
      int page = table.page(pageNo);
      found += run.pool.memory(page).getByte(run.pool.base(page) + PageLayout.TYPE) == type ? 1 : 0;
    }
    return found;
  }

  @Test
  void valuesFollowOneAnotherWithoutFillingPages() throws IOException {
    int count = 40;
    for (int length : new int[] {5_000, 8_192, 10_000, 14_000, 100_000}) {
      try (Run run = new Run(PAGE, KeyOrder.BYTES, 40)) {
        addValues(run, count, length);
        SSTable table = run.inMemory();
        int pages = pagesOf(PageLayout.OVERFLOW, run, table);
        int least = PageLayout.overflowPages(PAGE, 0, count * length);
        assertTrue(pages <= least * 9 / 8, pages + " pages, where " + least + " are filled");
        table.release();
      }
    }
  }

  @Test
  void aValueBeginsOnAPageOfItsOwnIfItIsInOneLessThenAndLittleIsLeftFree() {
    int perPage = PageLayout.overflowBytes(PAGE);
    assertTrue(PageLayout.needsNewPage(PAGE, perPage - 2_000, 16_000));
    assertEquals(false, PageLayout.needsNewPage(PAGE, perPage - 2_001, 16_000), "more is left");
    assertEquals(false, PageLayout.needsNewPage(PAGE, perPage - 320, 16_480), "in three pages");
  }

  @Test
  void aMergeReadsAFileOfLongValuesAboutOnce() throws IOException {
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 40)) {
      addValues(run, 1_000, 10_000);
      SSTable table = run.onDisk(5, Packer.NONE, false);
      long before = run.storage.bytesRead;
      Memory copy = new Memory(ByteBuffer.allocateDirect(10_000));
      try (SSTableCursor cursor = table.cursor(Access.MERGE)) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          cursor.copyValue(0, copy, 0, cursor.valueLength());
        }
      }
      long read = run.storage.bytesRead - before;
      assertTrue(
          read <= table.meta().sizeBytes() * 33 / 32, read + " of " + table.meta().sizeBytes());
      table.release();
    }
  }

  @Test
  void aWriterThatGivesUpReleasesThePageItWasFilling() throws IOException {
    // Closing the run finds pages that are held.
    try (Run run = new Run(PAGE, KeyOrder.BYTES, 40)) {
      addValues(run, 3, 5_000);
      SSTableWriter writer =
          new SSTableWriter(new MemorySink(run.pool, bytes -> true), KeyOrder.BYTES, 1, 1, 10);
      for (Run.Entry entry : run.entries) {
        writer.addOverflow(
            entry.key(),
            entry.key().length,
            entry.lsn(),
            Kind.PUT_OVERFLOW,
            entry.value().length,
            (from, target, at, length) -> target.put(at, entry.value(), from, length));
      }
      writer.abort();
    }
  }
}
