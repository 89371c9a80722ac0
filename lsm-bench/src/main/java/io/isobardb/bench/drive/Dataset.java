package io.isobardb.bench.drive;

import io.isobardb.cli.console.UsageException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Keys and values of a comparison, computed from the record's number. Immutable, thread-safe,
 * allocates nothing.
 *
 * <p>A key is the number's hash and the number, each 8 bytes big-endian, cut or filled with zeros
 * to the key size: the key order is random in the record's number, and keys differ from 8 bytes on.
 * A value begins with the record's number and its version, if it is 24 bytes or longer; the rest is
 * a pseudo-random stream of these, which does not compress and can be checked.
 */
public final class Dataset {
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LITTLE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int HEADER_BYTES = 16;

  /**
   * Shorter values have no header: nothing would be left that tells a right one from a wrong one.
   */
  public static final int HEADED_VALUE_BYTES = 24;

  private final int keyBytes;
  private final int valueBytes;

  /** Keys of 8 to 500 bytes, and values of up to 1 MB. */
  public Dataset(int keyBytes, int valueBytes) {
    if (keyBytes < 8 || keyBytes > 500) {
      throw new UsageException("key size is not in 8..500: " + keyBytes);
    }
    if (valueBytes < 0 || valueBytes > 1 << 20) {
      throw new UsageException("value size is not in 0..1 MB: " + valueBytes);
    }
    this.keyBytes = keyBytes;
    this.valueBytes = valueBytes;
  }

  int keyBytes() {
    return keyBytes;
  }

  int valueBytes() {
    return valueBytes;
  }

  /** A bijection of 64 bits (SplitMix64's finaliser). */
  public static long mix(long z) {
    long y = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    y = (y ^ (y >>> 27)) * 0x94d049bb133111ebL;
    return y ^ (y >>> 31);
  }

  /** Writes the key of {@code record}; {@code key} has the key size. */
  public void key(long record, byte[] key) {
    BIG.set(key, 0, mix(record + 0x9e3779b97f4a7c15L));
    if (keyBytes >= 16) {
      BIG.set(key, 8, record);
    } else {
      for (int i = 8; i < keyBytes; i++) {
        key[i] = (byte) (record >>> (8 * (15 - i)));
      }
    }
  }

  /** Writes the value of {@code record} in {@code version}; {@code value} has the value size. */
  public void value(long record, long version, byte[] value) {
    if (valueBytes < HEADED_VALUE_BYTES) {
      fill(value, 0, mix(record));
      return;
    }
    LITTLE.set(value, 0, record);
    LITTLE.set(value, 8, version);
    fill(value, HEADER_BYTES, mix(record ^ mix(version)));
  }

  private void fill(byte[] value, int from, long seed) {
    long state = seed;
    int at = from;
    for (; at + 8 <= valueBytes; at += 8) {
      state = state * 0xd1342543de82ef95L + 1;
      LITTLE.set(value, at, state ^ (state >>> 32));
    }
    for (; at < valueBytes; at++) {
      state = state * 0xd1342543de82ef95L + 1;
      value[at] = (byte) (state >>> 56);
    }
  }

  /**
   * Checks that {@code value[0, length)} is a value of {@code record} in some version.
   *
   * @throws IllegalStateException if it is not
   */
  public void check(long record, byte[] value, int length, byte[] scratch) {
    if (length != valueBytes) {
      throw new IllegalStateException(
          "record " + record + " has a value of " + length + " bytes, not " + valueBytes);
    }
    boolean headed = valueBytes >= HEADED_VALUE_BYTES;
    long found = headed ? (long) LITTLE.get(value, 0) : record;
    long version = headed ? (long) LITTLE.get(value, 8) : 0;
    value(found, version, scratch);
    int mismatch = Arrays.mismatch(value, 0, length, scratch, 0, length);
    if (found != record || mismatch >= 0) {
      throw new IllegalStateException(
          "wrong value for record "
              + record
              + (mismatch >= 0
                  ? ": it is damaged from byte " + mismatch + " of " + length + " on"
                  : ": it is record " + found + "'s"));
    }
  }

  /** The record's number in a key, or -1 if keys are too short to hold it. */
  long record(byte[] key) {
    return keyBytes >= 16 ? (long) BIG.get(key, 8) : -1;
  }
}
