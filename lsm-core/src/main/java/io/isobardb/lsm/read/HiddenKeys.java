package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.RangeDeletes;

/**
 * What range deletes hide from a cursor. Where several entries in a row are hidden, it has the runs
 * that hold nothing newer go to the range's end at once.
 *
 * <p>Thread rule: one thread at a time.
 */
final class HiddenKeys {
  /** So many hidden entries in a row are passed one by one before a search for the end. */
  private static final int STEPS = 4;

  private final RangeDeletes deletes;
  private final RangeDeletes.Walk walk;
  private final long lsn;
  private int row;

  /**
   * @param lsn what is read at
   */
  HiddenKeys(RangeDeletes deletes, long lsn) {
    this.deletes = deletes;
    this.walk = new RangeDeletes.Walk(deletes);
    this.lsn = lsn;
  }

  /** Whether an entry is hidden. */
  boolean hides(LeafCursor entry) {
    int segment = walk.segment(entry.key(), entry.keyLength());
    boolean hidden = entry.lsn() < deletes.covering(segment, lsn);
    row = hidden ? row + 1 : 0;
    return hidden;
  }

  /**
   * After a hidden entry on which {@code merged} stands: goes on to what may not be hidden, if that
   * seems far.
   *
   * @return whether it moved the cursor, perhaps not far
   */
  boolean passForward(MergingCursor merged) {
    if (row < STEPS) {
      return false;
    }
    row = 0;
    LeafCursor entry = merged.leaf();
    int segment = walk.segment(entry.key(), entry.keyLength());
    long oldest = deletes.covering(segment, lsn);
    int last = segment;
    while (last + 1 < deletes.segments() && deletes.covering(last + 1, lsn) != 0) {
      last++;
      oldest = Math.min(oldest, deletes.covering(last, lsn));
    }
    return oldest != 0 && merged.passForward(deletes.high(last), oldest);
  }

  /** As {@link #passForward}, going back: {@code merged} stands before the hidden entry. */
  void passBackward(MergingCursor merged) {
    if (row < STEPS) {
      return;
    }
    row = 0;
    LeafCursor entry = merged.leaf();
    int segment = walk.segment(entry.key(), entry.keyLength());
    long oldest = deletes.covering(segment, lsn);
    int first = segment;
    while (first > 0 && deletes.covering(first - 1, lsn) != 0) {
      first--;
      oldest = Math.min(oldest, deletes.covering(first, lsn));
    }
    if (oldest != 0) {
      merged.passBackward(deletes.low(first), oldest);
    }
  }
}
