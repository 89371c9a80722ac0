package io.isobardb.bench.crash;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.MergeOperator;
import java.util.Arrays;

/**
 * What the victims write: all of it follows from a thread's number and an operation's, so that a
 * witness need not be told.
 *
 * <p>Operation {@code n} of a thread puts a key of its own into one tree, or into all logged trees
 * at once, or deletes an earlier one. Some keys expire, at a time that follows from when the store
 * was made. Thread 0 also counts in an unlogged tree.
 */
final class KillWorkload {
  static final int THREADS = 4;

  /** The logged trees. */
  static final int TREES = 3;

  /** The unlogged tree. */
  static final String COUNTER = "counter";

  /** The logged tree of sums: each thread's operation {@code n} adds one to one of its sums. */
  static final String SUMS = "sums";

  /** Sums of each thread; all threads have 1,000. */
  static final int SUM_KEYS = 1000 / THREADS;

  /** The counter's keys: count {@code n} goes to key {@code n % COUNTER_KEYS}. */
  static final int COUNTER_KEYS = 16;

  private static final int DELETE_BACK = 3;

  /** About as long as an operation of a thread takes, openings and kills included. */
  private static final long OPERATION_MILLIS = 50;

  /** What expires does so within this time, or has when it is put. */
  private static final long MOST_MILLIS = 4000;

  private KillWorkload() {}

  static String tree(int i) {
    return "tree" + i;
  }

  static TreeOptions options(int tree) {
    return TreeOptions.builder()
        .compression(tree == 1 ? Compression.LZ4.last("ZSTD") : Compression.NONE)
        .filterBitsPerKey(tree == 2 ? 0 : 10)
        .build();
  }

  static TreeOptions counterOptions() {
    return TreeOptions.builder().logged(false).build();
  }

  static TreeOptions sumOptions() {
    return TreeOptions.builder().mergeOperator(MergeOperator.ADD_LONG).build();
  }

  /** The sum that operation {@code n} of a thread adds to. */
  static byte[] sum(int thread, long n) {
    return new byte[] {(byte) thread, (byte) (n % SUM_KEYS)};
  }

  /** How much of a thread's operations before {@code next} goes to the sum of one of them. */
  static long sumOf(long n, long next) {
    long same = n % SUM_KEYS;
    return next <= same ? 0 : (next - same - 1) / SUM_KEYS + 1;
  }

  static boolean isBatch(long n) {
    return n % 5 == 0;
  }

  /** Whether operation {@code n} deletes what operation {@link #deleted} put. */
  static boolean isDelete(long n) {
    return n % 11 == 7 && !isBatch(n) && deleted(n) >= 0 && !isBatch(deleted(n));
  }

  static long deleted(long n) {
    return n - DELETE_BACK;
  }

  /** Whether it is deleted by a later operation, and by which; -1 if not. */
  static long deletedBy(long n) {
    long by = n + DELETE_BACK;
    return !isDelete(n) && isDelete(by) ? by : -1;
  }

  /** Whether what operation {@code n} puts into a tree expires. Of a batch one entry stays. */
  static boolean expires(long n, int tree) {
    return n % 7 == 6 && !(isBatch(n) && tree == TREES - 1);
  }

  /**
   * When it does, in milliseconds since the Unix epoch: early or late, if threads get on as they
   * are taken to.
   *
   * @param made when the store was
   */
  static long expiry(long n, long made) {
    return made + n * OPERATION_MILLIS + n * 7919 % MOST_MILLIS;
  }

  static boolean isSync(long n) {
    return n % 8 == 1;
  }

  /** Whether operation {@code n} puts something into a tree. */
  static boolean isIn(long n, int tree) {
    return !isDelete(n) && (isBatch(n) || treeOf(n) == tree);
  }

  static int treeOf(long n) {
    return (int) (n % TREES);
  }

  static byte[] key(int thread, long n) {
    String scattered = Long.toString(n * 0x9E3779B97F4A7C15L >>> 20, 36);
    return (scattered + "/" + thread + "/" + n).getBytes();
  }

  static byte[] value(int thread, long n) {
    byte[] value = new byte[(int) (n % 97 == 0 ? 9000 : 200 + n * 7 % 500)];
    Arrays.fill(value, (byte) (n * 31 + thread));
    return value;
  }
}
