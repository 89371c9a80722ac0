package io.isobardb.lsm.range;

import java.util.Arrays;

/**
 * Whether range deletes hide an entry, or all of a range, from all readers: then a merge drops it.
 *
 * <p>The oldest reader that an entry is old enough for sees the fewest range deletes.
 *
 * <p>Thread rule: one thread at a time, with keys that mostly ascend.
 */
public final class HiddenRanges {
  private final RangeDeletes deletes;
  private final long[] snapshots;
  private final long settled;
  private final Coverage.Walk newest;
  private final Coverage.Walk later;

  /**
   * @param deletes the tree's, asked for after the snapshots
   * @param snapshots LSNs that somebody reads at, ascending
   * @param settled everybody else sees range deletes up to this LSN, and no crash takes them back
   */
  public HiddenRanges(RangeDeletes deletes, long[] snapshots, long settled) {
    this.deletes = deletes;
    this.snapshots = snapshots;
    this.settled = settled;
    this.newest = new Coverage.Walk(deletes.newest());
    this.later = new Coverage.Walk(deletes.at(settled));
  }

  /** Whether an entry is hidden from all. */
  public boolean isFromAll(byte[] key, int keyLength, long lsn) {
    if (newest.covering(key, keyLength) <= lsn || later.covering(key, keyLength) <= lsn) {
      return false;
    }
    int first = firstFrom(lsn);
    return first == snapshots.length
        || snapshots[first] >= settled
        || deletes.at(snapshots[first]).covering(key, keyLength) > lsn;
  }

  /**
   * Whether all entries of a range are hidden from all.
   *
   * @param maxKey inclusive
   */
  public boolean isFromAll(byte[] minKey, byte[] maxKey, long minLsn, long maxLsn) {
    if (later.coverage().min(minKey, maxKey) <= maxLsn) {
      return false;
    }
    int first = firstFrom(minLsn);
    return first == snapshots.length
        || snapshots[first] >= settled
        || deletes.at(snapshots[first]).min(minKey, maxKey) > maxLsn;
  }

  /** Whether a range delete covers a key. */
  public boolean isCovered(byte[] key, int keyLength) {
    return newest.covering(key, keyLength) != 0;
  }

  /** How many of the snapshots are lower than an LSN. */
  private int firstFrom(long lsn) {
    int at = Arrays.binarySearch(snapshots, lsn);
    return at < 0 ? -at - 1 : at;
  }
}
