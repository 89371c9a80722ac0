package io.isobardb.tuner.memory;

/**
 * What one tree did in one tuning cycle. The size ratio and the number of levels are not among it:
 * they cancel out of equation 4.
 *
 * @param tree the tree's ID, for people
 * @param writtenBytes entries that clients wrote to it
 * @param mergedBytes what its disk merges wrote: merge<sub>i</sub>(x) of the paper, times
 *     operations, in bytes
 * @param memoryFlushedBytes flushed because write memory was full: flush<sub>mem</sub>
 * @param logFlushedBytes flushed because the log was: flush<sub>log</sub>
 * @param flushes how many flushes began
 * @param shareSum the sum, over those flushes, of the share of write memory that the tree held when
 *     the flush began, 0 to 1 each: its mean is a<sub>i</sub>
 * @param recentReads what a byte more of memory for this tree would have saved of the pages read
 *     for lookups, since it would have held for longer what was flushed; a million at most
 * @param lastLevelBytes size of its last level: |L<sub>N</sub>|
 * @param floorBytes write memory that it is to keep; a part of the write memory's floor
 * @param weight how much its writes count in the cost, 1 ordinarily, a million at most
 * @param steepness how many percent less its merges write with one percent more memory, by a model
 *     that knows how popular its keys are; 0 if there is none, and then equation 5 tells; a million
 *     at most
 */
public record TreeCycle(
    long tree,
    long writtenBytes,
    long mergedBytes,
    long memoryFlushedBytes,
    long logFlushedBytes,
    int flushes,
    double shareSum,
    double recentReads,
    long lastLevelBytes,
    long floorBytes,
    double weight,
    double steepness) {

  /**
   * Checks the numbers.
   *
   * @param tree any number
   * @param writtenBytes 0 or more
   * @param mergedBytes 0 or more
   * @param memoryFlushedBytes 0 or more
   * @param logFlushedBytes 0 or more
   * @param flushes 0 or more
   * @param shareSum 0 or more
   * @param recentReads 0 to a million
   * @param lastLevelBytes 0 or more
   * @param floorBytes 0 or more
   * @param weight 0 to a million
   * @param steepness 0 to a million
   * @throws IllegalArgumentException if a number is negative not finite or too large; the message
   *     names it
   */
  public TreeCycle {
    Check.notNegative("writtenBytes", writtenBytes);
    Check.notNegative("mergedBytes", mergedBytes);
    Check.notNegative("memoryFlushedBytes", memoryFlushedBytes);
    Check.notNegative("logFlushedBytes", logFlushedBytes);
    Check.notNegative("flushes", flushes);
    Check.notNegative("shareSum", shareSum);
    Check.weight("recentReads", recentReads);
    Check.notNegative("lastLevelBytes", lastLevelBytes);
    Check.notNegative("floorBytes", floorBytes);
    Check.weight("weight", weight);
    Check.weight("steepness", steepness);
  }

  /** All that was flushed, in bytes. */
  double flushedBytes() {
    return (double) memoryFlushedBytes + logFlushedBytes;
  }

  /**
   * The scale factor of section 5.2: near 1 if memory triggers the flushes, near 0 if the log does,
   * and more memory were of no use. 1 if nothing was flushed: what is merged then was flushed
   * earlier.
   */
  double memoryTriggered() {
    return flushedBytes() > 0 ? memoryFlushedBytes / flushedBytes() : 1;
  }
}
