package io.isobardb.lsm.state;

import java.util.concurrent.atomic.DoubleAdder;

/**
 * What flushes and disk merges have done to a tree since the store was opened, and what reads
 * missed in its memory.
 *
 * <p>Thread rule: all methods may be called by any thread. They are called once a slice or merge,
 * or once a read from disk.
 */
public final class TreeWork {
  /** The weight of the last merge among those before it. */
  private static final double RECENT = 1 / 8.0;

  private long mergedBytes;
  private long memoryFlushedBytes;
  private long otherFlushedBytes;
  private int flushes;
  private long sweeps;
  private double shareSum;
  private double l0Bytes;
  private double l0Left = 1;
  private final DoubleAdder recentReads = new DoubleAdder();

  /**
   * The sums so far.
   *
   * @param mergedBytes what disk merges wrote, in bytes
   * @param memoryFlushedBytes what flushes for memory's sake wrote, in bytes
   * @param otherFlushedBytes what all other flushes wrote, in bytes: those for the log's sake, and
   *     those that somebody asked for
   * @param flushes slices of which the flush began
   * @param shareSum over those slices, the share of write memory that the tree held then
   * @param recentReads how many lookups that had to read from disk one more byte in memory would
   *     have answered
   */
  public record Sums(
      long mergedBytes,
      long memoryFlushedBytes,
      long otherFlushedBytes,
      int flushes,
      double shareSum,
      double recentReads) {}

  /** A slice is to be flushed; {@code share} is the part of write memory that the tree holds. */
  public synchronized void flushBegins(double share) {
    flushes++;
    shareSum += share;
  }

  /** A slice was flushed. */
  public synchronized void flushed(long bytes, boolean forMemory) {
    if (forMemory) {
      memoryFlushedBytes += bytes;
    } else {
      otherFlushedBytes += bytes;
    }
  }

  /** A disk merge has ended. */
  public synchronized void merged(long bytes) {
    mergedBytes += bytes;
  }

  /**
   * A lookup had to read from disk and found its entry in L0, which holds so many bytes. L0 is what
   * memory held last: that much more memory would have answered it, and a byte more its part.
   */
  public void foundInL0(long l0Bytes) {
    recentReads.add(1.0 / Math.max(1, l0Bytes));
  }

  /** A merge of L0 into the levels begins; L0 holds so many bytes. */
  public synchronized void leavesL0(long bytes) {
    l0Bytes = l0Bytes == 0 ? bytes : l0Bytes + (bytes - l0Bytes) * RECENT;
  }

  /** Such a merge has ended: how many bytes went in, and how many came out. */
  public synchronized void leftL0(long in, long out) {
    l0Left += ((double) out / Math.max(1, in) - l0Left) * RECENT;
  }

  /**
   * What L0 has delivered to the levels at a time lately, without what merges left out of it, in
   * bytes; 0 if it has not yet.
   */
  public synchronized long batchBytes() {
    return (long) (l0Bytes * l0Left);
  }

  /** Flushes have come to the end of the tree's keys. */
  public synchronized void swept() {
    sweeps++;
  }

  /** How often {@link #swept} was called. */
  public synchronized long sweeps() {
    return sweeps;
  }

  /** All of it, of one moment but for {@code recentReads}. */
  public synchronized Sums sums() {
    return new Sums(
        mergedBytes, memoryFlushedBytes, otherFlushedBytes, flushes, shareSum, recentReads.sum());
  }
}
