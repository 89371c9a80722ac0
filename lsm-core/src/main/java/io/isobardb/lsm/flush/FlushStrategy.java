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
   * As {@link #ROUND_ROBIN}, or as {@link #FULL} where the log is cut before slices have come
   * round. For the log's sake that is so if little was flushed for memory's sake lately: the
   * paper's rule. For either's, if what a tree has in memory is hardly taken once and a half within
   * a log's length: slices would be flushed for memory's sake and again for the log's, and the two
   * together write more than either alone (decision 0014).
   */
  ADAPTIVE;

  /**
   * Of the most that a tree had in memory, the part that has to be flushed for memory's sake within
   * a log's length for more than the oldest run to be on its way soon: beta.
   */
  private static final double BETA = 0.5;

  /**
   * So many times the most that a tree had in memory has to be flushed within a log's length for
   * slices, once that is known. Full flushes turn it over a whole number of times: so this stays
   * clear of them.
   */
  private static final double SLICES_TURN = 1.5;

  /** This, or {@link #FULL} if the memory component is flushed whole in any case. */
  public FlushStrategy with(MemoryComponent component) {
    return component.flushesWhole() ? FULL : this;
  }

  /**
   * How to flush a tree because memory runs short.
   *
   * @param small whether slices of it are of no use; see {@link MemoryComponent#isSmall}
   * @param lately what was flushed of it within a log's length
   */
  public FlushKind forMemory(boolean small, WriteWindow.Turnover lately) {
    if (this == ADAPTIVE) {
      return small || !turnsOver(lately) ? FlushKind.FULL : FlushKind.PARTIAL;
    }
    return small ? FlushKind.FULL : kind();
  }

  /**
   * How to flush a tree because the log is too long.
   *
   * @param lately what was flushed of it within a log's length
   */
  public FlushKind forLog(WriteWindow.Turnover lately) {
    if (this == ADAPTIVE) {
      boolean enough = lately.forMemoryBytes() > BETA * lately.mostBytes();
      return enough && turnsOver(lately) ? FlushKind.PARTIAL : FlushKind.FULL;
    }
    return kind();
  }

  private static boolean turnsOver(WriteWindow.Turnover lately) {
    return !lately.known() || lately.flushedBytes() >= SLICES_TURN * lately.mostBytes();
  }

  private FlushKind kind() {
    return switch (this) {
      case ROUND_ROBIN -> FlushKind.PARTIAL;
      case OLDEST -> FlushKind.OLDEST;
      case FULL, ADAPTIVE -> FlushKind.FULL;
    };
  }
}
