package io.isobardb.lsm.sstable;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.FileMeta;
import java.io.IOException;

/** Reads footers of files that no manifest names. */
final class Footers {
  private Footers() {}

  /**
   * What the footer of a file says of the SSTable.
   *
   * @throws CorruptionException if the file has no intact header and footer
   * @throws FormatException if a newer version wrote it
   */
  static SSTableMeta readMeta(TableSpace space, long fileNumber) throws IOException {
    String name = SSTableMeta.fileName(fileNumber);
    PagePool pool = space.pool();
    int pageSize = pool.pageSize();
    long seed = space.fileSeed(fileNumber);
    int page = MemorySink.allocate(pool, Purpose.MERGE);
    try (DataFile file = space.storage().open(name, space.ioMode())) {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      if (file.read(0, memory, base, pageSize) == pageSize) {
        FileLayout.refuseNewer(memory, base, name);
        FileMeta.Header header = FileMeta.Header.read(memory, base, pageSize);
        if (header != null && header.hasFooter()) {
          return checked(
              FileMeta.footerInHeader(memory, base, pageSize, name),
              file,
              space,
              seed,
              memory,
              base);
        }
      }
      long offset = (file.size() - pageSize) & -DataFile.BLOCK;
      if (offset < pageSize || file.read(offset, memory, base, pageSize) != pageSize) {
        throw new CorruptionException(name, file.size(), "too short for an SSTable");
      }
      FileLayout.refuseNewer(memory, base, name);
      int pageNo = memory.getInt(base + FileLayout.PAGE_COUNT) - 1;
      if (!PageLayout.isIntact(memory, base, pageSize, seed, pageNo)) {
        throw new CorruptionException(name, offset, "the footer has a wrong checksum");
      }
      SSTableMeta meta = FileMeta.footer(memory, base, pageSize, name, offset);
      file.read(0, memory, base, pageSize);
      return checked(meta, file, space, seed, memory, base);
    } finally {
      pool.release(page, Purpose.MERGE);
    }
  }

  /** Holds what the footer says against the file's size and its header page. */
  private static SSTableMeta checked(
      SSTableMeta meta, DataFile file, TableSpace space, long seed, Memory memory, int base)
      throws IOException {
    String name = meta.fileName();
    if (meta.sizeBytes() != file.size()) {
      throw new CorruptionException(
          name, file.size(), "the footer says " + meta.sizeBytes() + " bytes");
    }
    if (!PageLayout.isIntact(memory, base, space.pageSize(), seed, 0)) {
      throw new CorruptionException(name, 0, "the header has a wrong checksum");
    }
    FileMeta.checkHeader(memory, base, space, meta);
    return meta;
  }
}
