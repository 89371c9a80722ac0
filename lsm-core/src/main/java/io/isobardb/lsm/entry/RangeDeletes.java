package io.isobardb.lsm.entry;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The range deletes of a tree, cut where one of them begins or ends: the bounds divide all keys
 * into segments, and each segment has the LSNs of those that cover it, newest first.
 *
 * <p>A reader at LSN {@code s} does not see an entry with LSN {@code e} if its segment has an LSN
 * {@code r} with {@code e < r <= s}. Where an entry lies does not matter.
 *
 * <p>Immutable. A lookup is one binary search, over the first eight bytes of the bounds behind what
 * all of them have in common. A change copies the arrays.
 */
public final class RangeDeletes {
  private static final long[] NONE = {};

  private final KeyOrder order;

  /** Ascending; segment i lies from bound i - 1 on, and before bound i. */
  private final byte[][] bounds;

  /** Of each segment, newest first; neighbours differ. */
  private final long[][] lsns;

  /** Made by the first lookup. */
  private @Nullable Heads heads;

  /** What searches look at first. */
  private record Heads(byte[] prefix, long[] words) {}

  private RangeDeletes(KeyOrder order, byte[][] bounds, long[][] lsns) {
    this.order = order;
    this.bounds = bounds;
    this.lsns = lsns;
  }

  /** No range deletes. */
  public static RangeDeletes none(KeyOrder order) {
    return new RangeDeletes(order, new byte[0][], new long[][] {NONE});
  }

  /** These range deletes. */
  public static RangeDeletes of(KeyOrder order, List<RangeDelete> deletes) {
    TreeMap<byte[], List<long[]>> ends =
        new TreeMap<>((a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
    TreeMap<Long, Integer> covering = new TreeMap<>(Comparator.reverseOrder());
    for (RangeDelete delete : deletes) {
      if (delete.from() == null) {
        covering.merge(delete.lsn(), 1, Integer::sum);
      } else {
        ends.computeIfAbsent(delete.from(), key -> new ArrayList<>(1))
            .add(new long[] {delete.lsn(), 1});
      }
      if (delete.to() != null) {
        ends.computeIfAbsent(delete.to(), key -> new ArrayList<>(1))
            .add(new long[] {delete.lsn(), -1});
      }
    }
    Cuts cuts = new Cuts(ends.size());
    cuts.add(null, longs(covering));
    ends.forEach(
        (key, changes) -> {
          for (long[] change : changes) {
            covering.merge(change[0], (int) change[1], Integer::sum);
          }
          covering.values().removeIf(count -> count == 0);
          cuts.add(key, longs(covering));
        });
    return cuts.toRangeDeletes(order);
  }

  private static long[] longs(TreeMap<Long, Integer> covering) {
    return covering.keySet().stream().mapToLong(Long::longValue).toArray();
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return bounds.length == 0 && lsns[0].length == 0;
  }

  /** How many segments the keys are divided into. */
  public int segments() {
    return lsns.length;
  }

  /** The segment of a key. */
  public int segment(byte[] key, int length) {
    if (!order.isBytes()) {
      return boundsUpTo(0, bounds.length, key, length);
    }
    Heads index = heads;
    if (index == null) {
      index = index();
      heads = index;
    }
    byte[] prefix = index.prefix;
    int common = Math.min(prefix.length, length);
    int c = Arrays.compareUnsigned(key, 0, common, prefix, 0, common);
    if (c != 0 || common < prefix.length) {
      return c > 0 ? bounds.length : 0;
    }
    long head = Words.head(key, common, length - common);
    long[] words = index.words;
    int low = 0;
    int high = words.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      c = Long.compareUnsigned(words[middle], head);
      if (c == 0) {
        byte[] bound = bounds[middle];
        c = Arrays.compareUnsigned(bound, 0, bound.length, key, 0, length);
      }
      if (c <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private Heads index() {
    byte[] prefix = NO_PREFIX;
    if (bounds.length > 0) {
      byte[] first = bounds[0];
      int differs = Arrays.mismatch(first, bounds[bounds.length - 1]);
      prefix = Arrays.copyOf(first, differs < 0 ? first.length : differs);
    }
    long[] words = new long[bounds.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = Words.head(bounds[i], prefix.length, bounds[i].length - prefix.length);
    }
    return new Heads(prefix, words);
  }

  private static final byte[] NO_PREFIX = {};

  private int boundsUpTo(int from, int to, byte[] key, int length) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      byte[] bound = bounds[middle];
      if (order.compare(bound, 0, bound.length, key, 0, length) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The key that a segment begins with, or null if it begins with the first key of all. */
  public byte @Nullable [] low(int segment) {
    return segment == 0 ? null : bounds[segment - 1];
  }

  /** The key behind a segment, or null if there is no end. */
  public byte @Nullable [] high(int segment) {
    return segment == bounds.length ? null : bounds[segment];
  }

  /** The newest range delete of a segment up to {@code lsn}; 0 if there is none. */
  public long covering(int segment, long lsn) {
    for (long one : lsns[segment]) {
      if (one <= lsn) {
        return one;
      }
    }
    return 0;
  }

  /** The newest range delete up to {@code lsn} that covers a key; 0 if there is none. */
  public long covering(byte[] key, int length, long lsn) {
    return covering(segment(key, length), lsn);
  }

  /** The oldest range delete of a segment that is newer than {@code lsn}; 0 if there is none. */
  public long firstAfter(int segment, long lsn) {
    long found = 0;
    for (long one : lsns[segment]) {
      if (one <= lsn) {
        break;
      }
      found = one;
    }
    return found;
  }

  /** The first segment that has keys from {@code from} on; null for the first key of all. */
  public int first(byte @Nullable [] from) {
    return from == null ? 0 : segment(from, from.length);
  }

  /** Whether a segment begins at or behind {@code to}; null for no end. */
  public boolean isBehind(int segment, byte @Nullable [] to) {
    byte[] low = low(segment);
    return to != null && low != null && compare(low, to) >= 0;
  }

  /** Whether a segment lies wholly behind a key. */
  public boolean isBeyond(int segment, byte[] key) {
    byte[] low = low(segment);
    return low != null && compare(low, key) > 0;
  }

  /** These and more. */
  public RangeDeletes withAll(List<RangeDelete> more) {
    if (more.size() == 1) {
      return with(more.get(0));
    }
    List<RangeDelete> all = new ArrayList<>(list());
    all.addAll(more);
    return more.isEmpty() ? this : of(order, all);
  }

  /** These and one more. */
  public RangeDeletes with(RangeDelete delete) {
    return changed(delete.from(), delete.to(), old -> inserted(old, delete.lsn()));
  }

  /** These without those of a range up to an LSN. */
  public RangeDeletes without(RangeDelete gone) {
    return changed(gone.from(), gone.to(), old -> newer(old, gone.lsn()));
  }

  /** Those up to an LSN. */
  public RangeDeletes upTo(long lsn) {
    for (long[] segment : lsns) {
      if (segment.length > 0 && segment[0] > lsn) {
        return changed(null, null, old -> older(old, lsn));
      }
    }
    return this;
  }

  /**
   * Those that somebody needs. Of two that cover a segment, the older one is needed by a snapshot
   * between them only, if the newer one is visible.
   *
   * @param snapshots LSNs that somebody reads at, ascending
   * @param visible all others read at this LSN or later
   */
  public RangeDeletes needed(long[] snapshots, long visible) {
    for (long[] segment : lsns) {
      if (segment.length > 1) {
        return changed(null, null, old -> needed(old, snapshots, visible));
      }
    }
    return this;
  }

  /** All of them, neighbours with the same LSN as one, ascending by where they begin. */
  public List<RangeDelete> list() {
    List<RangeDelete> all = new ArrayList<>();
    for (int i = 0; i < lsns.length; i++) {
      for (long lsn : lsns[i]) {
        if (i > 0 && contains(lsns[i - 1], lsn)) {
          continue;
        }
        int last = i;
        while (last + 1 < lsns.length && contains(lsns[last + 1], lsn)) {
          last++;
        }
        all.add(new RangeDelete(low(i), high(last), lsn));
      }
    }
    return all;
  }

  private interface Change {
    long[] apply(long[] old);
  }

  private RangeDeletes changed(byte @Nullable [] from, byte @Nullable [] to, Change change) {
    int first = first(from);
    int last = first;
    while (last < bounds.length && (to == null || compare(bounds[last], to) < 0)) {
      last++;
    }
    Cuts cuts = new Cuts(lsns.length + 2);
    for (int i = 0; i < first; i++) {
      cuts.add(low(i), lsns[i]);
    }
    byte[] low = low(first);
    if (from != null && (low == null || compare(low, from) < 0)) {
      cuts.add(low, lsns[first]);
      low = from;
    }
    for (int i = first; i <= last; i++) {
      cuts.add(i == first ? low : low(i), change.apply(lsns[i]));
    }
    byte[] high = high(last);
    if (to != null && (high == null || compare(high, to) > 0)) {
      cuts.add(to, lsns[last]);
    }
    for (int i = last + 1; i < lsns.length; i++) {
      cuts.add(low(i), lsns[i]);
    }
    return cuts.toRangeDeletes(order);
  }

  /** Gathers segments; those that are as the one before become one with it. */
  private static final class Cuts {
    private final byte[][] bounds;
    private final long[][] lsns;
    private int count;

    Cuts(int most) {
      this.bounds = new byte[most][];
      this.lsns = new long[most + 1][];
    }

    void add(byte @Nullable [] low, long[] of) {
      if (count > 0 && Arrays.equals(lsns[count - 1], of)) {
        return;
      }
      if (count > 0 && low != null) {
        bounds[count - 1] = low;
      }
      lsns[count++] = of;
    }

    RangeDeletes toRangeDeletes(KeyOrder order) {
      return new RangeDeletes(order, Arrays.copyOf(bounds, count - 1), Arrays.copyOf(lsns, count));
    }
  }

  private static long[] inserted(long[] old, long lsn) {
    int at = 0;
    while (at < old.length && old[at] > lsn) {
      at++;
    }
    if (at < old.length && old[at] == lsn) {
      return old;
    }
    long[] all = new long[old.length + 1];
    System.arraycopy(old, 0, all, 0, at);
    all[at] = lsn;
    System.arraycopy(old, at, all, at + 1, old.length - at);
    return all;
  }

  private static long[] newer(long[] old, long lsn) {
    int kept = 0;
    while (kept < old.length && old[kept] > lsn) {
      kept++;
    }
    return Arrays.copyOf(old, kept);
  }

  private static long[] older(long[] old, long lsn) {
    int from = 0;
    while (from < old.length && old[from] > lsn) {
      from++;
    }
    return Arrays.copyOfRange(old, from, old.length);
  }

  private static long[] needed(long[] old, long[] snapshots, long visible) {
    long[] kept = new long[old.length];
    int count = 0;
    for (int i = 0; i < old.length; i++) {
      if (i == 0
          || old[i - 1] > visible
          || VersionFilter.snapshotIn(snapshots, old[i], old[i - 1])) {
        kept[count++] = old[i];
      }
    }
    return count == old.length ? old : Arrays.copyOf(kept, count);
  }

  private static boolean contains(long[] all, long lsn) {
    for (long one : all) {
      if (one == lsn) {
        return true;
      }
    }
    return false;
  }

  private int compare(byte[] a, byte[] b) {
    return order.compare(a, 0, a.length, b, 0, b.length);
  }

  /**
   * Lookups of keys that follow each other: most find their segment where the last one was. One
   * thread at a time.
   */
  public static final class Walk {
    private final RangeDeletes deletes;
    private int segment = -1;

    public Walk(RangeDeletes deletes) {
      this.deletes = deletes;
    }

    public RangeDeletes deletes() {
      return deletes;
    }

    /** The segment of a key. */
    public int segment(byte[] key, int length) {
      if (segment < 0 || !has(key, length)) {
        segment = deletes.segment(key, length);
      }
      return segment;
    }

    private boolean has(byte[] key, int length) {
      byte[] low = deletes.low(segment);
      byte[] high = deletes.high(segment);
      KeyOrder order = deletes.order;
      return (high == null || order.compare(high, 0, high.length, key, 0, length) > 0)
          && (low == null || order.compare(low, 0, low.length, key, 0, length) <= 0);
    }
  }

  @Override
  public String toString() {
    return list().toString();
  }
}
