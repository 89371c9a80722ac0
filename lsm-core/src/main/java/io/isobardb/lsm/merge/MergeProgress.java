package io.isobardb.lsm.merge;

/**
 * What a merge has done so far, and writers have not been told of. A merge of a large L0 takes
 * long: what it does counts as it goes, or writers would be the slower the longer the last one has
 * ended.
 *
 * <p>Thread rule: one thread at a time.
 */
final class MergeProgress {
  private final long entries;
  private final Part whole;
  private Part told = new Part(0, 0);

  /**
   * A part of what a merge does.
   *
   * @param l0Bytes taken out of L0
   * @param paidBytes by which less waits for merges
   */
  record Part(long l0Bytes, long paidBytes) {
    private Part times(double part) {
      return new Part((long) (l0Bytes * part), (long) (paidBytes * part));
    }

    private Part minus(Part other) {
      return new Part(l0Bytes - other.l0Bytes, paidBytes - other.paidBytes);
    }
  }

  /**
   * @param entries that it takes
   * @param whole all that it does
   */
  MergeProgress(long entries, Part whole) {
    this.entries = Math.max(1, entries);
    this.whole = whole;
  }

  /** That of a choice that makes what waits for merges so much less. */
  static MergeProgress of(MergeChoice choice, long paidBytes) {
    long l0Bytes = choice.leavesL0() ? choice.l0Bytes() : 0;
    return new MergeProgress(choice.inputEntries(), new Part(l0Bytes, paidBytes));
  }

  /** What is new once so many entries were carried or left out. */
  Part after(long carried) {
    return tell(whole.times(Math.min(1, (double) carried / entries)));
  }

  /** What is new once it has ended. */
  Part atEnd() {
    return tell(whole);
  }

  private Part tell(Part now) {
    Part more = now.minus(told);
    told = now;
    return more;
  }
}
