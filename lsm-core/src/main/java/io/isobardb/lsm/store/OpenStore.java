package io.isobardb.lsm.store;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionBody;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.io.NewFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.observe.StoreProfile;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * An open store. Once its user has nothing left of it, and of what was taken from it, nobody can
 * close the store any more: it is lost. So nothing below refers to this.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class OpenStore implements Store {
  private final StoreOptions options;
  private final StoreParts parts;
  private final Engine engine;
  private final Operations operations;
  private final LeakWatch leaks;
  private final Transactions transactions;
  private final OpenCursors cursors;
  private final Lifetime lifetime;
  private final BatchWriter batches;
  private final Copies copies;
  private final MergeWaits merges;
  private final OperationTotals totals = new OperationTotals();
  private final RecorderSlot recorders = new RecorderSlot();
  private final RecentStats recent;
  private final Trees trees;

  /** The largest budget so far: what speaks against it was told when it was set. */
  private final AtomicLong largestBudget;

  private final Map<Class<?>, Object> companions = new ConcurrentHashMap<>();

  /**
   * @param open what the parts know as their readers
   */
  private OpenStore(StoreOptions options, StoreParts parts, CursorSet open) {
    this.options = options.withStoredPageSize(parts.pool().pageSize());
    this.parts = parts;
    this.largestBudget = new AtomicLong(options.memoryBudget());
    this.engine = parts.engine();
    this.operations = new Operations(engine.operations(), engine.environment().scheduler());
    this.leaks = new LeakWatch(engine);
    this.transactions = new Transactions(engine, operations, leaks);
    this.cursors = new OpenCursors(engine, operations, leaks, open, recorders);
    this.lifetime = new Lifetime(parts, operations, leaks, transactions, cursors, recorders);
    this.batches = new BatchWriter(engine, parts.committer(), operations, transactions, recorders);
    this.copies = new Copies(parts, operations, lifetime);
    this.merges = new MergeWaits(parts, operations);
    this.recent = new RecentStats(this);
    this.trees = new Trees(this);
    leaks.watch(this, lifetime.origin());
  }

  /** Opens a store in a given world. The store closes it, and so does an open that fails. */
  public static OpenStore open(Environment environment, StoreOptions options) {
    Objects.requireNonNull(environment, "environment");
    Objects.requireNonNull(options, "options");
    try {
      StackRoom.check(); // its class is loaded while there is room for that
      CursorSet cursors = new CursorSet();
      return new OpenStore(options, StoreParts.open(environment, options, cursors), cursors);
    } catch (CorruptionException e) {
      closeQuietly(environment, e);
      throw e.in(environment.storage().path());
    } catch (RuntimeException | Error e) {
      closeQuietly(environment, e);
      throw e;
    } catch (IOException e) {
      closeQuietly(environment, e);
      throw new UncheckedIOException(
          "the store in " + environment.storage().path() + " can't be opened: " + e.getMessage(),
          e);
    }
  }

  private static void closeQuietly(Environment environment, Throwable cause) {
    Storage storage = environment.storage();
    Scheduler scheduler = environment.scheduler();
    try (storage;
        scheduler) {
      // The scheduler is closed first, as its jobs use files, and the storage whatever that throws.
    } catch (IOException | RuntimeException | Error e) {
      cause.addSuppressed(e);
    }
  }

  /**
   * Has the store closed when it is lost, and if its options say so when the JVM ends. If that
   * fails, as for want of a thread, the store is closed: its user never gets it.
   *
   * @throws IllegalStateException if the JVM is ending
   */
  void closeIfLost() {
    try {
      lifetime.watch(this, options.closeOnExit());
    } catch (RuntimeException | Error e) {
      closeUnused(e);
      throw e;
    }
  }

  private void closeUnused(Throwable cause) {
    try {
      close();
    } catch (RuntimeException | Error e) {
      cause.addSuppressed(e);
    }
  }

  // ---- what it consists of

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

  BatchWriter batches() {
    return batches;
  }

  MergeWaits merges() {
    return merges;
  }

  OperationTotals totals() {
    return totals;
  }

  RecorderSlot recorders() {
    return recorders;
  }

  LeakWatch leaks() {
    return leaks;
  }

  @Override
  public StoreOptions options() {
    return options;
  }

  /** The page size that is stored. */
  int pageSize() {
    return parts.pool().pageSize();
  }

  /** The memory budget as it is now, in bytes. */
  public long memoryBudget() {
    return parts.wall().budgetBytes();
  }

  /** The longest value that a write may have, in bytes. */
  public int maxValueBytes() {
    return engine.gate().maxValueBytes();
  }

  private void refuseInListener(String call) {
    parts.observers().refuseWhileTelling(call);
  }

  // ---- heap

  /** Logs a warning if the heap is too small for what the store has. */
  void warnOfHeap() {
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
  void warnOfHeap(int count) {
    MemoryLimits limits = MemoryLimits.ofProcess();
    MemoryLimits.OnHeap before = new MemoryLimits.OnHeap(count - 1, 0, 0);
    if (limits.checkHeap(lifetime.name(), before) == null) {
      log(limits.checkHeap(lifetime.name(), new MemoryLimits.OnHeap(count, 0, 0)));
    }
  }

  private static void log(@Nullable String warning) {
    if (warning != null) {
      SystemLog.tell(Level.WARNING, MemoryLimits.class, warning, null);
    }
  }

  // ---- trees

  @Override
  public List<String> treeNames() {
    return trees.names();
  }

  @Override
  public Tree tree(String name) {
    return trees.get(Objects.requireNonNull(name, "name"));
  }

  @Override
  public Tree openTree(String name, TreeOptions treeOptions) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(treeOptions, "treeOptions");
    StackRoom.check();
    OpenTree tree = trees.open(name, treeOptions);
    treeOptions.checkStored(name, tree.options());
    return tree.with(treeOptions);
  }

  @Override
  public Tree createTree(String name, TreeOptions treeOptions) {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(treeOptions, "treeOptions");
    StackRoom.check();
    return trees.create(name, treeOptions);
  }

  @Override
  public void dropTree(String name) {
    StackRoom.check();
    trees.drop(Objects.requireNonNull(name, "name"));
  }

  @Override
  public void renameTree(String name, String newName) {
    StackRoom.check();
    trees.rename(Objects.requireNonNull(name, "name"), Objects.requireNonNull(newName, "newName"));
  }

  // ---- writing

  @Override
  public WriteBatch newBatch() {
    return new EncodedBatch(this);
  }

  @Override
  public void write(WriteBatch batch, Durability durability) {
    Objects.requireNonNull(batch, "batch");
    Objects.requireNonNull(durability, "durability");
    if (!(batch instanceof EncodedBatch encoded) || !encoded.isOf(this)) {
      throw new IllegalArgumentException("the batch belongs to another store");
    }
    encoded.write(durability == Durability.SYNC);
  }

  @Override
  public BulkLoad bulkLoad(Tree... loaded) {
    return SortedLoad.begin(this, Objects.requireNonNull(loaded, "trees"));
  }

  @Override
  public void sync() {
    refuseInListener("Store.sync");
    int slot = operations.enter();
    try {
      engine.log().flush();
    } catch (StoreFailedException e) {
      throw telling(e);
    } finally {
      operations.exit(slot);
    }
  }

  @Override
  public void flush() {
    refuseInListener("Store.flush");
    int slot = operations.enter();
    try {
      for (TreeHandle tree : engine.catalog().trees()) {
        parts.checkpointer().flush(tree);
      }
      engine.catalog().settle();
    } catch (IOException e) {
      throw telling(Operations.failed("a flush", e));
    } finally {
      operations.exit(slot);
    }
  }

  @Override
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

  /** The same exception, now that a caller hears of it. */
  private IsobarException telling(IsobarException e) {
    if (engine.failure().cause() != null) {
      engine.failure().markTold();
    }
    return e;
  }

  // ---- transactions and snapshots

  @Override
  public Transaction begin(TransactionOptions transactionOptions) {
    Objects.requireNonNull(transactionOptions, "transactionOptions");
    return new BufferedTransaction(this, transactionOptions, Long.MAX_VALUE);
  }

  @Override
  public <T extends @Nullable Object, X extends Exception> T inTransaction(
      TransactionOptions transactionOptions, TransactionBody<T, X> body) throws X {
    Objects.requireNonNull(transactionOptions, "transactionOptions");
    Objects.requireNonNull(body, "body");
    long begun = engine.nanos();
    long most = transactionOptions.retryTimeout().toNanos();
    for (int attempt = 1; ; attempt++) {
      long left = Math.max(0, most - (engine.nanos() - begun));
      BufferedTransaction transaction = new BufferedTransaction(this, transactionOptions, left);
      try (transaction) {
        transaction.enclose();
        T result = body.run(transaction);
        transaction.checkNotAborted();
        if (transaction.isOpen()) {
          transaction.commit();
        }
        return result;
      } catch (TransactionAbortedException e) {
        boolean last = attempt >= transactionOptions.maxAttempts();
        if (transaction.isCommitted() || last || engine.nanos() - begun >= most) {
          throw e;
        }
      }
      transactions.pause(attempt, new WaitLimit());
    }
  }

  @Override
  public Snapshot snapshot() {
    return RegisteredSnapshot.take(this);
  }

  @Override
  public <T> T companion(Class<T> type, Supplier<T> make) {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(make, "make");
    StackRoom.check();
    operations.checkOpen();
    T companion = type.cast(companions.computeIfAbsent(type, of -> make.get()));
    if (companion == null) {
      throw new IllegalArgumentException(
          "make gave null, and not the " + type.getName() + " that goes with the store");
    }
    return companion;
  }

  // ---- copies

  @Override
  public void checkpointTo(Path directory) {
    Objects.requireNonNull(directory, "directory");
    StackRoom.check();
    operations.checkOpen();
    try {
      NewDirectory.fill(directory, options.fileAccess(), copies::checkpointTo);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the checkpoint can't be made in " + directory + ": " + e.getMessage(), e);
    }
  }

  /** As {@link #checkpointTo(Path)}, to an empty directory that nobody else uses. */
  public void checkpointTo(Storage target) throws IOException {
    copies.checkpointTo(target);
  }

  /**
   * Backs the store up; see {@link io.isobardb.lsm.Backups#create}.
   *
   * @param bytesPerSecond how much may be read and copied; {@link Long#MAX_VALUE} for all that can
   */
  public BackupDirectory.Entry backup(BackupDirectory backups, long bytesPerSecond)
      throws IOException {
    StackRoom.check();
    return copies.backup(backups, bytesPerSecond);
  }

  // ---- memory, figures, and its end

  @Override
  public void setMemoryBudget(long bytes) {
    refuseInListener("Store.setMemoryBudget");
    int slot = operations.enter();
    try {
      MemoryLimits.checkProcess(bytes, largestBudget.get());
      largestBudget.accumulateAndGet(bytes, Math::max);
      parts.wall().setBudget(bytes);
    } finally {
      operations.exit(slot);
    }
  }

  @Override
  public StoreStats metrics() {
    return recent.stats();
  }

  RecentStats recent() {
    return recent;
  }

  @Override
  public String path() {
    return engine.environment().storage().path();
  }

  @Override
  public ObjectName registerMXBean() {
    refuseInListener("Store.registerMXBean");
    return lifetime.register(this);
  }

  @Override
  public Recording startRecording(Path file, RecordingOptions recordingOptions) {
    Objects.requireNonNull(file, "file");
    Objects.requireNonNull(recordingOptions, "recordingOptions");
    int slot = operations.enter();
    try {
      return recorders.begin(
          parts, totals, recordingOptions, () -> NewFile.create(file, options.fileAccess()));
    } catch (IOException e) {
      throw new UncheckedIOException("the recording can't begin: " + e.getMessage(), e);
    } finally {
      operations.exit(slot);
    }
  }

  @Override
  public void addListener(StoreListener listener) {
    operations.checkOpen();
    parts.observers().add(Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public void removeListener(StoreListener listener) {
    parts.observers().remove(Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public StoreStats stats() {
    return stats(all -> all);
  }

  @Override
  public StoreProfile profile() {
    int slot = operations.enter();
    try {
      return ProfileCollector.collect(engine);
    } finally {
      operations.exit(slot);
    }
  }

  /**
   * As {@link #stats()}.
   *
   * @param times makes of all times of calls those that are told
   */
  StoreStats stats(UnaryOperator<StoreStats.Latencies> times) {
    int slot = operations.enter();
    try {
      return StatsCollector.collect(
          parts,
          transactions,
          new StatsCollector.Handles(
              totals, batches.count(), lifetime.snapshots().get(), cursors.count()),
          times.apply(engine.latencies().stats()));
    } finally {
      operations.exit(slot);
    }
  }

  /** What users have not closed, with where it was taken, as far as that is remembered. */
  public List<String> openHandles() {
    return leaks.texts();
  }

  @Override
  public @Nullable Throwable failure() {
    return engine.failure().cause();
  }

  @Override
  public void awaitQuiet() {
    merges.awaitQuiet();
  }

  @Override
  public void close() {
    refuseInListener("Store.close");
    operations.refuseWhileLooking("Store.close");
    cursors.checkNotReading(null, "Store.close");
    lifetime.close();
  }
}
