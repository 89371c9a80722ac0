package io.isobardb.lsm.state;

import io.isobardb.lsm.version.Place;
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

  /** The same, where merges differ more. */
  private static final double RECENT_TAKEN = 1 / 32.0;

  private long mergedBytes;
  private long mergedForReadsBytes;
  private final long[] levelMergedBytes = new long[Place.MAX_LEVELS];
  private long memoryFlushedBytes;
  private long otherFlushedBytes;
  private int flushes;
  private long sweeps;
  private double shareSum;
  private double l0Bytes;
  private double l0Left = 1;

  /** What a merge takes of L0, and what it takes of one group; means of the last ones. */
  private double takenBytes;

  private double layerBytes;
  private long sweptWrites;
  private double roundWrites;
  private final DoubleAdder recentReads = new DoubleAdder();

  /**
   * The sums so far.
   *
   * @param mergedBytes what disk merges wrote, in bytes
   * @param mergedForReadsBytes what those of them wrote that reads have paid for, in bytes
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
      long mergedForReadsBytes,
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
  public synchronized void onFlushed(long bytes, boolean forMemory) {
    if (forMemory) {
      memoryFlushedBytes += bytes;
    } else {
      otherFlushedBytes += bytes;
    }
  }

  /** A disk merge has written so much there; {@code forReads} if reads have paid for it. */
  public synchronized void onMerged(long bytes, Place output, boolean forReads) {
    mergedBytes += bytes;
    mergedForReadsBytes += forReads ? bytes : 0;
    if (output.isLevel()) {
      levelMergedBytes[output.height()] += bytes;
    }
  }

  /** What disk merges have written to each level, by height, in bytes. */
  public synchronized long[] levelMergedBytes() {
    return levelMergedBytes.clone();
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

  /**
   * Such a merge has ended.
   *
   * @param in how many bytes went in
   * @param out how many came out
   * @param taken how many of what went in L0 had
   * @param groups in how many groups
   */
  public synchronized void leftL0(long in, long out, long taken, int groups) {
    takenBytes += (taken - takenBytes) * RECENT_TAKEN;
    layerBytes += ((double) taken / Math.max(1, groups) - layerBytes) * RECENT_TAKEN;
    l0Left += ((double) out / Math.max(1, in) - l0Left) * RECENT;
  }

  /**
   * What L0 has delivered to the levels at a time lately, without what merges left out of it, in
   * bytes; 0 if it has not yet.
   */
  public synchronized long batchBytes() {
    return (long) (l0Bytes * l0Left);
  }

  /**
   * How many groups merges of L0 have taken at a time lately: how often flushes come by a key until
   * a merge does. 0 if there were none yet.
   */
  public synchronized double l0Depth() {
    return layerBytes > 0 ? takenBytes / layerBytes : 0;
  }

  /** Flushes have come to the end of the tree's keys, after so many writes since it was opened. */
  public synchronized void onSwept(long writes) {
    if (sweeps > 0) {
      long round = writes - sweptWrites;
      roundWrites = roundWrites == 0 ? round : roundWrites + (round - roundWrites) * RECENT;
    }
    sweptWrites = writes;
    sweeps++;
  }

  /**
   * How many writes there were lately from one {@link #onSwept} to the next; 0 if not known yet.
   */
  public synchronized double roundWrites() {
    return roundWrites;
  }

  /** How often {@link #onSwept} was called. */
  public synchronized long sweeps() {
    return sweeps;
  }

  /** All of it, of one moment but for {@code recentReads}. */
  public synchronized Sums sums() {
    return new Sums(
        mergedBytes,
        mergedForReadsBytes,
        memoryFlushedBytes,
        otherFlushedBytes,
        flushes,
        shareSum,
        recentReads.sum());
  }
}
