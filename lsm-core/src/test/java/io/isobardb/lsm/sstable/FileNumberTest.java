package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The caches know files by 32 bits, so there are no more numbers than that. */
class FileNumberTest {
  private static final long HIGHEST = (1L << 32) - 1;

  private static Run run() {
    Run run = new Run(4096, KeyOrder.BYTES, 100);
    for (int i = 0; i < 100; i++) {
      run.add(new byte[] {(byte) i}, 8, Kind.PUT, new byte[100]);
    }
    return run;
  }

  @Test
  void theHighestNumberIsAsGoodAsAny() throws IOException {
    try (Run run = run()) {
      SSTable table = run.onDisk(HIGHEST, Packer.NONE, false);
      assertEquals(HIGHEST, table.meta().fileNumber());
      try (SSTableCursor cursor = table.cursor(Access.QUERY)) {
        int found = 0;
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          found++;
        }
        assertEquals(100, found);
      }
      assertTrue(run.cachedPages((int) HIGHEST) > 0);
      table.release();
      assertEquals(0, run.cachedPages((int) HIGHEST));
    }
  }

  @Test
  void aNumberThatLooksLikeAnotherToTheCachesIsRefused() throws IOException {
    try (Run run = run()) {
      SSTable old = run.onDisk(5, Packer.NONE, true);
      long number = (1L << 32) + 5;
      refuses(() -> run.onDisk(number, Packer.NONE, true));
      assertEquals(1, run.storage.files.size());
      SSTableMeta meta = old.meta();
      SSTableMeta same =
          new SSTableMeta(
              number,
              meta.treeId(),
              meta.pageCount(),
              meta.entries(),
              meta.deletes(),
              meta.minKey(),
              meta.maxKey(),
              meta.minLsn(),
              meta.maxLsn(),
              meta.rootPage(),
              meta.indexHeight(),
              meta.filterPage(),
              meta.filterBlocks(),
              meta.sizeBytes(),
              meta.packing(),
              meta.pageMapPage(),
              meta.expiring());
      CorruptionException e =
          assertThrows(CorruptionException.class, () -> SSTable.onDisk(run.space, run.order, same));
      assertTrue(e.getMessage().contains("file number " + number), e.getMessage());
      old.release();
    }
  }

  private static void refuses(Executable call) {
    String told = String.valueOf(assertThrows(IllegalStateException.class, call).getMessage());
    assertTrue(told.contains("4294967301.sst") && told.contains("" + HIGHEST), told);
  }
}
