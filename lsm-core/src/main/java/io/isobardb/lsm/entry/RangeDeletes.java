package io.isobardb.lsm.entry;

import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The range deletes of a tree: a {@link Coverage} for each moment that somebody reads at. They
 * share what they have in common.
 *
 * <p>A reader at LSN {@code s} does not see an entry with LSN {@code e} if a range delete {@code r}
 * covers its key with {@code e < r <= s}. Where an entry lies does not matter. So of the range
 * deletes up to {@code s} that cover a key, the newest one alone counts.
 *
 * <p>Immutable. Its size and the time for a change depend on what can still be seen, not on how
 * many range deletes there were.
 */
public final class RangeDeletes {
  /** Tells who reads. */
  @FunctionalInterface
  public interface Readers {
    /** Whether somebody reads at an LSN from {@code from} on, before {@code to}. */
    boolean in(long from, long to);
  }

  /** Nobody reads at what is past. */
  public static final Readers NOBODY = (from, to) -> false;

  private final KeyOrder order;

  /** Ascending. */
  private final long[] lsns;

  /** Each has all range deletes up to its LSN. */
  private final Coverage[] moments;

  private RangeDeletes(KeyOrder order, long[] lsns, Coverage[] moments) {
    this.order = order;
    this.lsns = lsns;
    this.moments = moments;
  }

  /** No range deletes. */
  public static RangeDeletes none(KeyOrder order) {
    return new RangeDeletes(order, new long[0], new Coverage[0]);
  }

  /** These range deletes, for who reads later than all of them. */
  public static RangeDeletes of(KeyOrder order, List<RangeDelete> deletes) {
    return none(order).withAll(deletes, NOBODY, Long.MAX_VALUE);
  }

  /** The order of their keys. */
  public KeyOrder order() {
    return order;
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return newest().isEmpty();
  }

  /** How many moments it tells apart. */
  public int moments() {
    return lsns.length;
  }

  /** All of them. */
  public Coverage newest() {
    return moments.length == 0 ? Coverage.none(order) : moments[moments.length - 1];
  }

  /**
   * Those up to an LSN. If nobody reads there it may be fewer.
   *
   * @see #needed
   */
  public Coverage at(long lsn) {
    int at = moments(lsn);
    return at == 0 ? Coverage.none(order) : moments[at - 1];
  }

  /**
   * All range deletes up to this LSN are in {@link #at}, which may not have those up to another.
   */
  public long momentAt(long lsn) {
    int at = moments(lsn);
    return at == 0 ? 0 : lsns[at - 1];
  }

  /** Those of the moments up to an LSN. */
  public RangeDeletes upTo(long lsn) {
    int count = moments(lsn);
    return count == lsns.length
        ? this
        : new RangeDeletes(order, Arrays.copyOf(lsns, count), Arrays.copyOf(moments, count));
  }

  /** How many of the first moments are not later than this. */
  private int moments(long lsn) {
    int last = lsns.length;
    while (last > 0 && lsns.length - last < 2 && lsns[last - 1] > lsn) {
      last--;
    }
    if (last == 0 || lsns[last - 1] <= lsn) {
      return last;
    }
    int at = Arrays.binarySearch(lsns, 0, last, lsn);
    return at < 0 ? -at - 1 : at + 1;
  }

  /** The newest range delete up to {@code lsn} that covers a key; 0 if none does. */
  public long covering(byte[] key, int length, long lsn) {
    int last = moments.length;
    long newest = last == 0 ? 0 : moments[last - 1].covering(key, length);
    if (newest <= lsn) {
      return newest;
    }
    // The later the moment, the newer what covers the key.
    int low = 0;
    int high = last - 1;
    long found = 0;
    while (low < high) {
      int middle = (low + high) >>> 1;
      long covering = moments[middle].covering(key, length);
      if (covering <= lsn) {
        found = covering;
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return found;
  }

  /**
   * These and more, as far as somebody needs them; see {@link #needed}.
   *
   * @param visible not lower than the LSN of any of them
   */
  public RangeDeletes withAll(List<RangeDelete> more, Readers readers, long visible) {
    List<RangeDelete> ascending = new ArrayList<>(more);
    ascending.sort(Comparator.comparingLong(RangeDelete::lsn));
    RangeDeletes all = this;
    for (RangeDelete delete : ascending) {
      all = all.with(delete).needed(readers, visible, 2);
    }
    return all;
  }

  /** These and one more. */
  public RangeDeletes with(RangeDelete delete) {
    int before = moments(delete.lsn());
    int kept = before > 0 && lsns[before - 1] == delete.lsn() ? before - 1 : before;
    int count = kept + 1 + lsns.length - before;
    long[] newLsns = Arrays.copyOf(lsns, count);
    Coverage[] newMoments = Arrays.copyOf(moments, count);
    newLsns[kept] = delete.lsn();
    newMoments[kept] = (before == 0 ? Coverage.none(order) : moments[before - 1]).with(delete);
    for (int i = kept + 1; i < count; i++) {
      int old = lsns.length - count + i;
      newLsns[i] = lsns[old];
      newMoments[i] = moments[old].with(delete);
    }
    return new RangeDeletes(order, newLsns, newMoments);
  }

  /**
   * These without those of ranges, up to an LSN each.
   *
   * @param gone ascending, disjoint
   */
  public RangeDeletes without(List<RangeDelete> gone) {
    if (gone.isEmpty()) {
      return this;
    }
    Coverage[] left = moments.clone();
    for (int i = 0; i < left.length; i++) {
      left[i] = left[i].without(gone);
    }
    return new RangeDeletes(order, lsns, left);
  }

  /**
   * Those that somebody needs. Of two range deletes that cover a key, the older one is needed by a
   * reader between them only.
   *
   * @param readers who is registered
   * @param visible all others read at this LSN or later
   * @param last of how many of the last moments it is asked
   */
  public RangeDeletes needed(Readers readers, long visible, int last) {
    int from = Math.max(0, lsns.length - last);
    int kept = from;
    long[] newLsns = lsns.clone();
    Coverage[] newMoments = moments.clone();
    for (int i = from; i < lsns.length; i++) {
      if (i + 1 == lsns.length || lsns[i + 1] > visible || readers.in(lsns[i], lsns[i + 1])) {
        newLsns[kept] = lsns[i];
        newMoments[kept++] = moments[i];
      }
    }
    return kept == lsns.length
        ? this
        : new RangeDeletes(order, Arrays.copyOf(newLsns, kept), Arrays.copyOf(newMoments, kept));
  }

  /** Range deletes from which {@link #with} makes this. */
  public List<RangeDelete> list() {
    return list(0);
  }

  /** As {@link #list()}, but only those that are newer than an LSN. */
  public List<RangeDelete> list(long after) {
    List<RangeDelete> all = new ArrayList<>();
    long before = after;
    for (int i = 0; i < lsns.length; i++) {
      if (lsns[i] > before) {
        all.addAll(moments[i].list(before));
        before = lsns[i];
      }
    }
    return all;
  }

  /** The LSN of the last moment; 0 if there is none. */
  public long lastLsn() {
    return lsns.length == 0 ? 0 : lsns[lsns.length - 1];
  }

  @Override
  public String toString() {
    return list().toString();
  }
}
