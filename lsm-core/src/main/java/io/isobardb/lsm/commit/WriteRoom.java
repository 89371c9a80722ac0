package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import org.jspecify.annotations.Nullable;

/**
 * What writes take of the write memory, in bytes: about, for the gate to count with; and at most,
 * for what they claim before they take it.
 */
public final class WriteRoom {
  /** Pages for leaves and inner pages that one operation may make anew. */
  private static final int SPLIT_PAGES = 4;

  /** Batches below this part of the write memory do not claim what they take. */
  private static final int UNCLAIMED_SHARE = 256;

  /** Keys below this part of a page leave enough of it to entries, whatever their order. */
  private static final int SHORT_SHARE = 16;

  /** Bytes of an entry's slot, header and alignment. */
  private static final int SLOT_BYTES = 32;

  /** Children of inner pages that have room for one separator: seen with random keys. */
  private static final double LEAST_CHILDREN = 1.4;

  private final WriteGate gate;
  private final Catalog catalog;
  private final int pageSize;

  WriteRoom(WriteGate gate, Catalog catalog) {
    this.gate = gate;
    this.catalog = catalog;
    this.pageSize = catalog.space().pool().pageSize();
  }

  /** About what a range delete takes on the heap. */
  static long ofRange(Write write) {
    return ofRange(write.keyLength(), write.valueLength());
  }

  /** As {@link #ofRange(Write)}, of what its bounds are encoded in. */
  static long ofRange(int keyBytes, int valueBytes) {
    return (long) keyBytes + valueBytes + RangeMemory.BYTES_EACH;
  }

  /** About what a batch takes that takes so much {@linkplain #most at most}. */
  static long of(BatchFormat.Builder batch, long most) {
    return Math.max(batch.length() + (long) Write.OVERHEAD * batch.count(), most / 2);
  }

  /**
   * The most that a batch takes: more than its bytes where values have pages of their own, or few
   * entries fit into one.
   */
  long most(BatchFormat.Builder batch) {
    long bytes = of(batch, 0);
    if (bytes < gate.limitBytes() / UNCLAIMED_SHARE
        || batch.largestBytes() <= pageSize / SHORT_SHARE) {
      return 2 * bytes;
    }
    long[] most = {0};
    BatchFormat.decode(batch, new Write(), (tree, write) -> most[0] += most(tree, write));
    return Math.max(bytes, most[0]);
  }

  private long most(int treeId, Write write) {
    long fenced = mostWithFences(catalog.tree(treeId), write, pageSize);
    return fenced > 0 ? fenced : most(write.roomBytes());
  }

  /** A leaf that is split may stay as full as half a page less half an entry. */
  private long most(long entry) {
    return entry <= pageSize / 3 ? 2 * entry : wholePages(entry);
  }

  private long wholePages(long bytes) {
    return (bytes + pageSize - 1) / pageSize * pageSize;
  }

  /**
   * The most that an entry takes with a long key of an order that is not that of the bytes. Each
   * page holds two whole keys as its bounds then, and inner pages hold others: of the longest keys
   * a leaf has room for one, and each makes two inner pages or more.
   *
   * @return 0 if this is no such entry
   */
  public static long mostWithFences(@Nullable TreeHandle tree, Write write, int pageSize) {
    if (write.keyLength() <= pageSize / SHORT_SHARE || tree == null || tree.order().isBytes()) {
      return 0;
    }
    long key = write.keyLength() + SLOT_BYTES;
    long left = pageSize - 2 * key;
    boolean overflows = key + write.valueLength() > left;
    long inLeaf = Math.max(1, left / (overflows ? key : key + write.valueLength()) / 2);
    double children = Math.max(LEAST_CHILDREN, (left / key + 1) / 2);
    double pages = children / (children - 1) / inLeaf;
    return (long) (pages * pageSize) + (overflows ? write.valueLength() + pageSize : 0);
  }

  /** Claims what a batch takes at most; nothing if that is little. */
  long claim(BatchFormat.Builder batch, WaitLimit limit) {
    return batch.length() < gate.limitBytes() / UNCLAIMED_SHARE
        ? 0
        : gate.claim(most(batch), limit);
  }

  /** Claims what the pages of a large value take, with those of its entry. */
  long claimOverflow(int valueLength, WaitLimit limit) {
    return gate.claim(overflow(valueLength), limit);
  }

  /** As {@link #claimOverflow}, without a wait; 0 if no user's value may be so large, or now. */
  long tryClaimOverflow(int valueLength) {
    return valueLength > gate.grantBytes() / 4 ? 0 : gate.tryClaim(overflow(valueLength));
  }

  /** Ends a claim. */
  void unclaim(long claimed) {
    gate.unclaim(claimed);
  }

  private long overflow(int valueLength) {
    return valueLength + (valueLength >> 8) + (long) SPLIT_PAGES * pageSize;
  }
}
