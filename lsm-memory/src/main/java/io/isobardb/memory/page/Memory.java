package io.isobardb.memory.page;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A region of off-heap memory with typed little-endian access at absolute offsets.
 *
 * <p>The only class that touches raw memory. Every access is bounds-checked against the region; a
 * wrong offset gives an {@link IndexOutOfBoundsException}, never a crash. Plain access has no
 * ordering; {@code Acquire}, {@code Release} and {@code compareAndSet} need offsets aligned to the
 * size of the value.
 *
 * <p>Freeing is the business of the part that allocated the region ({@code memory.pool}); access
 * after that is a defect which epochs and pins exclude.
 */
public final class Memory {
  /** A region without a byte. */
  public static final Memory NONE = new Memory(ByteBuffer.allocateDirect(0));

  private static final VarHandle LONGS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** Beyond so many bytes, what is filled is copied: that is fast before any code is compiled. */
  private static final int FILLED_BY_WORDS = 64;

  /** Up to so many bytes, a call that copies them costs more than copying does. */
  private static final int COPIED_BY_WORDS = 64;

  /** The smallest page of memory of any system. */
  private static final int SYSTEM_PAGE = 4096;

  private final ByteBuffer buffer;

  /**
   * Wraps a direct buffer; position and limit of {@code direct} delimit the region.
   *
   * @throws IllegalArgumentException if the buffer is not direct
   */
  public Memory(ByteBuffer direct) {
    if (!direct.isDirect()) {
      throw new IllegalArgumentException("memory must be a direct buffer");
    }
    this.buffer = direct.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Size of the region in bytes. */
  public int size() {
    return buffer.capacity();
  }

  public byte getByte(int offset) {
    return buffer.get(offset);
  }

  /** An unsigned 16-bit value. */
  public int getUnsignedShort(int offset) {
    return buffer.getShort(offset) & 0xFFFF;
  }

  public int getInt(int offset) {
    return buffer.getInt(offset);
  }

  public long getLong(int offset) {
    return buffer.getLong(offset);
  }

  public void putByte(int offset, byte value) {
    buffer.put(offset, value);
  }

  public void putShort(int offset, int value) {
    buffer.putShort(offset, (short) value);
  }

  public void putInt(int offset, int value) {
    buffer.putInt(offset, value);
  }

  public void putLong(int offset, long value) {
    buffer.putLong(offset, value);
  }

  public int getIntAcquire(int offset) {
    return (int) INTS.getAcquire(buffer, offset);
  }

  public int getIntOpaque(int offset) {
    return (int) INTS.getOpaque(buffer, offset);
  }

  public void putIntRelease(int offset, int value) {
    INTS.setRelease(buffer, offset, value);
  }

  public long getLongAcquire(int offset) {
    return (long) LONGS.getAcquire(buffer, offset);
  }

  public long getLongOpaque(int offset) {
    return (long) LONGS.getOpaque(buffer, offset);
  }

  public void putLongRelease(int offset, long value) {
    LONGS.setRelease(buffer, offset, value);
  }

  public boolean compareAndSetLong(int offset, long expected, long value) {
    return LONGS.compareAndSet(buffer, offset, expected, value);
  }

  public boolean compareAndSetInt(int offset, int expected, int value) {
    return INTS.compareAndSet(buffer, offset, expected, value);
  }

  /** Atomically adds, and gives the value before. */
  public int getAndAddInt(int offset, int delta) {
    return (int) INTS.getAndAdd(buffer, offset, delta);
  }

  /** Atomically ORs {@code bits} in, and gives the value before. */
  public long getAndOrLong(int offset, long bits) {
    return (long) LONGS.getAndBitwiseOr(buffer, offset, bits);
  }

  /** Eight bytes as a big-endian word: unsigned comparison of such words is comparison of bytes. */
  public long getWord(int offset) {
    return Long.reverseBytes(buffer.getLong(offset));
  }

  public void get(int offset, byte[] target, int targetOffset, int length) {
    buffer.get(offset, target, targetOffset, length);
  }

  /**
   * As {@link #get(int, byte[], int, int)}, faster if it is short. Up to seven bytes behind the
   * range may be read, and those behind {@code length} bytes of the target be overwritten.
   */
  public void getWords(int offset, byte[] target, int targetOffset, int length) {
    if (length > COPIED_BY_WORDS
        || offset + length + 7 > buffer.capacity()
        || targetOffset + length + 7 > target.length) {
      buffer.get(offset, target, targetOffset, length);
      return;
    }
    for (int i = 0; i < length; i += 8) {
      Words.put(target, targetOffset + i, getWord(offset + i));
    }
  }

  public void put(int offset, byte[] source, int sourceOffset, int length) {
    buffer.put(offset, source, sourceOffset, length);
  }

  /** Copies into {@code target} at the absolute index {@code targetOffset}; no position moves. */
  public void get(int offset, ByteBuffer target, int targetOffset, int length) {
    target.put(targetOffset, buffer, offset, length);
  }

  /** Copies from another region, or within this one; overlapping ranges are copied correctly. */
  public void copyFrom(int offset, Memory source, int sourceOffset, int length) {
    buffer.put(offset, source.buffer, sourceOffset, length);
  }

  /** Moves bytes within this region; the ranges may overlap. */
  public void move(int from, int to, int length) {
    buffer.put(to, buffer, from, length);
  }

  /** Writes to each of the system's pages, so that later writes do not wait for it. All is zero. */
  public void touch() {
    for (int at = 0; at < size(); at += SYSTEM_PAGE) {
      putByte(at, (byte) 0);
    }
  }

  /** Writes zeros. */
  public void zero(int offset, int length) {
    fill(offset, length, (byte) 0);
  }

  /** Writes {@code value} into every byte of the range. */
  public void fill(int offset, int length, byte value) {
    int first = Math.min(length, FILLED_BY_WORDS);
    long word = (value & 0xFFL) * 0x0101010101010101L;
    int done = 0;
    for (; done + 8 <= first; done += 8) {
      buffer.putLong(offset + done, word);
    }
    for (; done < first; done++) {
      buffer.put(offset + done, value);
    }
    while (done < length) {
      int copied = Math.min(done, length - done);
      buffer.put(offset + done, buffer, offset, copied);
      done += copied;
    }
  }

  /**
   * Compares a stored key with a key on the heap, as unsigned bytes.
   *
   * @return negative, zero or positive as the stored key is less than, equal to or greater than the
   *     other
   */
  public int compare(int offset, int length, byte[] key, int keyOffset, int keyLength) {
    int common = Math.min(length, keyLength);
    int i = 0;
    for (; i + 8 <= common; i += 8) {
      long a = Long.reverseBytes(buffer.getLong(offset + i));
      long b = Words.get(key, keyOffset + i);
      if (a != b) {
        return Long.compareUnsigned(a, b);
      }
    }
    for (; i < common; i++) {
      int a = buffer.get(offset + i) & 0xFF;
      int b = key[keyOffset + i] & 0xFF;
      if (a != b) {
        return a - b;
      }
    }
    return length - keyLength;
  }

  /** Compares two stored keys, as unsigned bytes. */
  public int compare(int offset, int length, Memory other, int otherOffset, int otherLength) {
    int common = Math.min(length, otherLength);
    int i = 0;
    for (; i + 8 <= common; i += 8) {
      long a = buffer.getLong(offset + i);
      long b = other.buffer.getLong(otherOffset + i);
      if (a != b) {
        return Long.compareUnsigned(Long.reverseBytes(a), Long.reverseBytes(b));
      }
    }
    for (; i < common; i++) {
      int a = buffer.get(offset + i) & 0xFF;
      int b = other.buffer.get(otherOffset + i) & 0xFF;
      if (a != b) {
        return a - b;
      }
    }
    return length - otherLength;
  }

  /** Computes checksums of this region, for one thread at a time. */
  public MemoryChecksum newChecksum() {
    return new MemoryChecksum(buffer.duplicate());
  }

  /** Feeds the range to a checksum. */
  public void update(CRC32C checksum, int offset, int length) {
    checksum.update(buffer.slice(offset, length));
  }

  /**
   * A view of the range for channels and for readers outside the engine. It is little-endian,
   * starts at position zero and ends at {@code length}.
   */
  public ByteBuffer slice(int offset, int length) {
    return buffer.slice(offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A view of the range that nobody can write through; big-endian, as buffers are by default. */
  public ByteBuffer view(int offset, int length) {
    return buffer.slice(offset, length).asReadOnlyBuffer();
  }
}
