package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range deletes that readers of a state go by. New ones are added in place, so that a state
 * need not be replaced for them; those that hide nothing any more go with a new state, whose tables
 * have nothing for them to hide.
 *
 * <p>A reader at what is visible takes {@link #list} first and the visible LSN second, as with the
 * state: what is missing in the list is then newer than the call.
 *
 * <p>Thread rule: {@link #list} and {@link #unsaved} by any thread; changes by one at a time, which
 * {@link TreeStates} sees to.
 */
public final class TreeRanges {
  /** How many of the newest moments each change looks at, to leave out those that nobody needs. */
  private static final int RECENT = 4;

  private volatile @Nullable RangeDeletes list;
  private final UnsavedRanges unsaved;

  /** Moments that were needed when all were looked at. */
  private int neededMoments;

  /** Whether the list has what the manifest has from that itself, save what came since. */
  private boolean shares;

  /**
   * @param saved those that the manifest has
   */
  public TreeRanges(RangeDeletes saved) {
    this(saved, new UnsavedRanges());
    this.shares = true;
  }

  private TreeRanges(RangeDeletes all, UnsavedRanges unsaved) {
    this.list = all.isEmpty() ? null : all;
    this.unsaved = unsaved;
  }

  /** All that was applied; null if there are none, as in most trees. */
  public @Nullable RangeDeletes list() {
    return list;
  }

  /** Those that the manifest does not have. */
  public UnsavedRanges unsaved() {
    return unsaved;
  }

  /** About how many are on the heap; half as many as there are where they adjoin each other. */
  public int count() {
    RangeDeletes all = list;
    int needed = all == null ? 0 : Math.max(all.moments(), (all.newest().size() + 1) / 2);
    return Math.max(needed, unsaved.size());
  }

  /** Adds one, and leaves out what nobody needs besides it. */
  public void add(KeyOrder order, RangeDelete delete, RangeDeletes.Readers readers, long visible) {
    RangeDeletes before = list;
    RangeDeletes all = (before == null ? RangeDeletes.none(order) : before).with(delete);
    boolean whole = all.moments() > 2 * neededMoments + RECENT;
    list = all.needed(readers, visible, whole ? all.moments() : RECENT);
    neededMoments = whole ? list.moments() : neededMoments;
    unsaved.add(delete);
  }

  /**
   * What all of them take on the heap, in bytes; about, and rather more than less.
   *
   * @param saved those that the manifest has
   */
  public long heapBytes(SavedRanges saved) {
    RangeDeletes all = list;
    long apart = saved.deletes().heapBytes();
    if (shares && all != null) {
      apart = Math.min(apart, unsaved.size() * all.copiedBytes());
    }
    long listed = all == null ? 0 : all.heapBytes();
    return listed + unsaved.heapBytes() + apart + saved.recordBytes();
  }

  /**
   * Those up to an LSN, which is visible, are in the manifest now.
   *
   * @param saved all that it has
   */
  public void onSaved(long upTo, RangeDeletes saved, RangeDeletes.Readers readers) {
    unsaved.onSaved(upTo);
    keepNeeded(readers, upTo);
    RangeDeletes all = list;
    shares = all != null && all.at(saved.lastLsn()) == saved.newest();
  }

  /**
   * Leaves out what nobody needs.
   *
   * @param visible all readers that are not among {@code readers} read here or later
   */
  public void keepNeeded(RangeDeletes.Readers readers, long visible) {
    RangeDeletes all = list;
    if (all != null) {
      list = all.needed(readers, visible, all.moments());
    }
  }

  /** These without what hides nothing any more. */
  public TreeRanges without(List<RangeDelete> gone) {
    RangeDeletes left = list;
    return left == null || gone.isEmpty() ? this : new TreeRanges(left.without(gone), unsaved);
  }
}
