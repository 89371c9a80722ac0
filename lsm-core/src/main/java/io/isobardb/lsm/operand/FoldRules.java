package io.isobardb.lsm.operand;

/**
 * When the operands of a key are folded, so that a read finds few. Pure functions.
 *
 * <ul>
 *   <li>In the active SSTable, by a write that makes them many. What a read would fold again and
 *       again is folded once.
 *   <li>There, on a value that is too large for a leaf, more rarely: each time all of it is copied.
 *   <li>In an SSTable that a flush or merge writes, whenever the value below them is at hand. It is
 *       looked up, with page reads, only if more than a few would be left.
 *   <li>By whoever reads. The operator gets no more than {@code MergeOperator.MAX_OPERANDS} at
 *       once, and the thresholds here are lower, so one component takes one call.
 * </ul>
 */
public final class FoldRules {
  /** A write folds this many operands of its key. The cost is one read for each so many writes. */
  private static final int DEEP = 16;

  /** Operands on a value that is too large for a leaf are folded at this many. */
  private static final int DEEP_ON_LARGE = 48;

  /** An SSTable has this many operands of a key at most, if the value below them can be read. */
  private static final int MOST_IN_SSTABLE = 4;

  private FoldRules() {}

  /**
   * Whether a write that is an operand has those of its key folded.
   *
   * @param operands in its leaf, one below the other, its own included; counted up to {@link
   *     #countedUpTo}
   * @param atEnd whether the leaf ends with them: what the next leaf has is not known
   */
  public static boolean isDeep(int operands, boolean atEnd) {
    return operands >= DEEP || atEnd && operands > 1;
  }

  /** How many operands to count before {@link #isDeep} is asked. */
  public static int countedUpTo() {
    return DEEP;
  }

  /**
   * How many deep writes to a key to pass over before the operands on a value that is too large for
   * a leaf are folded; 0 if they are folded now.
   *
   * @param operands in all components
   */
  public static int passesBeforeLarge(int operands) {
    return Math.max(0, DEEP_ON_LARGE - operands);
  }

  /** How many deep writes to a key to pass over after a fold came to nothing. */
  public static int passesAfterFailure() {
    return DEEP_ON_LARGE;
  }

  /**
   * Whether a flush or merge looks up the value below operands that it does not have.
   *
   * @param operands that would be left of a key
   */
  public static boolean looksUp(int operands) {
    return operands > MOST_IN_SSTABLE;
  }
}
