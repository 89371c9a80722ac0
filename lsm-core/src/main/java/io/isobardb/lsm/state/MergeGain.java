package io.isobardb.lsm.state;

/**
 * Whether merging what a tree has in memory makes room there: nobody knows how many old versions
 * and half-filled leaves it holds before it is done, so the last time tells. After a round in vain
 * the next one waits until more was written, each time twice as much: so what is tried in vain
 * costs little.
 *
 * <p>Room is counted in bytes of pages: that is what flushes wait for. Thread rule: all methods may
 * be called by any thread.
 */
public final class MergeGain {
  /** A round that frees less than this share of what was new in it was in vain. */
  private static final double WORTH = 0.25;

  private static final int MOST_DOUBLINGS = 4;

  private int inVain;
  private long notBefore;
  private long freshBytes;
  private long packedBytes;
  private long leftBytes;

  /**
   * Whether a merge is worth a try now.
   *
   * @param bytesWritten to the tree so far
   */
  public synchronized boolean hoped(long bytesWritten) {
    return bytesWritten >= notBefore;
  }

  /** Pages of sealed active SSTables came free, of this many bytes. */
  public synchronized void tookFresh(long bytes) {
    freshBytes += bytes;
  }

  /** SSTables that earlier merges had made came free. */
  public synchronized void tookPacked(long bytes) {
    packedBytes += bytes;
  }

  /** An SSTable was made of what came free, or is about to. */
  public synchronized void onLeft(long bytes) {
    leftBytes += bytes;
  }

  /**
   * All keys have had their turn.
   *
   * @param bytesWritten to the tree so far
   */
  public synchronized void roundEnds(long bytesWritten) {
    long bytes = freshBytes + packedBytes;
    boolean worth = bytes - leftBytes >= WORTH * freshBytes;
    inVain = worth ? 0 : Math.min(inVain + 1, MOST_DOUBLINGS);
    notBefore = worth ? bytesWritten : bytesWritten + (bytes << inVain);
    freshBytes = 0;
    packedBytes = 0;
    leftBytes = 0;
  }
}
