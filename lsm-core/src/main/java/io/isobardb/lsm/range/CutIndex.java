package io.isobardb.lsm.range;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The leaves of {@link Cuts} in one array, with the heads of their first bounds beside each other:
 * a search in it meets few cache lines, where a walk down the tree meets one or two at each step.
 * Heads are of what follows the bounds' common prefix.
 *
 * <p>Immutable, and safe to hand to other threads without synchronisation.
 */
final class CutIndex {
  private final KeyOrder order;
  private final Cuts.Leaf[] leaves;
  private final byte[] prefix;

  /** The heads of the first bounds of all leaves but the first one. */
  private final long[] heads;

  private CutIndex(KeyOrder order, Cuts.Leaf[] leaves) {
    this.order = order;
    this.leaves = leaves;
    byte[] first = bound(leaves[1]);
    byte[] last = bound(leaves[leaves.length - 1]);
    int differs = Arrays.mismatch(first, last);
    int common = differs < 0 ? first.length : differs;
    this.prefix = order.isBytes() ? Arrays.copyOf(first, common) : new byte[0];
    this.heads = new long[leaves.length - 1];
    for (int i = 0; i < heads.length; i++) {
      byte[] bound = bound(leaves[i + 1]);
      heads[i] =
          order.isBytes() ? Words.head(bound, prefix.length, bound.length - prefix.length) : 0;
    }
  }

  /** An index of cuts that have two leaves at least. */
  static CutIndex of(KeyOrder order, Cuts.Inner cuts) {
    List<Cuts.Leaf> leaves = new ArrayList<>();
    addTo(leaves, cuts);
    return new CutIndex(order, leaves.toArray(new Cuts.Leaf[0]));
  }

  private static void addTo(List<Cuts.Leaf> leaves, Cuts at) {
    if (at instanceof Cuts.Inner inner) {
      addTo(leaves, inner.left);
      addTo(leaves, inner.right);
    } else {
      leaves.add((Cuts.Leaf) at);
    }
  }

  /** Where a leaf begins that is not the first one. */
  private static byte[] bound(Cuts.Leaf leaf) {
    byte[] bound = leaf.bounds[0];
    if (bound == null) {
      throw new IllegalStateException("nothing lies before the first key");
    }
    return bound;
  }

  /** The leaf that has the last cut at or before a key, if there is any. */
  Cuts.Leaf leaf(byte[] key, int length) {
    int common = Math.min(prefix.length, length);
    int differs = Arrays.mismatch(prefix, 0, common, key, 0, common);
    if (differs >= 0) {
      boolean before = (key[differs] & 0xFF) < (prefix[differs] & 0xFF);
      return leaves[before ? 0 : heads.length];
    }
    if (length < prefix.length) {
      return leaves[0];
    }
    long head = order.isBytes() ? Words.head(key, prefix.length, length - prefix.length) : 0;
    int low = 0;
    int high = heads.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int c = Long.compareUnsigned(heads[middle], head);
      if (c == 0) {
        c = Cuts.compare(order, leaves[middle + 1].bounds[0], key, length);
      }
      if (c <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return leaves[low];
  }
}
