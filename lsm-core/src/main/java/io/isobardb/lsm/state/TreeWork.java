package io.isobardb.lsm.state;

/**
 * What flushes and disk merges have done to a tree since the store was opened.
 *
 * <p>Thread rule: all methods may be called by any thread. They are called once a slice or merge.
 */
public final class TreeWork {
  private long mergedBytes;
  private long memoryFlushedBytes;
  private long otherFlushedBytes;
  private int flushes;
  private double shareSum;

  /**
   * The sums so far.
   *
   * @param mergedBytes what disk merges wrote, in bytes
   * @param memoryFlushedBytes what flushes for memory's sake wrote, in bytes
   * @param otherFlushedBytes what all other flushes wrote, in bytes: those for the log's sake, and
   *     those that somebody asked for
   * @param flushes slices of which the flush began
   * @param shareSum over those slices, the share of write memory that the tree held then
   */
  public record Sums(
      long mergedBytes,
      long memoryFlushedBytes,
      long otherFlushedBytes,
      int flushes,
      double shareSum) {}

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

  /** All of it, of one moment. */
  public synchronized Sums sums() {
    return new Sums(mergedBytes, memoryFlushedBytes, otherFlushedBytes, flushes, shareSum);
  }
}
