package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the LSN of a {@link Coverage} changes: an ascending sequence of bounds, each with the LSN
 * that holds from there on. A tree of leaves whose two sides differ in height by one at most, as in
 * an AVL tree. It is changed by splitting and joining, which copies one path.
 *
 * <p>Immutable. Invariants: of two neighbours the LSNs differ; a leaf has {@link #MIN} cuts or
 * more, unless it is the only one.
 */
abstract sealed class Cuts {
  static final int MIN = 24;
  private static final int MAX = 2 * MIN;

  /** On the heap: a leaf with its three arrays, a cut in these, an inner node, an array. */
  private static final int LEAF_BYTES = 120;

  private static final int CUT_BYTES = 20;
  private static final int INNER_BYTES = 56;
  private static final int ARRAY_BYTES = 16;

  /** A bound, null for the first key of all, and the LSN from there on; 0 for none. */
  record Cut(byte @Nullable [] bound, long lsn) {}

  final int height;
  final int size;
  final long minLsn;
  final long maxLsn;

  /** What all of it takes on the heap, with the keys. */
  final long heapBytes;

  private Cuts(int height, int size, long minLsn, long maxLsn, long heapBytes) {
    this.heapBytes = heapBytes;
    this.height = height;
    this.size = size;
    this.minLsn = minLsn;
    this.maxLsn = maxLsn;
  }

  /** What a key takes on the heap. */
  static long keyBytes(byte[] key) {
    return ARRAY_BYTES + (key.length + 7 & ~7);
  }

  /** What a change makes anew, about: three leaves, and inner nodes on the way to them. */
  long copiedBytes() {
    long leaf = LEAF_BYTES + (MIN + MAX) / 2 * CUT_BYTES;
    return Math.min(heapBytes, 3 * leaf + 2L * height * INNER_BYTES);
  }

  /** Cuts in two arrays of equal length. */
  static final class Leaf extends Cuts {
    final byte[] @Nullable [] bounds;
    final long[] lsns;

    /** 1 if the first bound is null, else 0. */
    private final int first;

    /** How many bytes all bounds from {@link #first} on begin with, in the order of bytes. */
    private final int prefix;

    /** The heads of what follows these bytes, beside each other; 0 for null. */
    private final long[] heads;

    private Leaf(byte[] @Nullable [] bounds, long[] lsns) {
      super(0, lsns.length, min(lsns), max(lsns), heapBytes(bounds));
      this.bounds = bounds;
      this.lsns = lsns;
      this.first = bounds[0] == null ? 1 : 0;
      this.prefix = first == bounds.length ? 0 : prefix(bounds[first], bounds[bounds.length - 1]);
      this.heads = new long[bounds.length];
      for (int i = first; i < heads.length; i++) {
        byte[] bound = bounds[i];
        // In an order that is not that of the bytes a bound may be shorter; its head is not used.
        heads[i] = bound == null ? 0 : Words.head(bound, prefix, bound.length - prefix);
      }
    }

    private static long heapBytes(byte[] @Nullable [] bounds) {
      long bytes = LEAF_BYTES + (long) CUT_BYTES * bounds.length;
      for (byte[] bound : bounds) {
        bytes += bound == null ? 0 : keyBytes(bound);
      }
      return bytes;
    }

    private static int prefix(byte @Nullable [] low, byte @Nullable [] high) {
      if (low == null || high == null) {
        return 0;
      }
      int differs = Arrays.mismatch(low, high);
      return differs < 0 ? low.length : differs;
    }

    static Leaf of(List<Cut> cuts) {
      byte[] @Nullable [] bounds = new byte[cuts.size()][];
      long[] lsns = new long[cuts.size()];
      for (int i = 0; i < lsns.length; i++) {
        bounds[i] = cuts.get(i).bound();
        lsns[i] = cuts.get(i).lsn();
      }
      return new Leaf(bounds, lsns);
    }

    /** How many of the first cuts lie before a key, or at it, too. */
    int countTo(KeyOrder order, byte[] key, int length, boolean inclusive) {
      int low = first;
      int high = lsns.length;
      byte[] bound = low == high ? null : bounds[low];
      if (bound == null) {
        return low;
      }
      boolean byHead = order.isBytes();
      if (byHead) {
        int common = Math.min(prefix, length);
        int differs = Arrays.mismatch(bound, 0, common, key, 0, common);
        if (differs >= 0) {
          return (key[differs] & 0xFF) < (bound[differs] & 0xFF) ? low : high;
        }
        if (length < prefix) {
          return low;
        }
      }
      long head = byHead ? Words.head(key, prefix, length - prefix) : 0;
      while (low < high) {
        int middle = (low + high) >>> 1;
        int c = byHead ? Long.compareUnsigned(heads[middle], head) : 0;
        if (c == 0) {
          c = compare(order, bounds[middle], key, length);
        }
        if (c < 0 || inclusive && c == 0) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    @Nullable Leaf part(int from, int to) {
      if (from == to) {
        return null;
      }
      return to - from == lsns.length
          ? this
          : new Leaf(Arrays.copyOfRange(bounds, from, to), Arrays.copyOfRange(lsns, from, to));
    }

    private static long min(long[] lsns) {
      long min = Long.MAX_VALUE;
      for (long lsn : lsns) {
        min = Math.min(min, lsn);
      }
      return min;
    }

    private static long max(long[] lsns) {
      long max = 0;
      for (long lsn : lsns) {
        max = Math.max(max, lsn);
      }
      return max;
    }
  }

  /** Two parts, the first one before the second one. */
  static final class Inner extends Cuts {
    final Cuts left;
    final Cuts right;

    /** The first bound of the right part. */
    final byte[] bound;

    private Inner(Cuts left, byte[] bound, Cuts right) {
      super(
          1 + Math.max(left.height, right.height),
          left.size + right.size,
          Math.min(left.minLsn, right.minLsn),
          Math.max(left.maxLsn, right.maxLsn),
          INNER_BYTES + left.heapBytes + right.heapBytes);
      this.left = left;
      this.right = right;
      this.bound = bound;
    }
  }

  /** What lies before a key, and what lies behind it or at it. */
  record Halves(@Nullable Cuts before, @Nullable Cuts from) {}

  static Halves split(KeyOrder order, @Nullable Cuts cuts, byte @Nullable [] key) {
    if (cuts == null || key == null) {
      return new Halves(null, cuts);
    }
    if (cuts instanceof Leaf leaf) {
      int at = leaf.countTo(order, key, key.length, false);
      return new Halves(leaf.part(0, at), leaf.part(at, leaf.size));
    }
    Inner inner = (Inner) cuts;
    int c = compare(order, inner.bound, key, key.length);
    if (c < 0) {
      Halves right = split(order, inner.right, key);
      return new Halves(join(inner.left, right.before()), right.from());
    }
    if (c > 0) {
      Halves left = split(order, inner.left, key);
      return new Halves(left.before(), join(left.from(), inner.right));
    }
    return new Halves(inner.left, inner.right);
  }

  /**
   * Puts cuts between two parts.
   *
   * @param before what lies before them, null for nothing; its last leaf may have few cuts
   * @param after what lies behind them, likewise
   */
  static @Nullable Cuts join(@Nullable Cuts before, List<Cut> between, @Nullable Cuts after) {
    List<Cut> head = new ArrayList<>();
    List<Cut> tail = new ArrayList<>();
    Cuts left = before;
    Cuts right = after;
    if (left != null) {
      Leaf last = lastLeaf(left);
      left = withoutLast(left);
      addTo(head, last);
    }
    if (right != null) {
      Leaf first = firstLeaf(right);
      right = withoutFirst(right);
      addTo(tail, first);
    }
    if (left != null && head.size() + between.size() + tail.size() < MIN) {
      List<Cut> more = new ArrayList<>();
      addTo(more, lastLeaf(left));
      left = withoutLast(left);
      head.addAll(0, more);
    }
    if (right != null && head.size() + between.size() + tail.size() < MIN) {
      addTo(tail, firstLeaf(right));
      right = withoutFirst(right);
    }
    head.addAll(between);
    head.addAll(tail);
    return join(join(left, of(head)), right);
  }

  /** A tree of these. */
  static @Nullable Cuts of(List<Cut> cuts) {
    int size = cuts.size();
    if (size <= MAX) {
      return size == 0 ? null : Leaf.of(cuts);
    }
    return join(of(cuts.subList(0, size / 2)), of(cuts.subList(size / 2, size)));
  }

  private static @Nullable Cuts join(@Nullable Cuts left, @Nullable Cuts right) {
    if (left == null || right == null) {
      return left == null ? right : left;
    }
    if (left.height > right.height + 1) {
      Inner inner = (Inner) left;
      return balanced(inner.left, joined(inner.right, right));
    }
    if (right.height > left.height + 1) {
      Inner inner = (Inner) right;
      return balanced(joined(left, inner.left), inner.right);
    }
    return inner(left, right);
  }

  @SuppressWarnings("NullAway") // Of two trees there is something left.
  private static Cuts joined(Cuts left, Cuts right) {
    return join(left, right);
  }

  private static Cuts balanced(Cuts left, Cuts right) {
    if (right.height > left.height + 1) {
      Inner inner = (Inner) right;
      if (inner.left.height > inner.right.height) {
        Inner middle = (Inner) inner.left;
        return inner(inner(left, middle.left), inner(middle.right, inner.right));
      }
      return inner(inner(left, inner.left), inner.right);
    }
    if (left.height > right.height + 1) {
      Inner inner = (Inner) left;
      if (inner.right.height > inner.left.height) {
        Inner middle = (Inner) inner.right;
        return inner(inner(inner.left, middle.left), inner(middle.right, right));
      }
      return inner(inner.left, inner(inner.right, right));
    }
    return inner(left, right);
  }

  private static Cuts inner(Cuts left, Cuts right) {
    byte[] bound = firstLeaf(right).bounds[0];
    if (bound == null) {
      throw new IllegalStateException("nothing lies before the first key");
    }
    return new Inner(left, bound, right);
  }

  private static @Nullable Cuts withoutLast(Cuts cuts) {
    return cuts instanceof Inner inner ? join(inner.left, withoutLast(inner.right)) : null;
  }

  /** What is left behind the first leaf. */
  static @Nullable Cuts withoutFirst(Cuts cuts) {
    return cuts instanceof Inner inner ? join(withoutFirst(inner.left), inner.right) : null;
  }

  static Leaf firstLeaf(Cuts cuts) {
    Cuts at = cuts;
    while (at instanceof Inner inner) {
      at = inner.left;
    }
    return (Leaf) at;
  }

  static Leaf lastLeaf(Cuts cuts) {
    Cuts at = cuts;
    while (at instanceof Inner inner) {
      at = inner.right;
    }
    return (Leaf) at;
  }

  /** Adds all cuts to a list. */
  static void addTo(List<Cut> list, @Nullable Cuts cuts) {
    if (cuts instanceof Inner inner) {
      addTo(list, inner.left);
      addTo(list, inner.right);
    } else if (cuts instanceof Leaf leaf) {
      for (int i = 0; i < leaf.size; i++) {
        list.add(new Cut(leaf.bounds[i], leaf.lsns[i]));
      }
    }
  }

  /** The order of a bound and a key; null is the bound of the first key of all. */
  static int compare(KeyOrder order, byte @Nullable [] bound, byte[] key, int length) {
    if (bound == null) {
      return -1;
    }
    return order.isBytes()
        ? Arrays.compareUnsigned(bound, 0, bound.length, key, 0, length)
        : order.compare(bound, 0, bound.length, key, 0, length);
  }
}
