package io.isobardb.lsm.commit;

import static io.isobardb.lsm.state.TreeHandle.ENTRY_OVERHEAD;

import io.isobardb.lsm.component.Write;
import io.isobardb.memory.pool.PagePool;

/**
 * What writes take of the write memory, in bytes: about, for the gate to count with; and at most,
 * for what they claim before they take it.
 */
public final class WriteRoom {
  /** Of batches below this part of the write memory, values are not looked at. */
  private static final int SMALL_SHARE = 16;

  /** Pages for leaves and inner pages that one operation may make anew. */
  private static final int SPLIT_PAGES = 4;

  /** Batches below this part do not claim what they take. */
  private static final int UNCLAIMED_SHARE = 256;

  private final WriteGate gate;
  private final int pageSize;

  WriteRoom(WriteGate gate, PagePool pool) {
    this.gate = gate;
    this.pageSize = pool.pageSize();
  }

  /** About what a put or delete takes. */
  public static long of(Write write) {
    return (long) write.keyLength() + write.valueLength() + ENTRY_OVERHEAD;
  }

  /** About what a batch takes. */
  static long of(BatchFormat.Builder batch) {
    return batch.length() + (long) ENTRY_OVERHEAD * batch.count();
  }

  /**
   * The most that a batch takes: more than its bytes where values have pages of their own, or few
   * of them fit into one.
   */
  long most(BatchFormat.Builder batch) {
    long bytes = of(batch);
    if (bytes < gate.limitBytes() / SMALL_SHARE
        || isSmall((long) batch.largestBytes() + ENTRY_OVERHEAD)) {
      return 2 * bytes;
    }
    long[] most = {0};
    BatchFormat.decode(batch, new Write(), (tree, write) -> most[0] += most(of(write)));
    return Math.max(bytes, most[0]);
  }

  /** A leaf that is split may stay as full as half a page less half an entry. */
  private long most(long entry) {
    return isSmall(entry) ? 2 * entry : (entry + pageSize - 1) / pageSize * pageSize;
  }

  private boolean isSmall(long entry) {
    return entry <= pageSize / 3;
  }

  /** Claims what a batch takes at most; nothing if that is little. */
  long claim(BatchFormat.Builder batch) {
    return batch.length() < gate.limitBytes() / UNCLAIMED_SHARE ? 0 : gate.claim(most(batch));
  }

  /** Claims what the pages of a large value take, with those of its entry. */
  long claimOverflow(int valueLength) {
    return gate.claim(overflow(valueLength));
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
