package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.error.ConflictException;
import io.isobardb.lsm.error.DeadlockException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.VersionReader;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.SignalLock;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeySpan;
import io.isobardb.lsm.transaction.LoadedRange;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.lsm.transaction.LockTable;
import io.isobardb.lsm.transaction.ReadSet;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/**
 * The transactions of a store.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Transactions {
  /** How long one may be open without anybody being told. */
  static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** How long a plain write or batch waits for locks, all waits together. */
  private static final long PLAIN_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Says of a lock that it does not matter what others did before. */
  public static final long ANY_TIME = -1;

  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

  private final Engine engine;
  private final Operations operations;
  private final LeakWatch leaks;
  private final LockTable locks;
  private final VersionReader versions;
  private final Set<LockOwner> open = ConcurrentHashMap.newKeySet();
  private final Set<LockOwner> reported = ConcurrentHashMap.newKeySet();

  /** Where they were begun, if that is remembered. */
  private final Map<LockOwner, LeakWatch.Origin> origins = new ConcurrentHashMap<>();

  private final LongTransactionWatch watch;
  private final LongAdder commits = new LongAdder();
  private final LongAdder rollbacks = new LongAdder();
  private final LongAdder conflicts = new LongAdder();
  private final LongAdder deadlocks = new LongAdder();
  private final LongAdder lockTimeouts = new LongAdder();

  /** Attempts of a plain write that closed a circle of locks. */
  private static final int MOST_ATTEMPTS = 100;

  /** A range of keys of a tree. */
  private record RecordRange(TreeHandle tree, RangeDelete range) {}

  /** A key of a tree. */
  private record RecordKey(TreeHandle tree, byte[] bytes) {
    static final Comparator<RecordKey> ORDER =
        Comparator.comparingInt((RecordKey key) -> key.tree.id())
            .thenComparing(
                (a, b) ->
                    a.tree.order().compare(a.bytes, 0, a.bytes.length, b.bytes, 0, b.bytes.length));
  }

  /** What a bulk load is committing now. */
  private volatile List<LoadedRange> loading = List.of();

  /** What bulk loads have committed since the oldest open transaction began. */
  private volatile List<LoadedRange> loaded = List.of();

  /** Held by the thread that has plain writes lock their keys. */
  private final SignalLock starting;

  /** Whether plain writes lock their keys: from the first transaction on. */
  private volatile boolean inUse;

  /** Whether all plain writes under way do that. */
  private volatile boolean started;

  Transactions(Engine engine, Operations operations, LeakWatch leaks) {
    this.engine = engine;
    this.operations = operations;
    this.leaks = leaks;
    this.locks = new LockTable(engine.environment());
    this.versions = new VersionReader(engine);
    this.starting = new SignalLock(engine.environment().scheduler(), Awaited.FIRST_TRANSACTION);
    this.watch = new LongTransactionWatch(engine, this);
  }

  public LockTable locks() {
    return locks;
  }

  public VersionReader versions() {
    return versions;
  }

  public boolean inUse() {
    return inUse;
  }

  /**
   * Begins a transaction.
   *
   * @param waitNanos how long it may wait for locks, all waits together
   * @return the holder of its locks
   */
  public LockOwner begin(long waitNanos) {
    operations.checkOpen();
    lockPlainWrites();
    watch.start();
    LockOwner transaction = locks.newOwner(waitNanos, false);
    LeakWatch.Origin origin = leaks.taken("a transaction", "");
    if (origin != null) {
      origins.put(transaction, origin);
    }
    open.add(transaction);
    watch.onBegun();
    return transaction;
  }

  /**
   * Has plain writes lock their keys from now on. The first call waits for the writes under way, so
   * the caller must not be within an operation.
   *
   * @throws IllegalStateException if a listener calls: a write may wait for it
   */
  public void lockPlainWrites() {
    lockPlainWrites(new WaitLimit());
  }

  /**
   * As {@link #lockPlainWrites()}, but waits no longer than {@code limit} says.
   *
   * @return false if that is not long enough
   */
  boolean lockPlainWrites(WaitLimit limit) {
    engine.observers().refuseWhileTelling("a transaction or a conditional write");
    return started || start(limit);
  }

  private boolean start(WaitLimit limit) {
    operations.refuseWhileLooking("the first transaction or conditional write");
    if (limit.isForever()) {
      starting.lock();
    } else if (!starting.tryLock(leftNanos(limit))) {
      return false;
    }
    try {
      if (!started) {
        inUse = true;
        // Writes under way may have locked nothing.
        started = awaitBegun(limit);
      }
      return started;
    } finally {
      starting.unlock();
    }
  }

  private boolean awaitBegun(WaitLimit limit) {
    if (limit.isForever()) {
      operations.awaitBegun();
      return true;
    }
    return operations.awaitBegun(() -> true, Math.max(1, leftNanos(limit)));
  }

  private long leftNanos(WaitLimit limit) {
    return limit.leftNanos(engine.environment().clock());
  }

  /**
   * A bulk load is about to commit. It is to wait for the operations that have begun; later ones
   * ask {@link #checkLoads} or {@link #isLoading}. One load at a time.
   *
   * @param ranges whose order is {@link LockTable#nextId}'s
   */
  void beginLoad(List<LoadedRange> ranges) {
    loading = List.copyOf(ranges);
  }

  /** The bulk load has ended. */
  void endLoad(boolean committed) {
    if (committed) {
      List<LoadedRange> all = new ArrayList<>(loading);
      long oldest = open.stream().mapToLong(LockOwner::id).min().orElse(Long.MAX_VALUE);
      loaded.stream().filter(range -> range.order() > oldest).forEach(all::add);
      loaded = List.copyOf(all);
    }
    loading = List.of();
    operations.onCopyEnded();
  }

  /**
   * Passes if no bulk load has changed, or is about to change, what a transaction has locked, nor
   * is about to change what it has read. What was changed of that is found by its LSNs. Within an
   * operation, from before this until the transaction is written.
   *
   * @throws ConflictException if any has, or is
   */
  void checkLoads(LockOwner owner, ReadSet reads) {
    for (LoadedRange range : loading) {
      owner.checkBeside(range);
      reads.checkBeside(range);
    }
    for (LoadedRange range : loaded) {
      if (range.order() > owner.id()) {
        owner.checkBeside(range);
      }
    }
  }

  /** Whether a bulk load is about to change a key, maybe. */
  boolean isLoading(TreeHandle tree, byte[] key) {
    return loading.stream().anyMatch(range -> range.holds(tree, key));
  }

  /**
   * Waits until no bulk load is committing. Outside of operations: the load waits for them.
   *
   * @return whether it has ended within the limit
   */
  boolean awaitLoads(WaitLimit limit) {
    return operations.awaitLoads(
        () -> loading.isEmpty() || operations.isClosed(), limit, engine.environment().clock());
  }

  /**
   * Waits before another attempt, outside of operations: until no bulk load is committing, and then
   * for some tens of microseconds at first, some milliseconds later.
   *
   * @param limit how long it may wait for the load
   */
  void pause(int attempt, WaitLimit limit) {
    awaitLoads(limit);
    long most = PAUSE_NANOS << Math.min(attempt, 8);
    // Those who got in each other's way should not come back at the same time.
    long scattered = (locks.nextId() * 0x9E3779B97F4A7C15L >>> 40) % most;
    engine
        .environment()
        .scheduler()
        .signal(Awaited.PAUSE)
        .await(operations::isClosed, most / 2 + scattered / 2);
  }

  /** A transaction has ended. */
  public void onEnded(LockOwner transaction) {
    open.remove(transaction);
    leaks.onClosed(origins.get(transaction));
    if (!reported.remove(transaction)) {
      reportIfLong(transaction, "was");
    }
    origins.remove(transaction);
  }

  /** How many are open. */
  public int count() {
    return open.size();
  }

  /**
   * Tells of those that have been open for long, once of each. For one thread at a time.
   *
   * @return after how many nanoseconds one of those that are open now will have been
   */
  long reportLong() {
    long next = LONG_NANOS;
    for (LockOwner transaction : open) {
      long left = LONG_NANOS - (engine.nanos() - transaction.startNanos());
      if (left > 0) {
        next = Math.min(next, left);
      } else if (reported.add(transaction)
          // If it has ended, whoever takes the mark away leaves the report to the other.
          && (open.contains(transaction) || !reported.remove(transaction))) {
        reportIfLong(transaction, "has been");
      }
    }
    return next;
  }

  private void reportIfLong(LockOwner transaction, String was) {
    long nanos = engine.nanos() - transaction.startNanos();
    if (nanos < LONG_NANOS) {
      return;
    }
    SystemLog.tell(
        Level.WARNING,
        Transactions.class,
        () ->
            transaction
                + " "
                + was
                + " open for "
                + TimeUnit.NANOSECONDS.toSeconds(nanos)
                + " s: merges keep what it may read, and others wait for its locks",
        origins.get(transaction));
    engine.observers().onLongTransaction(transaction.id(), nanos);
  }

  public boolean lock(LockOwner owner, TreeHandle tree, byte[] key, long timeoutNanos) {
    return locks.lock(owner, tree, key, timeoutNanos);
  }

  /** As {@link #lock}; what others did to the key since an LSN is a conflict. */
  public void lock(LockOwner owner, TreeHandle tree, byte[] key, long since, long timeoutNanos) {
    lockOrNothing(
        owner,
        () -> {
          // Once it is locked nobody else changes it.
          if (locks.lock(owner, tree, key, timeoutNanos)
              && since != ANY_TIME
              && versions.isChanged(tree, key, since)) {
            throw ReadSet.conflict(tree, key);
          }
        });
  }

  /**
   * Runs what takes locks, and looks whether others have changed what they guard. If it throws, the
   * locks are given back: who has one is not asked to look again.
   */
  private void lockOrNothing(LockOwner owner, Runnable lock) {
    int before = owner.lockCount();
    try {
      lock.run();
    } catch (RuntimeException | Error e) {
      locks.releaseFrom(owner, before);
      throw e;
    }
  }

  /** As {@link #lock(LockOwner, TreeHandle, byte[], long, long)}, of all keys of a range. */
  public void lockRange(
      LockOwner owner, TreeHandle tree, RangeDelete range, long since, long timeoutNanos) {
    lockOrNothing(
        owner,
        () -> {
          lockRange(owner, tree, range, timeoutNanos);
          if (since != ANY_TIME) {
            KeySpan keys = KeySpan.of(tree.order(), range.from(), range.to());
            byte[] changed = versions.firstChanged(tree, keys.low(), keys::isBefore, since);
            if (changed != null) {
              throw ReadSet.conflict(tree, changed);
            }
          }
        });
  }

  /**
   * Locks what is to be written, and for which there was room: nobody waits for room with a lock
   * held. So if others have taken the room meanwhile, it gives the locks back and begins again.
   *
   * @param lock takes the locks; if it throws, it has given back what it had
   * @param hasRoom whether there still is room
   * @param awaitRoom waits for it
   */
  public void lockWithRoom(
      LockOwner owner, Runnable lock, BooleanSupplier hasRoom, Runnable awaitRoom) {
    lock.run();
    while (!hasRoom.getAsBoolean()) {
      locks.releaseAll(owner);
      awaitRoom.run();
      lock.run();
    }
  }

  /**
   * The holder of the locks of a plain write; gives its locks back as soon as that is visible. It
   * locks outside of operations: the holder of a key's lock may be waiting for them to end.
   *
   * @param limit how long the write may wait, for locks, too
   */
  LockOwner newWriter(WaitLimit limit) {
    return locks.newOwner(Math.min(PLAIN_TIMEOUT_NANOS, leftNanos(limit)), true);
  }

  /** Locks a key for a plain write. */
  public void lock(LockOwner writer, TreeHandle tree, byte[] key) {
    try {
      locks.lock(writer, tree, key, PLAIN_TIMEOUT_NANOS);
    } catch (TransactionAbortedException e) {
      count(e);
      throw e;
    }
  }

  /**
   * Locks a batch's keys against transactions; in the same order as commits do, so that batches do
   * not close circles among themselves.
   */
  void lock(LockOwner writer, BatchFormat.Builder batch, WaitLimit limit) {
    List<RecordRange> ranges = new ArrayList<>();
    List<RecordKey> keys = keys(batch, ranges);
    keys.sort(RecordKey.ORDER);
    lockPlain(
        writer,
        limit,
        () -> {
          ranges.forEach(range -> lockRange(writer, range));
          keys.forEach(key -> locks.lock(writer, key.tree(), key.bytes(), PLAIN_TIMEOUT_NANOS));
        });
  }

  /** Locks a range for a plain write. */
  void lockRange(LockOwner writer, TreeHandle tree, RangeDelete range, WaitLimit limit) {
    lockPlain(writer, limit, () -> lockRange(writer, new RecordRange(tree, range)));
  }

  /**
   * Takes locks for a plain write. Ranges and several keys may close circles; a write that closes
   * one gives back what it has, and tries again.
   */
  private void lockPlain(LockOwner writer, WaitLimit limit, Runnable lock) {
    for (int attempt = 0; ; attempt++) {
      try {
        lock.run();
        return;
      } catch (DeadlockException e) {
        locks.releaseAll(writer);
        if (attempt == MOST_ATTEMPTS || leftNanos(limit) == 0) {
          count(e);
          throw e;
        }
        pause(attempt, limit);
      } catch (TransactionAbortedException e) {
        locks.releaseAll(writer);
        count(e);
        throw e;
      } catch (RuntimeException | Error e) {
        locks.releaseAll(writer);
        throw e;
      }
    }
  }

  private void lockRange(LockOwner writer, RecordRange one) {
    RangeDelete range = one.range();
    locks.lockRange(writer, one.tree(), range.from(), range.to(), PLAIN_TIMEOUT_NANOS);
  }

  /** Locks a range for a transaction. */
  public void lockRange(LockOwner owner, TreeHandle tree, RangeDelete range, long timeoutNanos) {
    locks.lockRange(owner, tree, range.from(), range.to(), timeoutNanos);
  }

  private List<RecordKey> keys(BatchFormat.Builder batch, List<RecordRange> ranges) {
    List<RecordKey> keys = new ArrayList<>(batch.count());
    BatchFormat.decode(
        batch.bytes(),
        0,
        batch.length(),
        (treeId, write) -> {
          TreeHandle tree = engine.catalog().tree(treeId);
          if (tree != null && write.isRange()) {
            ranges.add(new RecordRange(tree, write.range()));
          } else if (tree != null) {
            int from = write.keyOffset();
            byte[] key = Arrays.copyOfRange(write.key(), from, from + write.keyLength());
            keys.add(new RecordKey(tree, key));
          }
        });
    return keys;
  }

  public void count(TransactionAbortedException e) {
    if (e instanceof ConflictException) {
      conflicts.increment();
    } else if (e instanceof DeadlockException) {
      deadlocks.increment();
    } else {
      lockTimeouts.increment();
    }
  }

  public void countCommit() {
    commits.increment();
  }

  public void countRollback() {
    rollbacks.increment();
  }

  StoreStats.TransactionStats stats() {
    long now = engine.nanos();
    long oldest =
        open.stream()
            .map(LockOwner::startNanos)
            .min(Comparator.naturalOrder())
            .map(start -> now - start)
            .orElse(0L);
    return new StoreStats.TransactionStats(
        open.size(),
        oldest,
        commits.sum(),
        rollbacks.sum(),
        conflicts.sum(),
        deadlocks.sum(),
        lockTimeouts.sum());
  }

  /** Ends all waits for locks. */
  void close() {
    watch.stop();
    locks.close();
  }
}
