package io.isobardb.lsm.merge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to merge next: a pure function, which reads no file, holds no lock and knows no thread. Safe
 * for any thread.
 */
public interface MergePolicy {
  /**
   * The next thing to do, or null if nothing is worth it now. To have several merges at once, the
   * caller puts the choice among {@link MergeView#running} and asks again.
   */
  @Nullable MergeChoice choose(MergeView view);

  /** The next thing to do for a wish, or null if it is done or can't go on now. */
  @Nullable MergeChoice choose(MergeView view, MergeDown wish);

  /** What reads have paid for, what has lost most first; no two need the same SSTables. */
  List<MergeDown.Passed> paidFor(MergeView view, ReadLosses losses);

  /** How many bytes are to be merged down before nothing is worth it any more; about. */
  long debtBytes(MergeView view);

  /**
   * How many bytes are to be written until that is done: what comes down makes the level below too
   * large, so that it has to go on; about.
   */
  long chainBytes(MergeView view);

  /** What the tree costs once its levels are as large as they are to be, as far as is known. */
  LevelCosts expected(MergeView view);
}
