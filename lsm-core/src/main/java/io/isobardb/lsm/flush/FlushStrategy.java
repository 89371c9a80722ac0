package io.isobardb.lsm.flush;

import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.observe.StoreListener.FlushKind;

/**
 * How much of a tree a flush takes, once the tree is chosen ("Breaking Down Memory Walls in
 * LSM-based Storage Systems", 4.1.4). Pure functions; any thread.
 *
 * <p>With little write memory {@link #ROUND_ROBIN} writes the fewest bytes: what it takes has
 * gathered a whole round's writes. With so much that the log triggers the flushes it is {@link
 * #FULL} in the paper, whose small flushes after each other overlap in L0, with {@link #OLDEST}
 * between, and {@link #ADAPTIVE} going from one to the other. Here the slices of a round do not
 * overlap, and {@link #ROUND_ROBIN} wrote no more than the others there but for skewed keys with a
 * log about as long as write memory is large, where {@link #FULL} wrote a tenth less
 * (docs/decisions/0014).
 *
 * <p>A tree without a floor that has little of the write memory is flushed whole for memory's sake,
 * whatever the strategy: of two or three slices neither memory nor L0 has anything.
 */
public enum FlushStrategy {
  /** Slices of all runs, each going on in the key space where the last one ended. */
  ROUND_ROBIN,
  /** Slices of all runs, those first that have some of the oldest entries. */
  OLDEST,
  /** All the tree has in memory. */
  FULL,
  /**
   * For memory's sake as {@link #ROUND_ROBIN}. For the log's sake, too, if enough is flushed for
   * memory's sake anyway: the oldest entries are where the round goes on. Else as {@link #FULL}.
   */
  ADAPTIVE;

  /**
   * Of the most that a tree had in memory, the part that has to be flushed for memory's sake within
   * a log's length for more than the oldest run to be on its way soon: beta.
   */
  private static final double BETA = 0.5;

  /**
   * How to flush a tree because memory runs short.
   *
   * @param small whether slices of it are of no use; see {@link MemoryComponent#isSmall}
   */
  FlushKind forMemory(boolean small) {
    if (small) {
      return FlushKind.FULL;
    }
    return this == ADAPTIVE ? FlushKind.PARTIAL : kind();
  }

  /**
   * How to flush a tree because the log is too long. The window is as long as the log may be.
   *
   * @param flushedBytes of the tree's memory that flushes for memory's sake took in the window
   * @param mostBytes the most that it had in memory at any time in the window
   */
  FlushKind forLog(long flushedBytes, long mostBytes) {
    if (this == ADAPTIVE) {
      return flushedBytes <= BETA * mostBytes ? FlushKind.FULL : FlushKind.PARTIAL;
    }
    return kind();
  }

  private FlushKind kind() {
    return switch (this) {
      case ROUND_ROBIN -> FlushKind.PARTIAL;
      case OLDEST -> FlushKind.OLDEST;
      case FULL, ADAPTIVE -> FlushKind.FULL;
    };
  }
}
