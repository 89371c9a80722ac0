package io.isobardb.bench.engine;

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
   * Copies the value into {@code into} if it fits; what the array holds is otherwise undefined.
   *
   * @return the value's length, or {@link #ABSENT}
   */
  int get(int tree, byte[] key, byte[] into);

  /** Removes the key if it is there. */
  void delete(int tree, byte[] key);

  /**
   * Visits up to {@code limit} entries in ascending order from the first key not below {@code
   * from}; returns how many.
   */
  int scan(int tree, byte[] from, int limit, Visitor visitor);

  @Override
  void close();

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
