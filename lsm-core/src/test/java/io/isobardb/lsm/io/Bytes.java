package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Off-heap memory for tests. */
final class Bytes {
  private Bytes() {}

  /** A region aligned for direct I/O, every byte of it {@code value}. */
  static Memory filled(int size, int value) {
    int aligned = (size + DataFile.BLOCK - 1) / DataFile.BLOCK * DataFile.BLOCK;
    ByteBuffer buffer = ByteBuffer.allocateDirect(aligned + DataFile.BLOCK);
    Memory memory = new Memory(buffer.alignedSlice(DataFile.BLOCK).limit(aligned));
    memory.fill(0, aligned, (byte) value);
    return memory;
  }

  static void write(DataFile file, long offset, int value, int length) throws IOException {
    file.write(offset, filled(length, value), 0, length);
  }

  /** All bytes of a file. */
  static byte[] contents(DataFile file) throws IOException {
    int size = (int) file.size();
    int blocks = (size + DataFile.BLOCK) / DataFile.BLOCK;
    Memory memory = filled(blocks * DataFile.BLOCK, 99);
    int count = file.read(0, memory, 0, blocks * DataFile.BLOCK);
    byte[] bytes = new byte[count];
    memory.get(0, bytes, 0, count);
    return bytes;
  }

  static byte[] contents(Storage storage, String name) throws IOException {
    try (DataFile file = storage.open(name, IoMode.BUFFERED)) {
      return contents(file);
    }
  }

  static byte[] of(int length, int value) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }
}
