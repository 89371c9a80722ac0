package io.isobardb.lsm.state;

/**
 * Whether to merge all that a tree has in memory makes room there: nobody knows how many old
 * versions it holds before it is done, so the last time tells. After a merge in vain the next one
 * waits until more was written, each time twice as much: so what is tried in vain costs little.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class MergeGain {
  /** A merge that drops less than this share of the entries was in vain. */
  private static final double WORTH = 1 / 3.0;

  private static final int MOST_DOUBLINGS = 4;

  private int inVain;
  private long notBefore;

  /**
   * Whether a merge is worth a try now.
   *
   * @param bytesWritten to the tree so far
   */
  public synchronized boolean hoped(long bytesWritten) {
    return bytesWritten >= notBefore;
  }

  /**
   * All was merged.
   *
   * @param read entries that it had
   * @param left entries that it has now
   * @param bytes that it had
   * @param bytesWritten to the tree so far
   */
  public synchronized void merged(long read, long left, long bytes, long bytesWritten) {
    boolean worth = read - left >= WORTH * read;
    inVain = worth ? 0 : Math.min(inVain + 1, MOST_DOUBLINGS);
    notBefore = worth ? bytesWritten : bytesWritten + (bytes << inVain);
  }
}
