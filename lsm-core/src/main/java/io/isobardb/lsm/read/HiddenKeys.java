package io.isobardb.lsm.read;

import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.range.Coverage;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.memory.page.Words;

/**
 * What range deletes hide from a cursor. Where several entries in a row are hidden, it has the runs
 * that hold nothing newer go to the range's end at once.
 *
 * <p>Thread rule: one thread at a time.
 */
final class HiddenKeys {
  /** Hidden entries in a row that are passed one by one before a search for the end. */
  private static final int STEPS = 4;

  private final Coverage.Walk walk;
  private int row;

  /**
   * @param lsn what is read at
   */
  HiddenKeys(RangeDeletes deletes, long lsn) {
    this.walk = new Coverage.Walk(deletes.at(lsn));
  }

  /** The LSN below which versions of an entry's key are hidden; 0 if none are. */
  long floor(LeafCursor entry) {
    long floor = walk.covering(entry.key(), entry.keyLength());
    row = entry.lsn() < floor ? row + 1 : 0;
    return floor;
  }

  /** Leaves out of a stretch, from an entry on, what is hidden; ends it where that changes. */
  void bound(Stretch stretch, LeafCursor entry) {
    Coverage.Segment segment = walk.segment(entry.key(), entry.keyLength());
    byte[] high = segment.high();
    if (high != null) {
      stretch.endBefore(high, high.length, Words.head(high, 0, high.length));
    }
    stretch.above(segment.lsn());
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
    Coverage.Segment covered = walk.coverage().coveredFrom(entry.key(), entry.keyLength());
    return covered != null && merged.passForward(covered.high(), covered.lsn());
  }

  /** As {@link #passForward}, going back: {@code merged} stands before the hidden entry. */
  void passBackward(MergingCursor merged) {
    if (row < STEPS) {
      return;
    }
    row = 0;
    LeafCursor entry = merged.leaf();
    Coverage.Segment covered = walk.coverage().coveredTo(entry.key(), entry.keyLength());
    if (covered != null) {
      merged.passBackward(covered.low(), covered.lsn());
    }
  }
}
