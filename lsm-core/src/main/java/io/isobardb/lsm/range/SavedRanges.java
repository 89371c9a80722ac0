package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import java.util.List;

/**
 * The range deletes of a tree that the manifest has. Immutable.
 *
 * <p>A range delete that hides nothing any more stays until the rest is worth being written anew:
 * so the bytes written grow with the number of range deletes.
 *
 * @param deletes what a tree without a log has after a crash, and one with a log before the replay
 * @param idle the LSN up to which range deletes of a key hide nothing any more
 * @param records how many the manifest says them with, those included that newer ones cover
 */
public record SavedRanges(RangeDeletes deletes, Coverage idle, int records) {
  /** Those that hide nothing go once they are one in so many. */
  private static final int IDLE_SHARE = 8;

  /** The manifest may have so many times as many records as it needs, and {@link #FEW} more. */
  private static final int RECORDS_SHARE = 2;

  /** So few are written anew whenever it makes them fewer. */
  private static final int FEW = 64;

  /** None. */
  public static SavedRanges none(KeyOrder order) {
    return new SavedRanges(RangeDeletes.none(order), Coverage.none(order), 0);
  }

  /** As a manifest says them with this many records. */
  public static SavedRanges of(RangeDeletes deletes, int records) {
    return new SavedRanges(deletes, Coverage.none(deletes.order()), records);
  }

  /** What they take on the heap besides {@link #deletes}, in bytes; about. */
  public long recordBytes() {
    return idle.heapBytes() + (long) RangeDelete.OBJECT_BYTES * records;
  }

  /** The same records with other range deletes. */
  public SavedRanges with(RangeDeletes other) {
    return new SavedRanges(other, idle, records);
  }

  /**
   * What becomes of them.
   *
   * @param after what the manifest has then
   * @param gone those that go, up to an LSN each; ascending and disjoint
   * @param anew whether the manifest forgets all others first
   * @param records what the manifest gets
   */
  public record Change(
      SavedRanges after, List<RangeDelete> gone, boolean anew, List<RangeDelete> records) {}

  /**
   * Adds range deletes, and leaves out those that hide nothing once they are worth it.
   *
   * @param all these and more
   * @param needless those that hide nothing any more, up to an LSN each
   * @param replayedFrom those from here on may come back with a replay, and stay
   */
  public Change change(RangeDeletes all, List<RangeDelete> needless, long replayedFrom) {
    Coverage nowIdle = idle;
    for (RangeDelete one : needless) {
      nowIdle = nowIdle.with(one);
    }
    List<RangeDelete> gone =
        nowIdle.segments().stream()
            .filter(segment -> segment.lsn() < replayedFrom)
            .map(segment -> new RangeDelete(segment.low(), segment.high(), segment.lsn()))
            .toList();
    int size = all.newest().size();
    if (gone.isEmpty() || size > FEW && gone.size() * IDLE_SHARE < size) {
      return keeping(all, nowIdle);
    }
    RangeDeletes left = all.without(gone);
    List<RangeDelete> list = left.list();
    Coverage stillIdle = nowIdle.without(gone);
    return new Change(new SavedRanges(left, stillIdle, list.size()), gone, true, list);
  }

  private Change keeping(RangeDeletes all, Coverage nowIdle) {
    List<RangeDelete> coming = all.list(deletes.lastLsn());
    int count = records + coming.size();
    boolean anew = count > RECORDS_SHARE * all.newest().size() + FEW;
    List<RangeDelete> list = anew ? all.list() : coming;
    return new Change(
        new SavedRanges(all, nowIdle, anew ? list.size() : count), List.of(), anew, list);
  }
}
