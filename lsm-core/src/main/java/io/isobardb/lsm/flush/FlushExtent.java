package io.isobardb.lsm.flush;

import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;

/**
 * How much of a tree a flush takes, by a {@link FlushStrategy}. Pure functions; any thread.
 *
 * <p>With little write memory {@code ROUND_ROBIN} writes the fewest bytes: what it takes has
 * gathered a whole round's writes. With so much that the log triggers the flushes it is {@code
 * FULL} in the paper, whose small flushes after each other overlap in L0. Here the slices of a
 * round do not overlap, and {@code ROUND_ROBIN} wrote no more than the others there but for skewed
 * keys with a log about as long as write memory is large, where {@code FULL} wrote a tenth less
 * (docs/decisions/0014).
 *
 * <p>{@code BETA} is {@code FULL} for the log's sake if little was flushed for memory's sake
 * lately, which is the paper's rule. {@code ADAPTIVE} is, too; and for either's, if what a tree has
 * in memory is hardly taken once and a half within a log's length.
 */
public final class FlushExtent {
  /**
   * Beta: the part of the most that a tree had in memory that has to be flushed for memory's sake
   * within a log's length, for more than the oldest run to be on its way soon.
   */
  private static final double BETA = 0.5;

  /**
   * How many times the most that a tree had in memory has to be flushed within a log's length for
   * slices, once that is known. Full flushes turn it over a whole number of times: so this stays
   * clear of them.
   */
  private static final double SLICES_TURN = 1.5;

  private FlushExtent() {}

  /** The strategy, or {@code FULL} if the memory component is flushed whole in any case. */
  public static FlushStrategy strategy(FlushStrategy chosen, MemoryComponent component) {
    return MemoryRules.flushesWhole(component) ? FlushStrategy.FULL : chosen;
  }

  /**
   * How to flush a tree because memory runs short.
   *
   * @param small whether slices of it are of no use; see {@link MemoryRules#isSmall}
   * @param lately what was flushed of it within a log's length
   */
  static FlushKind forMemory(FlushStrategy strategy, boolean small, WriteWindow.Lately lately) {
    if (strategy == FlushStrategy.ADAPTIVE) {
      return small || !turnsOver(lately) ? FlushKind.FULL : FlushKind.PARTIAL;
    }
    return small ? FlushKind.FULL : kind(strategy);
  }

  /**
   * How to flush a tree because the log is too long.
   *
   * @param lately what was flushed of it within a log's length
   */
  static FlushKind forLog(FlushStrategy strategy, WriteWindow.Lately lately) {
    boolean enough = lately.forMemoryBytes() > BETA * lately.mostBytes();
    return switch (strategy) {
      case BETA -> enough ? FlushKind.PARTIAL : FlushKind.FULL;
      case ADAPTIVE -> enough && turnsOver(lately) ? FlushKind.PARTIAL : FlushKind.FULL;
      case ROUND_ROBIN, OLDEST, FULL -> kind(strategy);
    };
  }

  private static boolean turnsOver(WriteWindow.Lately lately) {
    return !lately.known() || lately.flushedBytes() >= SLICES_TURN * lately.mostBytes();
  }

  private static FlushKind kind(FlushStrategy strategy) {
    return switch (strategy) {
      case ROUND_ROBIN, BETA -> FlushKind.PARTIAL;
      case OLDEST -> FlushKind.OLDEST;
      case FULL, ADAPTIVE -> FlushKind.FULL;
    };
  }
}
