package io.isobardb.lsm.io;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;

/**
 * A text in a file of the store that is of use and never needed: it is not synced, and a crash may
 * leave a torn one.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class TextFile {
  private final Storage storage;
  private final PagePool pool;
  private final String name;

  /**
   * @param pool lends a block for each call
   * @param name of the file; while it is replaced there is one with {@code .tmp} behind it, too
   */
  public TextFile(Storage storage, PagePool pool, String name) {
    this.storage = storage;
    this.pool = pool;
    this.name = name;
  }

  /** Whether there is such a file. */
  public boolean exists() throws IOException {
    return storage.exists(name);
  }

  /** How many bytes it has. */
  public long size() throws IOException {
    try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
      return file.size();
    }
  }

  /** Its first bytes, {@code most} of them at most. */
  public String read(int most) throws IOException {
    try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
      byte[] bytes = new byte[(int) Math.min(file.size(), most)];
      int[] done = {0};
      inPieces(
          bytes.length,
          (memory, length) -> {
            int got = file.read(done[0], memory, 0, length);
            memory.get(0, bytes, done[0], got);
            done[0] += length;
          });
      return new String(bytes, UTF_8);
    }
  }

  /** Creates it, or writes to its end. */
  public void append(String text) throws IOException {
    if (exists()) {
      write(name, false, size(), text);
    } else {
      write(name, true, 0, text);
    }
  }

  /** Gives it another text. */
  public void replace(String text) throws IOException {
    String temporary = name + ".tmp";
    storage.delete(temporary);
    write(temporary, true, 0, text);
    storage.rename(temporary, name);
  }

  private void write(String to, boolean create, long offset, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    try (DataFile file =
        create ? storage.create(to, IoMode.BUFFERED) : storage.open(to, IoMode.BUFFERED)) {
      int[] done = {0};
      inPieces(
          bytes.length,
          (memory, length) -> {
            memory.put(0, bytes, done[0], length);
            file.write(offset + done[0], memory, 0, length);
            done[0] += length;
          });
    }
  }

  /** Something to do with a piece. */
  private interface Piece {
    void move(Memory memory, int length) throws IOException;
  }

  private void inPieces(int bytes, Piece piece) throws IOException {
    Block block = pool.blocks().allocate(DataFile.BLOCK, Purpose.METADATA);
    try {
      for (int left = bytes; left > 0; left -= DataFile.BLOCK) {
        piece.move(block.memory(), Math.min(left, DataFile.BLOCK));
      }
    } finally {
      pool.release(block);
    }
  }
}
