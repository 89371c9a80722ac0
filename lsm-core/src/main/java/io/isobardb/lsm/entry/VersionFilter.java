package io.isobardb.lsm.entry;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.HiddenRanges;
import io.isobardb.lsm.range.RangeDeletes;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Goes through entries in the order (key ascending, LSN descending), and says what a merge keeps by
 * {@link StayingVersions}. The newest version of a key stays, unless a range delete hides it from
 * all, or it is a delete marker below which nothing can lie and which every snapshot sees.
 */
public final class VersionFilter {
  private final KeyOrder order;
  private final long[] snapshots;
  private final @Nullable HiddenRanges hidden;

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
    this(order, snapshots, null, 0, 0);
  }

  /**
   * @param snapshots LSNs that somebody still reads at, ascending
   * @param deletes the tree's range deletes, asked for after the snapshots; or null
   * @param settled range deletes up to this LSN are seen by everybody else, and no crash takes them
   *     back
   * @param expiredBy what has expired by then is so for all readers, now and later
   */
  public VersionFilter(
      KeyOrder order,
      long[] snapshots,
      @Nullable RangeDeletes deletes,
      long settled,
      long expiredBy) {
    this.order = order;
    this.expiredBy = expiredBy;
    this.snapshots = snapshots.clone();
    this.hidden =
        deletes == null || deletes.isEmpty() ? null : new HiddenRanges(deletes, snapshots, settled);
  }

  /**
   * Whether to keep an entry.
   *
   * @param bottommost whether nothing older of this key can lie outside of the merge
   */
  public boolean keep(LeafCursor entry, boolean bottommost) {
    long lsn = entry.lsn();
    if (lastKeyIs(entry)) {
      if (!StayingVersions.isSeen(snapshots, lsn, newerLsn)) {
        return false;
      }
    } else {
      remember(entry);
    }
    newerLsn = lsn;
    if (hidden != null && hidden.isFromAll(entry.key(), entry.keyLength(), lsn)) {
      return false;
    }
    // If the marker goes, all that is older goes, too: no snapshot sees any of it.
    return !deletes(entry) || StayingVersions.markerStays(bottommost, snapshots, lsn);
  }

  /** Whether an entry says to all its readers that there is no such key. */
  public boolean deletes(LeafCursor entry) {
    return Kind.isDelete(entry.kind()) || entry.isExpired(expiredBy);
  }

  /** Whether somebody reads below an LSN. */
  public boolean isReadBelow(long lsn) {
    return StayingVersions.isSeen(snapshots, 0, lsn);
  }

  /** Whether a range delete covers a key, so that LSNs tell which of its entries are newer. */
  public boolean isCovered(byte[] key, int keyLength) {
    return hidden != null && hidden.isCovered(key, keyLength);
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
}
