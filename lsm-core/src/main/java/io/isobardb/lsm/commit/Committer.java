package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogRecord;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries writes out: admit, reserve log space, log, insert, publish, and, if asked, wait for the
 * sync.
 *
 * <p>Writers call {@code admit} before they hold anything, then lock what they have to, and {@code
 * write}. From the reservation on nothing can fail but the log itself; what a write needs in memory
 * beyond a few pages (overflow values) it takes before.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Committer {
  /** What an entry costs in a page besides its key and value, about. */
  private static final int ENTRY_OVERHEAD = 32;

  /** Batches of less than this part of the write memory are small. */
  private static final int SMALL_SHARE = 16;

  /** Batches of less than this part do not claim what they take. */
  private static final int UNCLAIMED_SHARE = 256;

  /** Pages for leaves and inner pages that one operation may make anew. */
  private static final int SPLIT_PAGES = 4;

  /** So often a write that has begun looks for a page before it gets some beyond the budget, ... */
  private static final int ATTEMPTS = 32;

  /** ... and so often from then on. */
  private static final int MORE_ATTEMPTS = 2;

  private static final byte[] NO_VALUE = new byte[0];

  /** No write of a logged tree. */
  private static final long NOT_LOGGED = -1;

  private final Engine engine;
  private final PagePool pool;
  private final Snapshots snapshots;
  private final WriteGate gate;
  private final Consumer<TreeHandle> onSealed;
  private final LogWatch logWatch;
  private final @Nullable TreeSlots slots;
  private final MemoryComponent component;
  private final boolean growing;
  private final ThreadRecords records;

  /**
   * @param onSealed called after an active SSTable was sealed; must return at once
   * @param logWatch told how far the log reaches
   * @param slots what trees have to hold to be written to; null if nothing
   * @param component says how far active SSTables grow
   * @param growing whether that may be beyond the size at which they are full
   */
  public Committer(
      Engine engine,
      Consumer<TreeHandle> onSealed,
      LogWatch logWatch,
      @Nullable TreeSlots slots,
      MemoryComponent component,
      boolean growing) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.snapshots = engine.snapshots();
    this.gate = engine.gate();
    this.onSealed = onSealed;
    this.logWatch = logWatch;
    this.slots = slots;
    this.component = component;
    this.growing = growing;
    this.records = new ThreadRecords(() -> engine.log().get().newRecord());
  }

  /**
   * Waits until there is room for a put or delete. Nothing is kept for it: it is to be written at
   * once.
   */
  public void admit(TreeHandle tree, int keyLength, int valueLength) {
    gate.admit(bytes(keyLength, valueLength));
    TreeSlots needed = slots;
    if (needed != null) {
      needed.admit(tree);
    }
  }

  /** Whether there still is room for an admitted put or delete that had to wait for a lock. */
  public boolean admits(int keyLength, int valueLength) {
    return gate.admits(bytes(keyLength, valueLength));
  }

  /** The bytes of write memory that a put or delete takes, about. */
  public static long bytes(int keyLength, int valueLength) {
    return (long) keyLength + valueLength + ENTRY_OVERHEAD;
  }

  /** As {@link #admit(TreeHandle, int, int)}, for a batch. */
  public void admit(BatchFormat.Builder batch) {
    if (batch.count() > 0) {
      gate.admit(bytes(batch), room(batch));
      admitToSlots(batch);
    }
  }

  /** As {@link #admits(int, int)}, for a batch. */
  public boolean admits(BatchFormat.Builder batch) {
    return batch.count() == 0 || gate.admits(room(batch));
  }

  private static long bytes(BatchFormat.Builder batch) {
    return batch.length() + (long) ENTRY_OVERHEAD * batch.count();
  }

  /**
   * What a batch may take of the write memory: more than its bytes where values have pages of their
   * own, or few of them fit into one. Of a batch that is small beside the write memory that is not
   * looked at.
   */
  private long room(BatchFormat.Builder batch) {
    long bytes = bytes(batch);
    if (bytes < gate.limitBytes() / SMALL_SHARE) {
      return 2 * bytes;
    }
    int page = pool.pageSize();
    long[] room = {0};
    BatchFormat.decode(
        batch.bytes(),
        0,
        batch.length(),
        (kind, id, b, key, keys, value, values) -> {
          long entry = (long) keys + values + ENTRY_OVERHEAD;
          // A leaf that is split may stay as full as half a page less half an entry.
          room[0] += entry > page / 3 ? (entry + page - 1) / page * page : entry * 2;
        });
    return Math.max(bytes, room[0]);
  }

  /**
   * Writes one put or delete that was admitted; returns when it is visible.
   *
   * @return what to hand to {@link #awaitDurable}
   */
  public long write(
      TreeHandle tree,
      int kind,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength) {
    engine.failure().check();
    Log log = engine.log().get();
    log.checkWritable();
    ActiveTree active = tree.activeTree();
    if (active.fitsInline(keyLength, valueLength)) {
      return write(
          tree,
          kind,
          key,
          keyOffset,
          keyLength,
          value,
          valueOffset,
          valueLength,
          active,
          PagePool.NONE);
    }
    long claimed = gate.claim(spread(valueLength));
    try {
      int overflow = overflow(active, value, valueOffset, valueLength);
      return write(
          tree, kind, key, keyOffset, keyLength, value, valueOffset, valueLength, active, overflow);
    } finally {
      gate.unclaim(claimed);
    }
  }

  /** Bytes of the pages that a large value takes, with those of its entry. */
  private long spread(int valueLength) {
    return valueLength + (valueLength >> 8) + (long) SPLIT_PAGES * pool.pageSize();
  }

  private long write(
      TreeHandle tree,
      int kind,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength,
      ActiveTree active,
      int overflow) {
    Log log = engine.log().get();
    long hash = KeyHash.hash(key, keyOffset, keyLength);
    long written = NOT_LOGGED;
    if (tree.settings().logged()) {
      written =
          writeLogged(
              tree,
              kind,
              hash,
              key,
              keyOffset,
              keyLength,
              value,
              valueOffset,
              valueLength,
              active,
              overflow);
    } else {
      long lsn = reserveMarker(log, active, overflow);
      boolean applied = false;
      try {
        apply(
            tree,
            kind,
            lsn,
            hash,
            key,
            keyOffset,
            keyLength,
            value,
            valueOffset,
            valueLength,
            overflow);
        applied = true;
      } finally {
        if (!applied) {
          freeOverflow(active, overflow);
        }
        log.publishMarker(lsn);
      }
    }
    if (full(tree, active) && tree.seal(active, log::end)) {
      onSealed.accept(tree);
    }
    logWatch.written(written);
    return written;
  }

  private boolean full(TreeHandle tree, ActiveTree active) {
    return active.full()
        && !(growing && component.mayGrow(tree.activeUse(), gate.usedBytes(), gate.limitBytes()));
  }

  /** Waits until a write is synced; nothing to wait for if it was to an unlogged tree. */
  public void awaitDurable(long written) {
    if (written == NOT_LOGGED) {
      return;
    }
    try {
      engine.log().get().awaitDurable(written);
    } catch (StoreFailedException e) {
      engine.failure().markTold();
      throw e;
    }
  }

  private long writeLogged(
      TreeHandle tree,
      int kind,
      long hash,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength,
      ActiveTree active,
      int overflow) {
    LogRecord record = records.get();
    boolean applied = false;
    try {
      long lsn = record.begin(BatchFormat.operationBytes(kind, tree.id(), keyLength, valueLength));
      record.putByte(kind);
      record.putVarint(tree.id());
      record.putVarint(keyLength);
      if (kind != Kind.DELETE) {
        record.putVarint(valueLength);
      }
      record.put(key, keyOffset, keyLength);
      if (kind != Kind.DELETE) {
        record.put(value, valueOffset, valueLength);
      }
      apply(
          tree,
          kind,
          lsn,
          hash,
          key,
          keyOffset,
          keyLength,
          value,
          valueOffset,
          valueLength,
          overflow);
      applied = true;
      record.complete();
      record.publish();
      return lsn;
    } finally {
      if (!applied) {
        record.abandon();
        freeOverflow(active, overflow);
      }
    }
  }

  private static long reserveMarker(Log log, ActiveTree active, int overflow) {
    try {
      return log.reserveMarker();
    } catch (RuntimeException e) {
      freeOverflow(active, overflow);
      throw e;
    }
  }

  private static void freeOverflow(ActiveTree active, int overflow) {
    if (overflow != PagePool.NONE) {
      active.freeOverflow(overflow);
    }
  }

  /**
   * Writes a batch that was admitted as one record; it becomes visible at once. The caller is
   * within an operation, and has checked since it began that the batch's trees are open: so they
   * stay until the batch is written.
   *
   * @return what to hand to {@link #awaitDurable}
   */
  public long write(BatchFormat.Builder batch, boolean logged) {
    if (batch.count() == 0) {
      return NOT_LOGGED;
    }
    engine.failure().check();
    Log log = engine.log().get();
    log.checkWritable();
    Applier applier = new Applier();
    long written = NOT_LOGGED;
    long claimed = claim(batch);
    try {
      BatchFormat.decode(batch.bytes(), 0, batch.length(), applier::prepare);
      if (logged) {
        written = writeLogged(batch, applier);
      } else {
        writeUnlogged(batch, applier, log);
      }
    } finally {
      applier.freeUnused();
      gate.unclaim(claimed);
    }
    applier.sealFull(log);
    logWatch.written(written);
    return written;
  }

  private long claim(BatchFormat.Builder batch) {
    return batch.length() < gate.limitBytes() / UNCLAIMED_SHARE ? 0 : gate.claim(room(batch));
  }

  private long writeLogged(BatchFormat.Builder batch, Applier applier) {
    LogRecord record = records.get();
    boolean applied = false;
    try {
      long lsn = record.begin(batch.length());
      record.put(batch.bytes(), 0, batch.length());
      applier.apply(batch, lsn);
      applied = true;
      record.complete();
      record.publish();
      return lsn;
    } finally {
      if (!applied) {
        record.abandon();
      }
    }
  }

  private static void writeUnlogged(BatchFormat.Builder batch, Applier applier, Log log) {
    long lsn = log.reserveMarker();
    try {
      applier.apply(batch, lsn);
    } finally {
      log.publishMarker(lsn);
    }
  }

  private void admitToSlots(BatchFormat.Builder batch) {
    TreeSlots needed = slots;
    if (needed != null) {
      Set<Integer> trees = new LinkedHashSet<>();
      BatchFormat.decode(
          batch.bytes(),
          0,
          batch.length(),
          (kind, id, b, key, keys, value, values) -> trees.add(id));
      for (int id : trees) {
        TreeHandle tree = engine.catalog().tree(id);
        if (tree != null) {
          needed.admit(tree);
        }
      }
    }
  }

  /**
   * Applies an operation that replay found in the log, and that fits into the write memory.
   *
   * @param lsn of its record
   */
  public void replay(
      TreeHandle tree,
      int kind,
      long lsn,
      byte[] bytes,
      int keyOffset,
      int keyLength,
      int valueOffset,
      int valueLength) {
    gate.admitReplayed(bytes(keyLength, valueLength));
    ActiveTree active = tree.activeTree();
    int overflow = PagePool.NONE;
    if (!active.fitsInline(keyLength, valueLength)) {
      overflow = overflow(active, bytes, valueOffset, valueLength);
    }
    long hash = KeyHash.hash(bytes, keyOffset, keyLength);
    for (int attempt = 1;
        !replayed(
            tree, kind, lsn, hash, bytes, keyOffset, keyLength, valueOffset, valueLength, overflow);
        attempt++) {
      awaitPage(attempt);
    }
    if (full(tree, active)) {
      // Later operations of this record have the same LSN and may go into the next one.
      tree.seal(active, () -> lsn);
      onSealed.accept(tree);
    }
    logWatch.written(lsn);
  }

  /** Waits, for a write that has begun, until a page may have come free. */
  private void awaitPage(int attempt) {
    gate.awaitRelief(pool.pageSize(), false);
    // It holds up those behind it, the flushes of what it has written among them.
    lend(attempt);
  }

  private void lend(int attempt) {
    if (attempt >= ATTEMPTS && attempt % MORE_ATTEMPTS == 0) {
      pool.lendSlab();
    }
  }

  /** Applies an operation that replay found, unless there is no page for it now. */
  private boolean replayed(
      TreeHandle tree,
      int kind,
      long lsn,
      long hash,
      byte[] bytes,
      int keyOffset,
      int keyLength,
      int valueOffset,
      int valueLength,
      int overflow) {
    Lock applying = engine.log().applying();
    applying.lock();
    try {
      put(
          tree,
          kind,
          lsn,
          hash,
          bytes,
          keyOffset,
          keyLength,
          bytes,
          valueOffset,
          valueLength,
          overflow);
      return true;
    } catch (OutOfBudgetException e) {
      return false;
    } finally {
      applying.unlock();
    }
  }

  private int overflow(ActiveTree active, byte[] value, int offset, int length) {
    for (int attempt = 1; ; attempt++) {
      try {
        return active.writeOverflow(value, offset, length);
      } catch (OutOfBudgetException e) {
        gate.awaitRelief(length, true);
        lend(attempt);
      }
    }
  }

  private void apply(
      TreeHandle tree,
      int kind,
      long lsn,
      long hash,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength,
      int overflow) {
    for (int attempt = 1; ; attempt++) {
      try {
        put(
            tree,
            kind,
            lsn,
            hash,
            key,
            keyOffset,
            keyLength,
            value,
            valueOffset,
            valueLength,
            overflow);
        return;
      } catch (OutOfBudgetException e) {
        // The gate lets nobody in whose write does not fit; a flush is under way.
        awaitPage(attempt);
      }
    }
  }

  private void put(
      TreeHandle tree,
      int kind,
      long lsn,
      long hash,
      byte[] key,
      int keyOffset,
      int keyLength,
      byte[] value,
      int valueOffset,
      int valueLength,
      int overflow) {
    // No epoch is needed: a tree is not given up before all its writes are visible. And within one
    // the pages that an insert waits for would never come free.
    ActiveTree target = tree.states().current().target(lsn);
    if (overflow == PagePool.NONE) {
      target.put(
          key, keyOffset, keyLength, hash, kind, lsn, value, valueOffset, valueLength, snapshots);
    } else {
      target.putOverflow(key, keyOffset, keyLength, hash, lsn, overflow, valueLength, snapshots);
    }
    tree.addBytesWritten(bytes(keyLength, valueLength));
  }

  /** Applies the operations of one batch. */
  private final class Applier implements BatchFormat.Handler {
    private long lsn;
    private int done;
    private int[] overflows = new int[0];
    private int prepared;
    private TreeHandle[] trees = new TreeHandle[4];
    private ActiveTree[] actives = new ActiveTree[4];
    private int treeCount;

    /** Takes what the operation needs in memory, before anything is reserved. */
    void prepare(
        int kind,
        int treeId,
        byte[] bytes,
        int keyOffset,
        int keyLength,
        int valueOffset,
        int valueLength) {
      TreeHandle tree = tree(treeId);
      tree.checkOpen();
      ActiveTree active = tree.activeTree();
      remember(tree, active);
      int overflow = PagePool.NONE;
      if (!active.fitsInline(keyLength, valueLength)) {
        overflow = overflow(active, bytes, valueOffset, valueLength);
      }
      if (overflow != PagePool.NONE || prepared < overflows.length) {
        if (prepared >= overflows.length) {
          int old = overflows.length;
          overflows = Arrays.copyOf(overflows, Math.max(16, prepared * 2));
          Arrays.fill(overflows, old, overflows.length, PagePool.NONE);
        }
        overflows[prepared] = overflow;
      }
      prepared++;
    }

    @Override
    public void operation(
        int kind,
        int treeId,
        byte[] bytes,
        int keyOffset,
        int keyLength,
        int valueOffset,
        int valueLength) {
      int overflow = done < overflows.length ? overflows[done] : PagePool.NONE;
      long hash = KeyHash.hash(bytes, keyOffset, keyLength);
      byte[] value = kind == Kind.DELETE ? NO_VALUE : bytes;
      Committer.this.apply(
          tree(treeId),
          kind,
          lsn,
          hash,
          bytes,
          keyOffset,
          keyLength,
          value,
          kind == Kind.DELETE ? 0 : valueOffset,
          valueLength,
          overflow);
      done++;
    }

    void apply(BatchFormat.Builder batch, long at) {
      lsn = at;
      try {
        BatchFormat.decode(batch.bytes(), 0, batch.length(), this);
      } catch (RuntimeException | Error e) {
        if (done > 0) {
          hideForGood(e);
        }
        throw e;
      }
    }

    /**
     * A part of the batch is in memory and can't be taken out, and its LSN is about to become
     * visible: nobody may read the trees until the store is opened again, and nobody flush them.
     */
    private void hideForGood(Throwable cause) {
      for (int i = 0; i < treeCount; i++) {
        trees[i].refuse(TreeHandle.Refusal.PARTLY_WRITTEN);
      }
      engine.failure().fail(new IllegalStateException("a batch was applied in part", cause));
    }

    /** Frees what was prepared and not used. */
    void freeUnused() {
      for (int i = done; i < Math.min(prepared, overflows.length); i++) {
        if (overflows[i] != PagePool.NONE) {
          actives[0].freeOverflow(overflows[i]);
        }
      }
    }

    void sealFull(Log log) {
      for (int i = 0; i < treeCount; i++) {
        if (full(trees[i], actives[i]) && trees[i].seal(actives[i], log::end)) {
          onSealed.accept(trees[i]);
        }
      }
    }

    private void remember(TreeHandle tree, ActiveTree active) {
      for (int i = 0; i < treeCount; i++) {
        if (trees[i] == tree) {
          return;
        }
      }
      if (treeCount == trees.length) {
        trees = Arrays.copyOf(trees, treeCount * 2);
        actives = Arrays.copyOf(actives, treeCount * 2);
      }
      trees[treeCount] = tree;
      actives[treeCount++] = active;
    }

    private TreeHandle tree(int id) {
      TreeHandle tree = engine.catalog().tree(id);
      if (tree == null) {
        throw new IllegalStateException("there is no tree with number " + id);
      }
      return tree;
    }
  }
}
