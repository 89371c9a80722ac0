package io.isobardb.lsm.state;

import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range deletes that readers of a state go by. New ones are added in place, so that a state
 * need not be replaced for them; those that hide nothing any more go with a new state, whose tables
 * have nothing for them to hide.
 *
 * <p>Who reads at what is visible takes {@link #list} first and the visible LSN second, as with the
 * state: what is missing in the list is then newer than the call.
 *
 * <p>Thread rule: {@link #list} by any thread; changes by one at a time, which {@link TreeStates}
 * sees to.
 */
public final class TreeRanges {
  private volatile @Nullable RangeDeletes list;

  /** Those that the manifest does not have, by LSN. Replaced, never changed. */
  private volatile List<RangeDelete> unsaved;

  /**
   * @param saved those that the manifest has
   */
  TreeRanges(RangeDeletes saved) {
    this(saved, List.of());
  }

  private TreeRanges(RangeDeletes all, List<RangeDelete> unsaved) {
    this.list = all.isEmpty() ? null : all;
    this.unsaved = unsaved;
  }

  /** All that was applied; null if there are none, as in most trees. */
  public @Nullable RangeDeletes list() {
    return list;
  }

  /** Those that the manifest does not have, up to an LSN. */
  public List<RangeDelete> unsaved(long upTo) {
    return unsaved.stream().filter(delete -> delete.lsn() <= upTo).toList();
  }

  /**
   * The lowest LSN above {@code savedUpTo} that only the log has; {@link Long#MAX_VALUE} if none.
   */
  long minLsn(long savedUpTo) {
    long min = Long.MAX_VALUE;
    for (RangeDelete delete : unsaved) {
      if (delete.lsn() > savedUpTo) {
        min = Math.min(min, delete.lsn());
      }
    }
    return min;
  }

  /** Adds one, and leaves out what nobody needs besides it. */
  void add(KeyOrder order, RangeDelete delete, long[] snapshots, long visible) {
    RangeDeletes before = list;
    RangeDeletes all = before == null ? RangeDeletes.none(order) : before;
    list = all.with(delete).needed(snapshots, visible);
    List<RangeDelete> more = new ArrayList<>(unsaved);
    more.add(delete);
    unsaved = List.copyOf(more);
  }

  /** Those up to an LSN are in the manifest now. */
  void saved(long upTo) {
    if (!unsaved.isEmpty()) {
      unsaved = unsaved.stream().filter(delete -> delete.lsn() > upTo).toList();
    }
  }

  /** These without what hides nothing any more. */
  TreeRanges without(List<RangeDelete> gone) {
    RangeDeletes left = list;
    if (left == null || gone.isEmpty()) {
      return this;
    }
    for (RangeDelete one : gone) {
      left = left.without(one);
    }
    return new TreeRanges(left, unsaved);
  }
}
