package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pages of a file in large pieces into memory of its own, past the cache.
 *
 * <p>Holds one page at a time: what {@link #memory} gives is that of the last {@link #read}. Thread
 * rule: one thread at a time, each of which sees what the one before it did.
 */
final class ReadAhead implements AutoCloseable {
  static final int LARGEST_BYTES = 256 << 10;

  /**
   * Each takes at most one in so many parts of the room there is, so that a dozen others find about
   * as much: pieces of a page or two cost a merge most of its time.
   */
  private static final int ROOM_SHARE = 16;

  /** A merge has a dozen of them at once: each is at most this part of the budget. */
  private static final int BUDGET_SHARE = 256;

  private final PageFile file;
  private final PagePool pool;
  private final SSTableMeta meta;
  private final int pageSize;
  private final Block block;

  /** Bytes of the block that pieces of the file go to; behind it one page to decompress into. */
  private final int pieceBytes;

  private long pieceFrom;
  private long pieceTo;
  private int current = -1;

  /** Pages of the piece that were checked, and are no longer as their checksums say. */
  private final BitSet changed = new BitSet();

  /** Pages from here on are not read ahead. */
  private int endPage;

  private ReadAhead(SSTable table, Block block, int pieceBytes) {
    this.file = table.file();
    this.pool = table.space().pool();
    this.meta = table.meta();
    this.pageSize = table.space().pageSize();
    this.block = block;
    this.pieceBytes = pieceBytes;
    this.endPage = table.meta().pageCount();
  }

  /**
   * A reader of the table's file, or null if there is no memory for one. Nobody is asked to make
   * room: what is kept for blocks is shared out in smaller and smaller pieces, and a job that gets
   * none reads through the cache.
   *
   * @param pieceBytes how much to read at a time, at most
   */
  static @Nullable ReadAhead open(SSTable table, int pieceBytes) {
    PagePool pool = table.space().pool();
    boolean compressed = table.meta().isPacked();
    int pageSize = pool.pageSize();
    int least = compressed ? pageSize + 2 * DataFile.BLOCK : pageSize;
    long room = pool.blocks().roomBytes() / ROOM_SHARE;
    int most = LARGEST_BYTES;
    while (most / 2 >= Math.max(least, pieceBytes)) {
      most /= 2;
    }
    while (most > pool.limitBytes() / BUDGET_SHARE) {
      most /= 2;
    }
    while (most / 2 >= Math.max(least, table.meta().sizeBytes())) {
      most /= 2;
    }
    most = (int) Math.min(most, Math.max(least, room / pageSize * pageSize));
    int besides = compressed ? pageSize : 0;
    for (int bytes = Math.max(most, least);
        bytes >= least;
        bytes = bytes / 2 / pageSize * pageSize) {
      Block block = pool.blocks().tryAllocate(bytes + besides, Purpose.MERGE);
      if (block != null) {
        return new ReadAhead(table, block, bytes);
      }
    }
    return null;
  }

  /** Says where what is wanted ends, as far as pages of the file are plain. */
  void endAt(int pageNo) {
    endPage = pageNo;
  }

  /** Whether a page needs no further read. */
  boolean holds(int pageNo) {
    if (meta.isPacked()) {
      return false;
    }
    long from = (long) pageNo * pageSize;
    return from >= pieceFrom && from + pageSize <= pieceTo;
  }

  /** Whether the page lies in the second half of a piece that was read. */
  boolean isPastHalf(int pageNo) {
    return holds(pageNo) && 2 * ((long) pageNo * pageSize - pieceFrom) >= pieceTo - pieceFrom;
  }

  /** The page behind the piece that was read. */
  int endPage() {
    return (int) (pieceTo / pageSize);
  }

  Memory memory() {
    return block.memory();
  }

  /** Makes a page, which is neither header nor page map nor footer, the current one. */
  int read(int pageNo, Access mode) throws IOException {
    return meta.isPacked() ? readStored(pageNo, mode) : readRaw(pageNo);
  }

  /**
   * Reads a piece that begins with a plain page, without checking it. If that fails, it holds
   * nothing: whoever wants it reads it then.
   */
  void tryRead(int pageNo) {
    try {
      readPiece(pageNo);
    } catch (IOException | RuntimeException e) {
      pieceTo = pieceFrom;
    }
  }

  private void readPiece(int pageNo) throws IOException {
    int count = Math.min(pieceBytes / pageSize, Math.max(1, endPage - pageNo));
    pieceTo = pieceFrom;
    file.readRaw(pageNo, count, block.memory(), 0);
    pieceFrom = (long) pageNo * pageSize;
    pieceTo = pieceFrom + (long) count * pageSize;
    current = -1;
    changed.clear();
  }

  private int readRaw(int pageNo) throws IOException {
    long from = (long) pageNo * pageSize;
    if (from < pieceFrom || from + pageSize > pieceTo) {
      readPiece(pageNo);
    }
    int base = (int) (from - pieceFrom);
    if (current != pageNo) {
      verify(pageNo, base);
      current = pageNo;
    }
    return base;
  }

  private void verify(int pageNo, int base) {
    if (!changed.get(base / pageSize)) {
      file.verify(pageNo, block.memory(), base);
      if (file.setLsn(block.memory(), base)) {
        changed.set(base / pageSize);
      }
    }
  }

  private int readStored(int pageNo, Access mode) throws IOException {
    if (current == pageNo) {
      return pieceBytes;
    }
    current = -1;
    file.prepare();
    long from = file.storedOffset(pageNo, mode);
    int length = (int) (file.storedOffset(pageNo + 1, mode) - from);
    if (from < pieceFrom || from + length > pieceTo) {
      long start = from & -DataFile.BLOCK;
      int bytes = (int) Math.min(pieceBytes, meta.sizeBytes() - start);
      pieceTo = pieceFrom;
      file.readFully(start, block.memory(), 0, bytes);
      pieceFrom = start;
      pieceTo = start + bytes;
    }
    Memory memory = block.memory();
    int at = (int) (from - pieceFrom);
    file.check(from, file.unpack(pageNo, length, memory, at, memory, pieceBytes));
    file.setLsn(memory, pieceBytes);
    current = pageNo;
    return pieceBytes;
  }

  @Override
  public void close() {
    pool.release(block);
  }
}
