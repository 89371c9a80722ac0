package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.page.Memory;
import java.util.Arrays;

/**
 * The bytes of a simulated file, in blocks. Blocks are immutable, and writes replace them, so that
 * copies of a file share them.
 *
 * <p>Invariant: bytes at and after {@link #size} are zero.
 */
final class SimulatedContent {
  static final int BLOCK = DataFile.BLOCK;
  static final int SECTOR = 512;

  /** What an unallocated block reads as; known by identity. */
  static final byte[] HOLE = new byte[BLOCK];

  private byte[][] blocks = new byte[0][];
  private long size;
  private int allocated;

  long size() {
    return size;
  }

  /** Blocks that take room on the disk. */
  int allocatedBlocks() {
    return allocated;
  }

  /** Blocks up to the size, rounded up. */
  int blockCount() {
    return (int) ((size + BLOCK - 1) / BLOCK);
  }

  SimulatedContent copy() {
    SimulatedContent copy = new SimulatedContent();
    copy.blocks = blocks.clone();
    copy.size = size;
    copy.allocated = allocated;
    return copy;
  }

  byte[] block(int index) {
    return index < blocks.length ? blocks[index] : HOLE;
  }

  /** Puts a block in place; the caller must not write to the array any more. */
  void setBlock(int index, byte[] block) {
    if (index >= blocks.length) {
      int old = blocks.length;
      blocks = Arrays.copyOf(blocks, Math.max(index + 1, Math.max(4, old * 2)));
      Arrays.fill(blocks, old, blocks.length, HOLE);
    }
    allocated += (block == HOLE ? 0 : 1) - (blocks[index] == HOLE ? 0 : 1);
    blocks[index] = block;
  }

  /** Sets the size; what lay beyond it, and what comes into it, is zeros. */
  void resize(long newSize) {
    int kept = (int) (newSize / BLOCK);
    int tail = (int) (newSize % BLOCK);
    if (tail != 0 && block(kept) != HOLE) {
      byte[] cut = block(kept).clone();
      Arrays.fill(cut, tail, BLOCK, (byte) 0);
      setBlock(kept, cut);
    }
    for (int i = kept + (tail == 0 ? 0 : 1); i < blocks.length; i++) {
      setBlock(i, HOLE);
    }
    size = newSize;
  }

  /** Makes the size {@code newSize} without touching any block; the caller keeps the invariant. */
  void setSize(long newSize) {
    size = newSize;
  }

  void write(long offset, Memory source, int sourceOffset, int length) {
    int done = 0;
    while (done < length) {
      int index = Math.toIntExact((offset + done) / BLOCK);
      int at = (int) ((offset + done) % BLOCK);
      int part = Math.min(BLOCK - at, length - done);
      byte[] block = block(index).clone();
      source.get(sourceOffset + done, block, at, part);
      setBlock(index, block);
      done += part;
    }
    size = Math.max(size, offset + length);
  }

  int read(long offset, Memory target, int targetOffset, int length) {
    int available = (int) Math.max(0, Math.min(length, size - offset));
    int done = 0;
    while (done < available) {
      int at = (int) ((offset + done) % BLOCK);
      int part = Math.min(BLOCK - at, available - done);
      target.put(targetOffset + done, block((int) ((offset + done) / BLOCK)), at, part);
      done += part;
    }
    return available;
  }
}
