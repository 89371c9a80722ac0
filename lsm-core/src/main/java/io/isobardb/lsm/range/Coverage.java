package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * For each key the LSN of the newest range delete that covers it, as of one moment. Segments, in
 * which that LSN is the same, divide the keys.
 *
 * <p>Immutable, but for an index that lookups make. A lookup takes a time that grows as the
 * logarithm of the number of segments. So does a change, besides what it takes to forget the
 * segments that it covers.
 */
public final class Coverage {
  /** A walk down the tree takes about as long as so many leaves of an index take to be added. */
  private static final int LEAVES_PER_WALK = 16;

  private final KeyOrder order;

  /** No range delete covers what lies before the first cut. */
  private final @Nullable Cuts cuts;

  /** Made once there were enough lookups; several threads may make the same. */
  private @Nullable CutIndex index;

  /** How many there were, about: threads may miss each other's. */
  private int lookups;

  private Coverage(KeyOrder order, @Nullable Cuts cuts) {
    this.order = order;
    this.cuts = cuts;
  }

  /** No key is covered. */
  public static Coverage none(KeyOrder order) {
    return new Coverage(order, null);
  }

  /**
   * A range of keys.
   *
   * @param low the first key, null for no bound
   * @param high the key behind the last one, null for no bound
   * @param lsn the newest range delete that covers them, 0 for none
   */
  public record Segment(byte @Nullable [] low, byte @Nullable [] high, long lsn) {}

  /** Whether no key is covered. */
  public boolean isEmpty() {
    return cuts == null;
  }

  /** At most so many segments are there, and half of that at least. */
  public int size() {
    return cuts == null ? 0 : cuts.size;
  }

  /** What it takes on the heap, with the keys, in bytes; about. */
  public long heapBytes() {
    return cuts == null ? 0 : cuts.heapBytes;
  }

  /** What of that it does not share with what it was before the last change, at most; about. */
  long copiedBytes() {
    return cuts == null ? 0 : cuts.copiedBytes();
  }

  /** The newest range delete of all; 0 if there is none. */
  public long newestLsn() {
    return cuts == null ? 0 : cuts.maxLsn;
  }

  /** The newest range delete that covers a key; 0 if none does. */
  public long covering(byte[] key, int length) {
    Cuts at = cuts;
    if (at == null) {
      return 0;
    }
    Cuts.Leaf leaf = at instanceof Cuts.Inner inner ? leaf(inner, key, length) : (Cuts.Leaf) at;
    int count = leaf.countTo(order, key, length, true);
    return count == 0 ? 0 : leaf.lsns[count - 1];
  }

  private Cuts.Leaf leaf(Cuts.Inner root, byte[] key, int length) {
    CutIndex made = index;
    if (made == null && ++lookups > root.size / Cuts.MIN / LEAVES_PER_WALK) {
      made = CutIndex.of(order, root);
      index = made;
    }
    if (made != null) {
      return made.leaf(key, length);
    }
    Cuts at = root;
    while (at instanceof Cuts.Inner inner) {
      at = Cuts.compare(order, inner.bound, key, length) <= 0 ? inner.right : inner.left;
    }
    return (Cuts.Leaf) at;
  }

  /** The segment of a key. */
  public Segment segment(byte[] key, int length) {
    Cuts at = cuts;
    byte[] high = null;
    while (at instanceof Cuts.Inner inner) {
      if (Cuts.compare(order, inner.bound, key, length) <= 0) {
        at = inner.right;
      } else {
        high = inner.bound;
        at = inner.left;
      }
    }
    if (at == null) {
      return new Segment(null, null, 0);
    }
    Cuts.Leaf leaf = (Cuts.Leaf) at;
    int count = leaf.countTo(order, key, length, true);
    return new Segment(
        count == 0 ? null : leaf.bounds[count - 1],
        count == leaf.size ? high : leaf.bounds[count],
        count == 0 ? 0 : leaf.lsns[count - 1]);
  }

  /** All segments that are covered, ascending. */
  public List<Segment> segments() {
    return segments(0);
  }

  /** The segments that a range delete newer than an LSN covers, ascending. */
  private List<Segment> segments(long after) {
    List<Segment> segments = new ArrayList<>();
    addTo(segments, cuts, null, after);
    return segments;
  }

  /**
   * @param end where the last of the cuts ends, null for no bound
   */
  private static void addTo(
      List<Segment> segments, @Nullable Cuts at, byte @Nullable [] end, long after) {
    if (at == null || at.maxLsn <= after) {
      return;
    }
    if (at instanceof Cuts.Inner inner) {
      addTo(segments, inner.left, inner.bound, after);
      addTo(segments, inner.right, end, after);
      return;
    }
    Cuts.Leaf leaf = (Cuts.Leaf) at;
    for (int i = 0; i < leaf.size; i++) {
      if (leaf.lsns[i] > after) {
        byte[] high = i + 1 == leaf.size ? end : leaf.bounds[i + 1];
        segments.add(new Segment(leaf.bounds[i], high, leaf.lsns[i]));
      }
    }
  }

  /** The lowest LSN of the segments of two keys and all between; 0 if one is not covered. */
  public long min(byte[] from, byte[] to) {
    return Math.min(covering(from, from.length), min(cuts, from, to));
  }

  private long min(@Nullable Cuts at, byte @Nullable [] above, byte @Nullable [] upTo) {
    if (at == null || above == null && upTo == null) {
      return at == null ? Long.MAX_VALUE : at.minLsn;
    }
    if (at instanceof Cuts.Inner inner) {
      boolean left = above == null || compare(inner.bound, above) > 0;
      boolean right = upTo == null || compare(inner.bound, upTo) <= 0;
      return Math.min(
          left ? min(inner.left, above, right ? null : upTo) : Long.MAX_VALUE,
          right ? min(inner.right, left ? null : above, upTo) : Long.MAX_VALUE);
    }
    long min = Long.MAX_VALUE;
    Cuts.Leaf leaf = (Cuts.Leaf) at;
    int to = upTo == null ? leaf.size : leaf.countTo(order, upTo, upTo.length, true);
    for (int i = above == null ? 0 : leaf.countTo(order, above, above.length, true); i < to; i++) {
      min = Math.min(min, leaf.lsns[i]);
    }
    return min;
  }

  /** The highest LSN of the segments of two keys and all between; 0 if none is covered. */
  public long max(byte[] from, byte[] to) {
    return Math.max(covering(from, from.length), max(cuts, from, to));
  }

  private long max(@Nullable Cuts at, byte @Nullable [] above, byte @Nullable [] upTo) {
    if (at == null || above == null && upTo == null) {
      return at == null ? 0 : at.maxLsn;
    }
    if (at instanceof Cuts.Inner inner) {
      boolean left = above == null || compare(inner.bound, above) > 0;
      boolean right = upTo == null || compare(inner.bound, upTo) <= 0;
      return Math.max(
          left ? max(inner.left, above, right ? null : upTo) : 0,
          right ? max(inner.right, left ? null : above, upTo) : 0);
    }
    long max = 0;
    Cuts.Leaf leaf = (Cuts.Leaf) at;
    int to = upTo == null ? leaf.size : leaf.countTo(order, upTo, upTo.length, true);
    for (int i = above == null ? 0 : leaf.countTo(order, above, above.length, true); i < to; i++) {
      max = Math.max(max, leaf.lsns[i]);
    }
    return max;
  }

  /**
   * Where the first segment that a range delete newer than {@code lsn} covers begins, or goes on.
   *
   * @param from where to begin, null for the first key of all
   * @return a segment whose low bound is {@code from} or higher; null if there is none
   */
  public @Nullable Segment firstNewer(byte @Nullable [] from, long lsn) {
    if ((from == null ? lsnOfFirst() : covering(from, from.length)) > lsn) {
      return new Segment(from, null, lsn);
    }
    byte[] bound = firstNewer(cuts, from, lsn);
    return bound == null ? null : new Segment(bound, null, lsn);
  }

  private long lsnOfFirst() {
    Cuts.Leaf first = cuts == null ? null : Cuts.firstLeaf(cuts);
    return first == null || first.bounds[0] != null ? 0 : first.lsns[0];
  }

  private byte @Nullable [] firstNewer(@Nullable Cuts at, byte @Nullable [] above, long lsn) {
    if (at == null || at.maxLsn <= lsn) {
      return null;
    }
    if (at instanceof Cuts.Inner inner) {
      boolean left = above == null || compare(inner.bound, above) > 0;
      byte[] found = left ? firstNewer(inner.left, above, lsn) : null;
      return found != null ? found : firstNewer(inner.right, left ? null : above, lsn);
    }
    Cuts.Leaf leaf = (Cuts.Leaf) at;
    int i = above == null ? 0 : leaf.countTo(order, above, above.length, true);
    for (; i < leaf.size; i++) {
      if (leaf.lsns[i] > lsn) {
        return leaf.bounds[i];
      }
    }
    return null;
  }

  /**
   * What is covered without a gap from a key on, with its oldest LSN.
   *
   * @return null if the key is not covered
   */
  public @Nullable Segment coveredFrom(byte[] key, int length) {
    long lsn = covering(key, length);
    if (lsn == 0) {
      return null;
    }
    Gap gap = new Gap(lsn);
    gap.ahead(cuts, key, length);
    return new Segment(null, gap.bound, gap.oldest);
  }

  /** As {@link #coveredFrom}, going back. */
  public @Nullable Segment coveredTo(byte[] key, int length) {
    long lsn = covering(key, length);
    if (lsn == 0) {
      return null;
    }
    Gap gap = new Gap(lsn);
    gap.back(cuts, key, length);
    return new Segment(gap.bound, null, gap.oldest);
  }

  /** Looks for the next segment that is not covered, and for the oldest LSN before it. */
  private final class Gap {
    private long oldest;
    private byte @Nullable [] bound;

    Gap(long lsn) {
      this.oldest = lsn;
    }

    /** Passes the cuts behind a key, null for all; whether a gap was among them. */
    boolean ahead(@Nullable Cuts at, byte @Nullable [] key, int length) {
      if (at == null) {
        return false;
      }
      if (key == null && at.minLsn > 0) {
        oldest = Math.min(oldest, at.minLsn);
        return false;
      }
      if (at instanceof Cuts.Inner inner) {
        boolean left = key == null || Cuts.compare(order, inner.bound, key, length) > 0;
        return left && ahead(inner.left, key, length)
            || ahead(inner.right, left ? null : key, length);
      }
      Cuts.Leaf leaf = (Cuts.Leaf) at;
      for (int i = key == null ? 0 : leaf.countTo(order, key, length, true); i < leaf.size; i++) {
        if (leaf.lsns[i] == 0) {
          bound = leaf.bounds[i];
          return true;
        }
        oldest = Math.min(oldest, leaf.lsns[i]);
      }
      return false;
    }

    /** Passes the cuts up to a key, null for all, from the last one on. */
    boolean back(@Nullable Cuts at, byte @Nullable [] key, int length) {
      if (at == null) {
        return false;
      }
      if (key == null && at.minLsn > 0) {
        oldest = Math.min(oldest, at.minLsn);
        bound = Cuts.firstLeaf(at).bounds[0];
        return false;
      }
      if (at instanceof Cuts.Inner inner) {
        boolean right = key == null || Cuts.compare(order, inner.bound, key, length) <= 0;
        return right && back(inner.right, key, length)
            || back(inner.left, right ? null : key, length);
      }
      Cuts.Leaf leaf = (Cuts.Leaf) at;
      int i = key == null ? leaf.size : leaf.countTo(order, key, length, true);
      for (i--; i >= 0; i--) {
        if (leaf.lsns[i] == 0) {
          return true;
        }
        bound = leaf.bounds[i];
        oldest = Math.min(oldest, leaf.lsns[i]);
      }
      return false;
    }
  }

  /** This with a range delete, wherever no newer one covers a key. */
  public Coverage with(RangeDelete delete) {
    long lsn = delete.lsn();
    return changed(delete.from(), delete.to(), old -> Math.max(old, lsn));
  }

  /**
   * This without the range deletes of ranges up to an LSN each. Takes a time in proportion to all
   * there are.
   *
   * @param gone ascending, disjoint
   */
  public Coverage without(List<RangeDelete> gone) {
    Changed left = new Changed(0);
    int next = 0;
    List<Cuts.Cut> all = new ArrayList<>(size());
    Cuts.addTo(all, cuts);
    for (int i = 0; i < all.size(); i++) {
      byte[] at = all.get(i).bound();
      byte[] high = i + 1 == all.size() ? null : all.get(i + 1).bound();
      long lsn = all.get(i).lsn();
      boolean more = true;
      while (more && next < gone.size() && begins(gone.get(next).from(), high)) {
        RangeDelete one = gone.get(next);
        if (lsn <= one.lsn() && begins(at, one.to())) {
          if (compareBounds(at, one.from()) < 0) {
            left.add(at, lsn);
            left.add(one.from(), 0);
          } else {
            left.add(at, 0);
          }
          at = one.to();
          more = at != null && begins(at, high);
        }
        if (!endsBefore(one.to(), high)) {
          break;
        }
        next++;
      }
      if (more) {
        left.add(at, lsn);
      }
    }
    return new Coverage(order, Cuts.of(left.cuts));
  }

  /** Whether a bound that something begins with lies before an end. */
  private boolean begins(byte @Nullable [] low, byte @Nullable [] end) {
    return low == null || end == null || compare(low, end) < 0;
  }

  /** Whether an end lies before another one. */
  private boolean endsBefore(byte @Nullable [] end, byte @Nullable [] other) {
    return end != null && (other == null || compare(end, other) < 0);
  }

  private Coverage changed(byte @Nullable [] from, byte @Nullable [] to, LongUnaryOperator change) {
    Cuts.Halves low = Cuts.split(order, cuts, from);
    Cuts.Halves high =
        to == null ? new Cuts.Halves(low.from(), null) : Cuts.split(order, low.from(), to);
    List<Cuts.Cut> within = new ArrayList<>();
    Cuts.addTo(within, high.before());
    long before = low.before() == null ? 0 : lastLsn(low.before());
    Changed changed = new Changed(before);
    if (within.isEmpty() || compareBounds(within.get(0).bound(), from) != 0) {
      changed.add(from, change.applyAsLong(before));
    }
    for (Cuts.Cut cut : within) {
      changed.add(cut.bound(), change.applyAsLong(cut.lsn()));
    }
    Cuts rest = high.from();
    if (to != null) {
      List<Cuts.Cut> next = new ArrayList<>();
      if (rest != null) {
        Cuts.addTo(next, Cuts.firstLeaf(rest));
        rest = Cuts.withoutFirst(rest);
      }
      if (next.isEmpty() || compareBounds(next.get(0).bound(), to) != 0) {
        changed.add(to, high.before() == null ? before : lastLsn(high.before()));
      }
      next.forEach(cut -> changed.add(cut.bound(), cut.lsn()));
    }
    return new Coverage(order, Cuts.join(low.before(), changed.cuts, rest));
  }

  /** Gathers cuts. One that has the LSN of the one before is none. */
  private static final class Changed {
    private final List<Cuts.Cut> cuts = new ArrayList<>();
    private long lsn;

    Changed(long lsn) {
      this.lsn = lsn;
    }

    void add(byte @Nullable [] bound, long next) {
      if (next != lsn) {
        cuts.add(new Cuts.Cut(bound, next));
        lsn = next;
      }
    }
  }

  private static long lastLsn(Cuts of) {
    Cuts.Leaf last = Cuts.lastLeaf(of);
    return last.lsns[last.size - 1];
  }

  /** Range deletes that cover each key as this does, as few as can be. */
  public List<RangeDelete> list() {
    return list(0);
  }

  /**
   * As {@link #list()}. A range delete goes on below newer ones that it surrounds.
   *
   * @param after only what is newer counts
   */
  List<RangeDelete> list(long after) {
    List<RangeDelete> all = new ArrayList<>();
    Deque<Segment> open = new ArrayDeque<>();
    byte[] last = null;
    boolean ends = false;
    for (Segment segment : segments(after)) {
      byte[] low = segment.low();
      boolean gap = ends && compareBounds(last, low) != 0;
      close(all, open, gap ? 0 : segment.lsn(), last);
      if (open.isEmpty() || open.getLast().lsn() < segment.lsn()) {
        open.addLast(segment);
      }
      last = segment.high();
      ends = true;
    }
    close(all, open, 0, last);
    return all;
  }

  /** Those that are newer than {@code lsn} end before a key. */
  private static void close(
      List<RangeDelete> all, Deque<Segment> open, long lsn, byte @Nullable [] high) {
    while (!open.isEmpty() && open.getLast().lsn() > lsn) {
      Segment segment = open.removeLast();
      all.add(new RangeDelete(segment.low(), high, segment.lsn()));
    }
  }

  private int compare(byte[] a, byte[] b) {
    return Cuts.compare(order, a, b, b.length);
  }

  /** The order of two bounds that segments begin with. */
  private int compareBounds(byte @Nullable [] a, byte @Nullable [] b) {
    if (b == null) {
      return a == null ? 0 : 1;
    }
    return Cuts.compare(order, a, b, b.length);
  }

  /**
   * Lookups of keys that follow each other: most find their segment where the last one was. One
   * thread at a time.
   */
  public static final class Walk {
    private final Coverage coverage;
    private @Nullable Segment segment;

    public Walk(Coverage coverage) {
      this.coverage = coverage;
    }

    /** What is walked through. */
    public Coverage coverage() {
      return coverage;
    }

    /** The newest range delete that covers a key; 0 if none does. */
    public long covering(byte[] key, int length) {
      return segment(key, length).lsn();
    }

    /** The segment that a key lies in. */
    public Segment segment(byte[] key, int length) {
      Segment found = segment;
      if (found == null || !has(found, key, length)) {
        found = coverage.segment(key, length);
        segment = found;
      }
      return found;
    }

    private boolean has(Segment found, byte[] key, int length) {
      byte[] high = found.high();
      KeyOrder order = coverage.order;
      return Cuts.compare(order, found.low(), key, length) <= 0
          && (high == null || Cuts.compare(order, high, key, length) > 0);
    }
  }

  @Override
  public String toString() {
    return list(0).toString();
  }
}
