package io.isobardb.lsm.store;

import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.lsm.state.TreeHandle;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * What users have done to all trees of a store, those that were dropped included: sums that only
 * grow. A tree leaves the catalog while it is being dropped; here it counts once all the time.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class OperationTotals {
  private OperationStats ofDropped = OperationStats.NONE;
  private final Set<TreeHandle> dropping = new HashSet<>();

  /** Those that {@link #ofDropped} has, as long as anybody may have found one in the catalog. */
  private final Set<TreeHandle> dropped = Collections.newSetFromMap(new WeakHashMap<>());

  /** A tree is about to be dropped; nobody uses it any more. */
  synchronized void drops(TreeHandle tree) {
    dropping.add(tree);
  }

  /** It was dropped, or is kept. */
  synchronized void onEnded(TreeHandle tree, boolean isDropped) {
    dropping.remove(tree);
    if (isDropped && dropped.add(tree)) {
      ofDropped = ofDropped.plus(tree.counts().stats());
    }
  }

  /**
   * The sum.
   *
   * @param trees those of the catalog, looked up before this call
   */
  synchronized OperationStats sum(Collection<TreeHandle> trees) {
    Set<TreeHandle> all = new HashSet<>(trees);
    all.addAll(dropping);
    all.removeAll(dropped);
    OperationStats sum = ofDropped;
    for (TreeHandle tree : all) {
      sum = sum.plus(tree.counts().stats());
    }
    return sum;
  }
}
