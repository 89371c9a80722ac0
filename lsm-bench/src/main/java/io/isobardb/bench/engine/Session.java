package io.isobardb.bench.engine;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thread's operations on an {@link Engine}. Not thread-safe. Arrays given are read or filled
 * before the call returns and never kept, save that engines on the heap may keep the arrays given
 * to {@link #put}: callers hand over fresh ones if {@link #keepsArrays}.
 */
public interface Session extends AutoCloseable {

  /** What {@link #get} returns for an absent key. */
  int ABSENT = -1;

  /** Whether {@link #put} keeps the arrays it is given. */
  default boolean keepsArrays() {
    return false;
  }

  /** Inserts or overwrites. */
  void put(int tree, byte[] key, byte[] value);

  /**
   * Inserts or overwrites all of them at once. They are on the device when it returns.
   *
   * @throws UnsupportedOperationException if that is not there for this engine
   */
  default void putAll(int tree, byte[][] keys, byte[][] values) {
    throw new UnsupportedOperationException("batches of " + getClass().getSimpleName());
  }

  /**
   * Copies the value into {@code into} if it fits; what the array holds is otherwise undefined.
   *
   * @return the value's length, or {@link #ABSENT}
   */
  int get(int tree, byte[] key, byte[] into);

  /**
   * Looks at a value where it lies, or as near to that as the engine lets users come.
   *
   * @return what {@link #seen} says of the value, or {@link #ABSENT}
   */
  int look(int tree, byte[] key);

  /** A value's length, times 256, and its first byte: whoever tells it has looked at the value. */
  static int seen(int length, int first) {
    return length << 8 | first & 0xff;
  }

  /** Removes the key if it is there. */
  void delete(int tree, byte[] key);

  /**
   * Visits up to {@code limit} entries in ascending order from the first key not below {@code
   * from}; returns how many.
   */
  int scan(int tree, byte[] from, int limit, Visitor visitor);

  /** Visits all entries whose keys begin with {@code prefix}, in ascending order. */
  int scanPrefix(int tree, byte[] prefix, Visitor visitor);

  /** The values of many keys, in the keys' order, null for those that are absent. */
  List<byte @Nullable []> multiGet(int tree, List<byte[]> keys);

  @Override
  void close();

  /** Whether a key of {@code length} bytes begins with {@code prefix}. */
  static boolean beginsWith(byte[] key, int length, byte[] prefix) {
    return length >= prefix.length
        && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
  }

  /** Sees the entries of a scan. */
  @FunctionalInterface
  interface Visitor {
    /**
     * The arrays hold the entry from index 0; they are valid, and may be longer than the entry,
     * until the method returns.
     */
    void entry(byte[] key, int keyLength, byte[] value, int valueLength);
  }
}
