package io.isobardb.lsm.entry;

import io.isobardb.lsm.option.KeyOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decides, entry by entry in the order (key ascending, LSN descending), what a merge keeps.
 *
 * <p>A version is needed by a snapshot {@code s} if it is the newest one with an LSN of at most
 * {@code s}. The newest version of a key is always kept, save for a delete marker below which
 * nothing can lie and which every snapshot sees.
 */
public final class VersionFilter {
  private final KeyOrder order;
  private final long[] snapshots;
  private final RangeDeletes.@Nullable Walk deletes;

  /** What has expired by then counts as deleted. */
  private final long expiredBy;

  private byte[] lastKey = new byte[64];
  private int lastLength = -1;
  private long lastHead;
  private long newerLsn;

  /**
   * @param snapshots LSNs that somebody still reads at, ascending
   */
  public VersionFilter(KeyOrder order, long[] snapshots) {
    this(order, snapshots, null, 0);
  }

  /**
   * @param snapshots LSNs that somebody still reads at, ascending
   * @param deletes range deletes that everybody else sees, and that no crash takes back; or null
   * @param expiredBy what has expired by then is so for all who read, now and later
   */
  public VersionFilter(
      KeyOrder order, long[] snapshots, @Nullable RangeDeletes deletes, long expiredBy) {
    this.order = order;
    this.expiredBy = expiredBy;
    this.snapshots = snapshots.clone();
    this.deletes = deletes == null || deletes.isEmpty() ? null : new RangeDeletes.Walk(deletes);
  }

  /**
   * Whether to keep an entry.
   *
   * @param bottommost whether nothing older of this key can lie outside of the merge
   */
  public boolean keep(LeafCursor entry, boolean bottommost) {
    long lsn = entry.lsn();
    if (lastKeyIs(entry)) {
      // Needed only if a snapshot lies in [lsn, newerLsn).
      if (!snapshotIn(lsn, newerLsn)) {
        return false;
      }
    } else {
      remember(entry);
    }
    newerLsn = lsn;
    RangeDeletes.Walk walk = deletes;
    if (walk != null) {
      int segment = walk.segment(entry.key(), entry.keyLength());
      long hidden = walk.deletes().firstAfter(segment, lsn);
      if (hidden != 0 && !snapshotIn(lsn, hidden)) {
        return false;
      }
    }
    // Dropping the marker also drops, as not needed, all that is older: no snapshot lies below it.
    return !(bottommost && deletes(entry) && !snapshotIn(0, lsn));
  }

  /** Whether an entry says to all who read it that there is no such key. */
  public boolean deletes(LeafCursor entry) {
    return entry.kind() == Kind.DELETE || entry.isExpired(expiredBy);
  }

  /** Whether somebody reads below an LSN. */
  public boolean isReadBelow(long lsn) {
    return snapshotIn(0, lsn);
  }

  /** Whether a range delete older than an entry covers its key, so that its LSN tells that. */
  public boolean outlivesDelete(byte[] key, int keyLength, long lsn) {
    RangeDeletes.Walk walk = deletes;
    return walk != null && walk.deletes().covering(walk.segment(key, keyLength), lsn) != 0;
  }

  /** The key of the entry seen last. */
  public byte[] lastKey() {
    return Arrays.copyOf(lastKey, lastLength);
  }

  /** Whether the entry has the key of the entry seen last. */
  public boolean lastKeyIs(LeafCursor entry) {
    if (lastLength != entry.keyLength() || (order.isBytes() && lastHead != entry.head())) {
      return false;
    }
    return order.compare(lastKey, 0, lastLength, entry.key(), 0, lastLength) == 0;
  }

  private void remember(LeafCursor entry) {
    int length = entry.keyLength();
    if (lastKey.length < length) {
      lastKey = new byte[Math.max(length, 2 * lastKey.length)];
    }
    System.arraycopy(entry.key(), 0, lastKey, 0, length);
    lastLength = length;
    lastHead = entry.head();
  }

  /** Whether a snapshot lies in {@code [from, to)}. */
  private boolean snapshotIn(long from, long to) {
    return snapshotIn(snapshots, from, to);
  }

  /** Whether one of the snapshots, which ascend, lies in {@code [from, to)}. */
  static boolean snapshotIn(long[] snapshots, long from, long to) {
    for (long snapshot : snapshots) {
      if (snapshot >= from) {
        return snapshot < to;
      }
    }
    return false;
  }
}
