package io.isobardb.lsm.handle;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.merge.MergeDown;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.recovery.StoreCopy;
import io.isobardb.lsm.recovery.StoreImage;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.memory.pool.SlotCounters;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An open store, as whatever users take from it knows it. Once none of that is left, nobody can
 * close the store any more: it is lost. So nothing below refers to the session.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Session {
  /** The longest value of all, in bytes. */
  public static final int MAX_VALUE = 1 << 30;

  private static final long MOST_PAUSE_NANOS = 100_000_000;

  private final StoreParts parts;
  private final Engine engine;
  private final Committer committer;
  private final boolean syncByDefault;
  private final Operations operations;
  private final LeakWatch leaks;
  private final Transactions transactions;
  private final OpenCursors cursors;
  private final Lifetime lifetime;
  private final SlotCounters batches;
  private final OperationTotals totals = new OperationTotals();
  private final Beans beans;

  /**
   * @param open what the parts know as their readers
   * @param syncByDefault whether writes that do not say are synced
   */
  public Session(StoreParts parts, CursorSet open, boolean syncByDefault) {
    this.parts = parts;
    this.engine = parts.engine();
    this.committer = parts.committer();
    this.syncByDefault = syncByDefault;
    this.operations = new Operations(engine.operations(), engine.environment().scheduler());
    this.leaks = new LeakWatch(engine);
    this.transactions = new Transactions(engine, operations, leaks);
    this.cursors = new OpenCursors(engine, operations, leaks, open);
    this.lifetime = new Lifetime(parts, operations, leaks, transactions, cursors);
    this.beans = new Beans(this);
    this.batches = new SlotCounters(engine.operations(), 1);
  }

  public StoreParts parts() {
    return parts;
  }

  public Engine engine() {
    return engine;
  }

  public Operations operations() {
    return operations;
  }

  public Transactions transactions() {
    return transactions;
  }

  public OpenCursors cursors() {
    return cursors;
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** Logs a warning if the heap is too small for what the store has. */
  public void warnOfHeap() {
    log(heapWarning(MemoryLimits.ofProcess()));
  }

  /** What may go wrong with such a heap, or null. */
  @Nullable String heapWarning(MemoryLimits limits) {
    int slot = operations.enter();
    try {
      return limits.checkHeap(lifetime.name(), StatsCollector.onHeap(engine));
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@link #warnOfHeap()}, if this is the first tree that is too many. */
  void warnOfHeap(int trees) {
    MemoryLimits limits = MemoryLimits.ofProcess();
    MemoryLimits.OnHeap before = new MemoryLimits.OnHeap(trees - 1, 0, 0);
    if (limits.checkHeap(lifetime.name(), before) == null) {
      log(limits.checkHeap(lifetime.name(), new MemoryLimits.OnHeap(trees, 0, 0)));
    }
  }

  private static void log(@Nullable String warning) {
    if (warning != null) {
      System.getLogger(MemoryLimits.class.getName()).log(Level.WARNING, warning);
    }
  }

  /** Whether writes that do not say are synced. */
  public boolean syncByDefault() {
    return syncByDefault;
  }

  /** The ID that all of the store's files carry. */
  public UUID storeId() {
    TableSpace space = engine.catalog().space();
    return new UUID(space.storeIdHigh(), space.storeIdLow());
  }

  /** The page size that is stored. */
  public int pageSize() {
    return parts.pool().pageSize();
  }

  /** The memory budget as it is now, in bytes. */
  public long memoryBudget() {
    return parts.wall().budgetBytes();
  }

  /** The longest value that a write may have, in bytes. */
  public int maxValueBytes() {
    return (int) Math.min(engine.gate().grantBytes() / 4, MAX_VALUE);
  }

  /** Tells of the store if it is lost without being closed, if anybody has asked for that. */
  public void tellIfLost() {
    leaks.watch(this, lifetime.origin());
  }

  /**
   * Has the store closed when it is lost, and if asked for when the JVM ends.
   *
   * @throws IllegalStateException if the JVM is ending; the store is closed then
   */
  public void closeIfLost(boolean closeOnExit) {
    try {
      lifetime.watch(this, closeOnExit);
    } catch (IllegalStateException e) {
      close();
      throw e;
    }
  }

  // ---- writing

  /**
   * Writes a batch to these trees, once there is room, and its keys are locked against
   * transactions, if there are any.
   */
  public void write(
      BatchFormat.Builder added, Collection<TreeHandle> trees, boolean logged, boolean sync) {
    BatchFormat.Builder batch;
    long begun;
    int slot = operations.enter();
    try {
      checkOpen(trees);
      batch = added.resolved(this::order);
      operations.count(slot, batch.count());
      begun = engine.latencies().begin(batches.add(slot, 0, 1));
      committer.admit(batch);
      if (!transactions.inUse()) {
        awaitSync(committer.write(batch, logged, slot), sync);
        engine.latencies().wroteBatch(begun);
        return;
      }
    } finally {
      operations.exit(slot);
    }
    writeLocked(batch, trees, logged, sync);
    engine.latencies().wroteBatch(begun);
  }

  /** As {@link #write}, of what there was room for, beside transactions. */
  private void writeLocked(
      BatchFormat.Builder batch, Collection<TreeHandle> trees, boolean logged, boolean sync) {
    LockOwner locked = transactions.newWriter();
    try {
      transactions.lockWithRoom(
          locked,
          () -> transactions.lock(locked, batch),
          () -> hasRoom(batch),
          () -> awaitRoom(batch));
      int slot = operations.enter();
      try {
        checkOpen(trees);
        long written = committer.write(batch, logged, slot);
        transactions.locks().releaseAll(locked);
        awaitSync(written, sync);
      } finally {
        operations.exit(slot);
      }
    } finally {
      transactions.locks().releaseAll(locked);
    }
  }

  private void awaitSync(long written, boolean sync) {
    if (sync) {
      committer.awaitDurable(written);
    }
  }

  private KeyOrder order(int treeId) {
    TreeHandle tree = engine.catalog().tree(treeId);
    if (tree == null) {
      throw new IllegalStateException("there is no tree with number " + treeId);
    }
    return tree.order();
  }

  /** Within an operation: what is open then stays until the operation ends. */
  private static void checkOpen(Collection<TreeHandle> trees) {
    for (TreeHandle tree : trees) {
      tree.checkOpen();
    }
  }

  /** Waits for room for what is going to be written. */
  public void awaitRoom(BatchFormat.Builder batch) {
    int slot = operations.enter();
    try {
      committer.admit(batch);
    } finally {
      operations.exit(slot);
    }
  }

  /** Whether there still is room for that. */
  public boolean hasRoom(BatchFormat.Builder batch) {
    return committer.admits(batch);
  }

  /**
   * Carries a transaction's commit out; gives what to hand to {@link #awaitDurable}.
   *
   * @param trees those that {@code batch} writes to
   */
  public long commit(BatchFormat.Builder batch, Collection<TreeHandle> trees, boolean logged) {
    int slot = operations.enter();
    try {
      checkOpen(trees);
      operations.count(slot, batch.count());
      return committer.write(batch, logged, slot);
    } finally {
      operations.exit(slot);
    }
  }

  /** Waits until what {@link #commit} has written survives a failure of the machine. */
  public void awaitDurable(long written) {
    int slot = operations.enter();
    try {
      committer.awaitDurable(written);
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@code Store.bulkLoad}. */
  public BulkLoader bulkLoad(Collection<TreeHandle> trees) {
    refuseInListener("Store.bulkLoad");
    int slot = operations.enter();
    try {
      checkOpen(trees);
      return BulkLoader.begin(parts, operations, transactions, lifetime, trees);
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@code Store.sync}. */
  public void sync() {
    refuseInListener("Store.sync");
    int slot = operations.enter();
    try {
      engine.log().get().flush();
    } catch (StoreFailedException e) {
      throw telling(e);
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@code Store.flush}. */
  public void flush() {
    refuseInListener("Store.flush");
    int slot = operations.enter();
    try {
      for (TreeHandle tree : engine.catalog().trees()) {
        parts.checkpointer().flush(tree);
      }
    } finally {
      operations.exit(slot);
    }
  }

  /** As {@code Store.checkpoint}. */
  public void checkpoint() {
    refuseInListener("Store.checkpoint");
    int slot = operations.enter();
    try {
      parts.checkpointer().checkpoint();
    } catch (StoreFailedException e) {
      throw telling(e);
    } catch (IOException e) {
      throw telling(Operations.failed("a checkpoint", e));
    } finally {
      operations.exit(slot);
    }
  }

  /**
   * As {@code Store.checkpointTo}.
   *
   * @param target an empty directory, which nobody else uses
   */
  public void checkpointTo(Storage target) throws IOException {
    try (StoreCopy copy = new StoreCopy(target, storeId(), pageSize())) {
      try {
        withImage(
            copy::writeMemory,
            image -> copy.copy(image, copied(), bytes -> operations.checkOpen()));
      } catch (IOException | RuntimeException | Error e) {
        copy.discard(e);
        throw e;
      }
    }
  }

  /** Does something with an image of the store. */
  @FunctionalInterface
  public interface ImageUse {
    void use(StoreImage image) throws IOException;
  }

  /**
   * Takes an image of the store, and has it used.
   *
   * @param first uses it first, within an operation; writes its memory
   * @param then goes on; ends soon after the store refuses operations
   */
  public void withImage(ImageUse first, ImageUse then) throws IOException {
    refuseInListener("a copy of the store");
    StoreImage taken;
    int slot;
    // No tree is created meanwhile: a batch that writes to it could be in the image in part. Who
    // drops one holds this lock and waits for operations, so it is taken before one begins.
    lifetime.lock().lock();
    try {
      slot = operations.enter();
      try {
        taken = new StoreImage(engine);
        lifetime.images().incrementAndGet();
      } catch (RuntimeException | Error e) {
        operations.exit(slot);
        throw e;
      }
    } finally {
      lifetime.lock().unlock();
    }
    try (StoreImage image = taken) {
      try {
        first.use(image);
      } finally {
        operations.exit(slot);
      }
      then.use(image);
    } finally {
      lifetime.images().decrementAndGet();
      operations.copyEnded();
    }
  }

  /**
   * As {@code Backups.create}.
   *
   * @param bytesPerSecond how much may be read and copied; {@link Long#MAX_VALUE} for all that can
   * @throws IllegalArgumentException if the backups would lie within the store
   */
  public BackupDirectory.Entry backup(BackupDirectory backups, long bytesPerSecond)
      throws IOException {
    if (backups.liesWithin(engine.environment().storage().path())) {
      throw new IllegalArgumentException(
          "backups in "
              + backups.path()
              + " would lie within the store, and be lost with it; give a directory elsewhere");
    }
    BackupDirectory.Entry[] made = new BackupDirectory.Entry[1];
    BackupDirectory.Draft draft = backups.begin(pageSize());
    try {
      withImage(
          draft::writeMemory,
          image -> {
            long now = engine.environment().clock().wallMillis();
            made[0] = draft.finish(image, copied(), now, pace(bytesPerSecond));
          });
    } catch (IOException | RuntimeException | Error e) {
      try {
        draft.close();
      } catch (IOException | RuntimeException more) {
        e.addSuppressed(more);
      }
      throw e;
    }
    draft.close();
    return Objects.requireNonNull(made[0]);
  }

  /** The store's directory, for who copies it. */
  private Storage copied() {
    return parts.storage().countedFor(IoPurpose.COPY);
  }

  private StoreCopy.Pace pace(long bytesPerSecond) {
    Signal turn = engine.environment().scheduler().signal(Awaited.PAUSE);
    long begun = engine.nanos();
    long[] copied = {0};
    return bytes -> {
      operations.checkOpen();
      copied[0] += bytes;
      if (bytesPerSecond < Long.MAX_VALUE) {
        long due = begun + (long) (copied[0] * 1e9 / bytesPerSecond);
        while (due > engine.nanos() && !operations.isClosed()) {
          turn.await(operations::isClosed, Math.min(due - engine.nanos(), MOST_PAUSE_NANOS));
        }
      }
    };
  }

  /** The same exception, now that a caller hears of it. */
  private IsobarException telling(IsobarException e) {
    if (engine.failure().cause() != null) {
      engine.failure().markTold();
    }
    return e;
  }

  /** As {@code Store.setMemoryBudget}. */
  public void setMemoryBudget(long bytes) {
    refuseInListener("Store.setMemoryBudget");
    int slot = operations.enter();
    try {
      MemoryLimits.checkProcess(bytes);
      parts.wall().setBudget(bytes);
    } finally {
      operations.exit(slot);
    }
  }

  // ---- snapshots

  /** A snapshot is being taken; gives where, if that is remembered. */
  public LeakWatch.@Nullable Origin snapshotTaken() {
    lifetime.snapshots().incrementAndGet();
    return leaks.taken("a snapshot", "");
  }

  /** Tells of a snapshot if it is lost without being closed, if anybody has asked for that. */
  public void tellIfSnapshotIsLost(Object snapshot, LeakWatch.@Nullable Origin origin) {
    leaks.watch(snapshot, origin);
  }

  /** Ends a snapshot. */
  public void snapshotClosed(long lsn, LeakWatch.@Nullable Origin origin) {
    engine.snapshots().releaseAfterReads(lsn);
    lifetime.snapshots().decrementAndGet();
    leaks.closed(origin);
  }

  // ---- what it tells, and its end

  /** What the store has done and what it holds. */
  public StoreStats stats() {
    int slot = operations.enter();
    try {
      return StatsCollector.collect(
          parts,
          transactions,
          new StatsCollector.Handles(
              totals, batches.sum(0), lifetime.snapshots().get(), cursors.count()));
    } finally {
      operations.exit(slot);
    }
  }

  /** What users have not closed, with where it was taken, as far as that is remembered. */
  public List<String> openHandles() {
    return leaks.texts();
  }

  OperationTotals totals() {
    return totals;
  }

  /** What monitoring is told. */
  public Beans beans() {
    return beans;
  }

  /** As {@code Store.registerMXBean}. The store can't be lost from then on. */
  public ObjectName registerMXBean() {
    refuseInListener("Store.registerMXBean");
    return lifetime.register(beans);
  }

  /** As {@code Store.awaitQuiet}. */
  public void awaitQuiet() {
    refuseInListener("Store.awaitQuiet");
    operations.checkOpen();
    parts.awaitMerges(this::awaitAllQuiet);
  }

  /** As {@code Tree.compact}. */
  public void compact(TreeHandle tree, byte @Nullable [] from, byte @Nullable [] to) {
    refuseInListener("Tree.compact");
    MergeDown wish;
    int slot = operations.enter(tree);
    try {
      if (RangeDelete.isEmpty(tree.order(), from, to)) {
        return;
      }
      wish =
          new MergeDown(
              from,
              to,
              engine.log().end(),
              engine.catalog().newFileNumber(),
              engine.expiredBy(tree));
      parts.checkpointer().flush(tree);
    } finally {
      operations.exit(slot);
    }
    Merger merger = parts.merger();
    merger.add(tree, wish);
    try {
      BooleanSupplier done = () -> wish.isDone(tree.states().current().version());
      BooleanSupplier ended =
          () ->
              operations.isClosed()
                  || tree.closed()
                  || engine.space().isFull()
                  || engine.failure().cause() != null;
      parts.awaitMerges(
          () -> operations.awaitJobEnd(() -> done.getAsBoolean() || ended.getAsBoolean()));
      if (!done.getAsBoolean()) {
        tree.checkOpen();
        operations.checkOpen();
        engine.failure().check();
        engine.space().check();
      }
    } finally {
      merger.forget(tree, wish);
    }
  }

  private void refuseInListener(String call) {
    parts.observers().refuseWhileTelling(call);
  }

  private void awaitAllQuiet() {
    awaitBackground();
    int slot = operations.enter();
    try {
      if (!engine.environment().storage().discardsChanges()) {
        // Of what has expired in memory, a merge there would leave the delete markers.
        engine.catalog().trees().stream()
            .filter(TreeHandle::expires)
            .forEach(parts.flusher()::flushAll);
      }
    } finally {
      operations.exit(slot);
    }
    awaitBackground();
    slot = operations.enter();
    try {
      for (TreeHandle tree : engine.catalog().trees()) {
        parts.merger().requestExpired(tree);
        parts.merger().requestIdle(tree);
      }
    } finally {
      operations.exit(slot);
    }
    awaitBackground();
  }

  private void awaitBackground() {
    operations.awaitJobs(() -> operations.isClosed() || engine.failure().cause() != null);
  }

  /** As {@code Store.close}. */
  public void close() {
    refuseInListener("Store.close");
    lifetime.close();
  }
}
