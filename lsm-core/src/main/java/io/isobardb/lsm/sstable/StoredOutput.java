package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The compressed pages of a file being written, one behind the other.
 *
 * <p>They gather in a block of memory that is written when it is full. When the budget has no room
 * for one, a single page takes its place, and pages are compressed into the spare memory first:
 * slower, but no flush or merge fails for it.
 *
 * <p>Thread rule: one thread at a time.
 */
final class StoredOutput {
  private static final int BLOCK_BYTES = 256 << 10;

  private final TableSpace space;
  private final PagePool pool;
  private final DataFile file;
  private final PageCoder coder;
  private final int pageSize;
  private final @Nullable Block block;
  private final int page;
  private final Memory buffer;
  private final int base;
  private final int capacity;
  private long written;
  private int length;
  private boolean closed;

  /**
   * @param coder closed with this
   * @param from where in the file the first page goes; a multiple of the block size
   */
  StoredOutput(TableSpace space, DataFile file, PageCoder coder, long from) {
    this.space = space;
    this.pool = space.pool();
    this.file = file;
    this.coder = coder;
    this.pageSize = pool.pageSize();
    this.written = from;
    this.block = allocateBlock();
    if (block != null) {
      page = PagePool.NONE;
      buffer = block.memory();
      base = 0;
      capacity = buffer.size() & -DataFile.BLOCK;
    } else {
      page = MemorySink.allocate(pool, Purpose.MERGE);
      buffer = pool.memory(page);
      base = pool.base(page);
      capacity = pageSize;
    }
  }

  private @Nullable Block allocateBlock() {
    try {
      return pool.blocks().allocate(BLOCK_BYTES + 2 * pageSize, Purpose.MERGE);
    } catch (OutOfBudgetException e) {
      return null;
    }
  }

  /** Where in the file the next page begins. */
  long position() {
    return written + length;
  }

  /** Appends a page. */
  void append(Memory source, int sourceBase, int pageNo) throws IOException {
    if (block != null) {
      length += coder.pack(source, sourceBase, pageNo, buffer, base + length);
      if (length >= capacity - 2 * pageSize) {
        writeWhole();
      }
      return;
    }
    Memory spare = space.spare().memory();
    synchronized (space.spare()) {
      int left = coder.pack(source, sourceBase, pageNo, spare, 0);
      for (int at = 0; left > 0; ) {
        int piece = Math.min(left, capacity - length);
        buffer.copyFrom(base + length, spare, at, piece);
        length += piece;
        at += piece;
        left -= piece;
        if (length == capacity) {
          writeWhole();
        }
      }
    }
  }

  /** Writes the whole blocks of what has gathered. */
  private void writeWhole() throws IOException {
    int whole = length & -DataFile.BLOCK;
    file.write(written, buffer, base, whole);
    if (length > whole) {
      buffer.move(base + whole, base, length - whole);
    }
    written += whole;
    length -= whole;
  }

  /** Writes all that has gathered, filled up to a whole block; gives where the file goes on. */
  long finish() throws IOException {
    int padded = (length + DataFile.BLOCK - 1) & -DataFile.BLOCK;
    buffer.zero(base + length, padded - length);
    length = padded;
    if (length > 0) {
      writeWhole();
    }
    return written;
  }

  void close() {
    if (closed) {
      return;
    }
    closed = true;
    coder.close();
    if (block != null) {
      pool.release(block);
    } else {
      pool.release(page, Purpose.MERGE);
    }
  }
}
