package io.isobardb.lsm;

import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.handle.Commit;
import io.isobardb.lsm.handle.OneThread;
import io.isobardb.lsm.handle.Operations;
import io.isobardb.lsm.handle.OwnSnapshots;
import io.isobardb.lsm.handle.Session;
import io.isobardb.lsm.handle.Transactions;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeyRange;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.lsm.transaction.OwnWrites;
import io.isobardb.lsm.transaction.ReadSet;
import io.isobardb.lsm.transaction.WriteSet;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes of one or many trees that take effect together or not at all, and as isolated
 * from others as its {@link Isolation} says.
 *
 * <p>It sees its own writes, which lie on the heap until the commit. Plain writes of others count
 * as transactions of one write each: while a store has transactions they wait for locks, too.
 *
 * <p>After a {@link TransactionAbortedException}, save a {@code LockTimeoutException}, it is rolled
 * back, and can be tried again as a new one: {@link Store#inTransaction} does. After a {@code
 * LockTimeoutException}, {@code LockInterruptedException} or {@code SelfDeadlockException} it
 * stands as before the call, unless that was the commit.
 *
 * <p>Keep it short: while it is open, merges keep the versions it may read. One that was open for
 * longer than half a minute is told of in the log and to listeners.
 *
 * <p>Thread rule: one thread at a time, its cursors included; which one may change. A call that
 * finds another thread in the transaction throws {@link IllegalStateException} and changes nothing,
 * {@link #close} included. A thread that asks, outside of the transaction, for a lock that the
 * transaction holds gets {@code SelfDeadlockException} if it was the last to use the transaction:
 * at once within {@link Store#inTransaction}, else after 50 ms in which no other thread used it.
 *
 * <p>Errors: {@link IllegalStateException} if it has ended, or is in use by another thread; and
 * those of {@link Tree}.
 */
public final class Transaction implements AutoCloseable {
  private final Store store;
  private final Session session;
  private final Transactions transactions;
  private final Operations operations;
  private final TransactionOptions options;
  private final OwnSnapshots snapshots;
  private final LockOwner owner;
  private final boolean pessimistic;
  private final boolean latest;
  private final boolean serializable;

  private final WriteSet writes = new WriteSet();
  private final ReadSet reads = new ReadSet();
  private final List<Savepoint> savepoints = new ArrayList<>();
  private final List<Cursor> cursors = new ArrayList<>();
  private final List<Runnable> endActions = new ArrayList<>();

  /** Why it can't be used any more, or null. */
  private volatile @Nullable String ended;

  private final OneThread use = new OneThread();

  /**
   * Begins one.
   *
   * @param waitNanos how long it may wait for locks, all waits together
   */
  Transaction(Store store, Session session, TransactionOptions options, long waitNanos) {
    this.store = store;
    this.session = session;
    this.transactions = session.transactions();
    this.operations = session.operations();
    this.options = options;
    this.snapshots = new OwnSnapshots(session.engine().snapshots());
    this.owner = transactions.begin(waitNanos);
    this.pessimistic = options.locking() == Locking.PESSIMISTIC;
    this.latest = options.isolation() == Isolation.READ_COMMITTED;
    this.serializable = options.isolation() == Isolation.SERIALIZABLE;
  }

  /** A number that no other transaction of the open store has; messages name it. */
  public long id() {
    return owner.id();
  }

  /** The store it belongs to. */
  public Store store() {
    return store;
  }

  /** The current thread is going to run a body of it. */
  void enclose() {
    owner.enclose();
  }

  /** Whether it has neither been committed nor rolled back. */
  public boolean isOpen() {
    return ended == null;
  }

  /**
   * Has {@code action} run once this transaction has ended, whichever way: what it committed can be
   * seen then, and its locks are given back. Actions run in the order they came, on the thread that
   * ends it, which they must not hold up; they must not use the transaction. What one throws is
   * logged.
   */
  public void onEnd(Runnable action) {
    Objects.requireNonNull(action, "action");
    enter();
    try {
      endActions.add(action);
    } finally {
      exit();
    }
  }

  /**
   * Runs {@code body} and keeps other threads out meanwhile, between its calls, too: for layers
   * above, with writes that have to be in a commit together. Their calls throw {@link
   * IllegalStateException}.
   *
   * @param body uses the transaction; must not end it unless it throws
   */
  public void exclusively(Runnable body) {
    Objects.requireNonNull(body, "body");
    enter();
    try {
      body.run();
    } finally {
      exit();
    }
  }

  /** The value of a key, or null if there is none. */
  public byte @Nullable [] get(Tree tree, byte[] key) {
    enter(tree);
    try {
      tree.checkKey(key);
      return writes.read(tree.handle(), key, () -> stored(tree, key));
    } finally {
      exit();
    }
  }

  private byte @Nullable [] stored(Tree tree, byte[] key) {
    return latest ? tree.get(key) : tree.get(key, tracked(tree, key));
  }

  /**
   * Puts the value of a key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @return the value's length, or {@link Tree#NOT_FOUND}; nothing was copied if it is larger than
   *     what remains
   */
  public int get(Tree tree, byte[] key, ByteBuffer target) {
    Targets.check(target);
    enter(tree);
    try {
      tree.checkKey(key);
      OwnWrites.Write own = writes.get(tree.handle(), key);
      if (own != null) {
        return Targets.put(own.read(tree.handle(), key, () -> stored(tree, key)), target);
      }
      if (latest) {
        return tree.get(key, target);
      }
      return tree.get(key, target, tracked(tree, key));
    } finally {
      exit();
    }
  }

  /** The value of a key, or null if there is none; the key is what remains in the buffer. */
  public byte @Nullable [] get(Tree tree, ByteBuffer key) {
    return get(tree, Keys.bytes(key));
  }

  /** Whether there is such a key. Counts as a read of it. */
  public boolean contains(Tree tree, byte[] key) {
    return get(tree, key, Keys.NO_ROOM) != Tree.NOT_FOUND;
  }

  /**
   * As {@link #get(Tree, byte[])}, of a key that is going to be written, or on which a write
   * depends: nobody else changes it until this transaction ends. With pessimistic locking others
   * wait for that; with optimistic locking the commit fails if somebody did.
   *
   * @throws TransactionAbortedException if it can't be had
   */
  public byte @Nullable [] getForUpdate(Tree tree, byte[] key) {
    enter(tree);
    try {
      tree.checkKey(key);
      return writes.read(tree.handle(), key, () -> storedForUpdate(tree, key));
    } finally {
      exit();
    }
  }

  private byte @Nullable [] storedForUpdate(Tree tree, byte[] key) {
    byte[] kept = key.clone();
    if (pessimistic) {
      lock(tree, kept);
      return latest ? tree.get(key) : tree.get(key, snapshots.first());
    }
    if (!latest) {
      Moment at = snapshots.first();
      reads.add(tree.handle(), kept, at.lsn());
      return tree.get(key, at);
    }
    // Each read has a moment of its own. The first one alone is kept: until it is released merges
    // leave whatever tells that a key was changed later.
    snapshots.first();
    Moment at = snapshots.registerForOther();
    try {
      reads.add(tree.handle(), kept, at.lsn());
      return tree.get(key, at);
    } finally {
      snapshots.releaseOf(at);
    }
  }

  /**
   * Sets a key.
   *
   * @throws IllegalArgumentException if key or value exceed their limit, or if the transaction
   *     would write to logged and unlogged trees
   * @throws TransactionAbortedException if others write the key
   */
  public void put(Tree tree, byte[] key, byte[] value) {
    putUntil(tree, key, value, null);
  }

  /**
   * Sets a key until an instant; see {@link Tree#put(byte[], byte[], Instant)}. The transaction
   * sees it until it ends. Errors as with {@link #put(Tree, byte[], byte[])}.
   */
  public void put(Tree tree, byte[] key, byte[] value, Instant expires) {
    putUntil(tree, key, value, Objects.requireNonNull(expires, "expires"));
  }

  private void putUntil(Tree tree, byte[] key, byte[] value, @Nullable Instant expires) {
    enter(tree);
    try {
      tree.checkKey(key);
      tree.checkValue(value);
      write(tree, key.clone(), tree.writes().ownPut(value.clone(), expires));
    } finally {
      exit();
    }
  }

  /** Removes a key, whether it is there or not. Errors as with {@link #put}. */
  public void delete(Tree tree, byte[] key) {
    enter(tree);
    try {
      tree.checkKey(key);
      write(tree, key.clone(), OwnWrites.Write.DELETE);
    } finally {
      exit();
    }
  }

  /**
   * Merges an operand into the value of a key; see {@link Tree#merge(byte[], byte[])}. It is a
   * write that reads nothing. What a transaction merges with a key one after the other is one
   * operand, which lives as long as the last part of it. Errors as there, and as with {@link #put}.
   */
  public void merge(Tree tree, byte[] key, byte[] operand) {
    enter(tree);
    try {
      tree.checkMerge(key, operand);
      prepareWrite(tree, key);
      OwnWrites.Write own = tree.writes().ownMerge(operand);
      writes.merge(tree.handle(), key.clone(), own, !savepoints.isEmpty());
    } finally {
      exit();
    }
  }

  /**
   * Removes all keys of a range; see {@link Tree#deleteRange(byte[], byte[])}. It counts as a write
   * of each key there: others wait, or make the commit fail. Null is no bound. Errors as with put.
   */
  public void deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to) {
    enter(tree);
    try {
      tree.checkRange(from, to);
      TreeHandle handle = tree.handle();
      RangeDelete range = new RangeDelete(Keys.copy(from), Keys.copy(to), 0);
      if (RangeDelete.isEmpty(handle.order(), from, to)) {
        return;
      }
      writes.checkLogged(handle);
      if (pessimistic) {
        long since = snapshots.since(latest);
        locking(() -> transactions.lockRange(owner, handle, range, since, lockTimeoutNanos()));
      } else if (!latest) {
        KeyRange keys = KeyRange.of(handle.order(), range.from(), range.to());
        reads.add(handle, keys, snapshots.first().lsn());
      }
      writes.deleteRange(handle, range.from(), range.to(), !savepoints.isEmpty());
    } finally {
      exit();
    }
  }

  /** As {@link #put(Tree, byte[], byte[])}; takes what remains in the buffers. */
  public void put(Tree tree, ByteBuffer key, ByteBuffer value) {
    Objects.requireNonNull(key, "key");
    put(tree, Keys.bytes(key), Keys.bytes(Objects.requireNonNull(value, "value")));
  }

  /** As {@link #delete(Tree, byte[])}; takes what remains in the buffer. */
  public void delete(Tree tree, ByteBuffer key) {
    delete(tree, Keys.bytes(key));
  }

  /**
   * Sets a key that is not there. The key is read as by {@link #getForUpdate}.
   *
   * @return the value that is there, and stays; null if there was none
   */
  public byte @Nullable [] putIfAbsent(Tree tree, byte[] key, byte[] value) {
    Objects.requireNonNull(value, "value");
    byte[] before = getForUpdate(tree, key);
    if (before == null) {
      put(tree, key, value);
    }
    return before;
  }

  /**
   * Sets or removes a key if it has the value expected. The key is read as by {@link
   * #getForUpdate}.
   *
   * @param expected null if the key must not be there
   * @param value null to remove the key
   * @return whether it had the value expected
   */
  public boolean compareAndSet(
      Tree tree, byte[] key, byte @Nullable [] expected, byte @Nullable [] value) {
    boolean as = Arrays.equals(getForUpdate(tree, key), expected);
    if (as && value == null) {
      delete(tree, key);
    } else if (as) {
      put(tree, key, Objects.requireNonNull(value));
    }
    return as;
  }

  private void write(Tree tree, byte[] key, OwnWrites.Write write) {
    prepareWrite(tree, key);
    writes.put(tree.handle(), key, write, !savepoints.isEmpty());
  }

  private void prepareWrite(Tree tree, byte[] key) {
    if (writes.get(tree.handle(), key) == null) {
      writes.checkLogged(tree.handle());
      if (pessimistic) {
        lock(tree, key.clone());
      } else if (!latest) {
        reads.add(tree.handle(), key.clone(), snapshots.first().lsn());
      }
    }
  }

  /** Locks a key; what others did to it since the snapshot is a conflict. */
  private void lock(Tree tree, byte[] key) {
    locking(
        () ->
            transactions.lock(
                owner, tree.handle(), key, snapshots.since(latest), lockTimeoutNanos()));
  }

  private long lockTimeoutNanos() {
    return options.lockTimeout().toNanos();
  }

  private void locking(Runnable lock) {
    try {
      lock.run();
    } catch (TransactionAbortedException e) {
      transactions.count(e);
      if (!(e instanceof LockTimeoutException)) {
        end("was rolled back: " + e.getMessage());
      }
      throw e;
    }
  }

  /**
   * A cursor over what the transaction sees, its own writes included, later ones too; closed when
   * it ends. Of a key that was deleted after the cursor came to it there is no value any more.
   *
   * @throws IllegalArgumentException if the options name a snapshot, or ask for a prefix where the
   *     tree has an order of its own
   */
  public Cursor cursor(Tree tree, CursorOptions cursorOptions) {
    Objects.requireNonNull(cursorOptions, "cursorOptions");
    enter(tree);
    try {
      if (cursorOptions.snapshot() != null) {
        throw new IllegalArgumentException(
            "a transaction's cursor sees what the transaction does, not a snapshot");
      }
      Bounds bounds = cursorOptions.bounds(tree.handle().order());
      Moment at = latest ? snapshots.registerForOther() : snapshots.retainFirst();
      KeyRange passed = null;
      if (serializable) {
        passed = new KeyRange(tree.handle().order(), cursorOptions.from(), cursorOptions.to());
        reads.add(tree.handle(), passed, at.lsn());
      }
      TreeHandle handle = tree.handle();
      OwnWrites own = writes.of(handle);
      Cursor cursor = new Cursor(session.cursors().open(handle, bounds, at, own, passed));
      cursors.removeIf(Cursor::isClosed);
      cursors.add(cursor);
      return cursor;
    } finally {
      exit();
    }
  }

  /** A cursor over all of a tree: see {@link #cursor(Tree, CursorOptions)}. */
  public Cursor cursor(Tree tree) {
    return cursor(tree, CursorOptions.all());
  }

  /** A place to go back to, as often as is wanted. */
  public Savepoint savepoint() {
    enter();
    try {
      Savepoint savepoint = new Savepoint(writes.position());
      savepoints.add(savepoint);
      return savepoint;
    } finally {
      exit();
    }
  }

  /**
   * Takes back all writes since {@code savepoint}, and forgets later savepoints. Locks stay, and so
   * does what was read.
   *
   * @throws IllegalArgumentException if it is not one of this transaction, or was forgotten
   */
  public void rollbackTo(Savepoint savepoint) {
    Objects.requireNonNull(savepoint, "savepoint");
    enter();
    try {
      int at = savepoints.indexOf(savepoint);
      if (at < 0) {
        throw new IllegalArgumentException(
            "the savepoint belongs to another transaction, or comes after one gone back to");
      }
      savepoints.subList(at + 1, savepoints.size()).clear();
      writes.backTo(savepoint.depth());
    } finally {
      exit();
    }
  }

  /**
   * Makes all writes visible, and durable if the options say so: see {@link Durability}. The
   * transaction has ended then, whether this succeeds or not. If not, nothing was written, but for
   * {@code StoreFailedException}.
   *
   * @throws TransactionAbortedException if others have changed what this one read or wrote
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; nothing was written, and
   *     will not be
   * @throws io.isobardb.lsm.error.StoreFailedException if the log failed; the outcome is unknown:
   *     the writes may or may not be there when the store is opened again
   */
  public void commit() {
    enter();
    long written;
    try {
      String result = "was rolled back, since its commit failed";
      try {
        written = write();
        result = "was committed";
        transactions.countCommit();
      } catch (TransactionAbortedException e) {
        transactions.count(e);
        result = "was rolled back: " + e.getMessage();
        throw e;
      } finally {
        end(result);
      }
      if (sync()) {
        session.awaitDurable(written);
      }
    } finally {
      exit();
    }
  }

  private boolean sync() {
    Durability own = options.durability();
    return own == null ? session.syncByDefault() : own == Durability.SYNC;
  }

  /** Validates, and writes; gives the LSN to wait for. Locks are held until the end. */
  private long write() {
    // Nothing that they pass from here on is missed, and the memory they hold is not waited for.
    closeCursors();
    return new Commit(session, owner, writes, reads, lockTimeoutNanos()).write(pessimistic);
  }

  /** Takes all writes back; the transaction has ended then. Does nothing if it has already. */
  public void rollback() {
    acquire();
    try {
      if (ended == null) {
        end("was rolled back");
        transactions.countRollback();
      }
    } finally {
      exit();
    }
  }

  /** Rolls back what was not committed. */
  @Override
  public void close() {
    rollback();
  }

  private void end(String how) {
    ended = how;
    closeCursors();
    transactions.locks().releaseAll(owner);
    snapshots.releaseFirst();
    writes.clear();
    transactions.ended(owner);
    endActions.forEach(Transaction::runAtEnd);
    endActions.clear();
  }

  /**
   * What it has committed stays committed, and its other actions run, whatever one of them does.
   */
  private static void runAtEnd(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      System.getLogger(Transaction.class.getName())
          .log(
              Level.WARNING,
              "an action at the end of a transaction failed; the transaction ended as it had",
              UserCode.failure(e));
    }
  }

  private void closeCursors() {
    for (Cursor cursor : cursors) {
      cursor.close();
    }
    cursors.clear();
  }

  /** The snapshot's moment, at which a key is read. */
  private Moment tracked(Tree tree, byte[] key) {
    Moment at = snapshots.first();
    if (serializable) {
      reads.add(tree.handle(), key.clone(), at.lsn());
    }
    return at;
  }

  private void enter(Tree tree) {
    if (Objects.requireNonNull(tree, "tree").session() != session) {
      throw new IllegalArgumentException(
          "tree '" + tree.name() + "' belongs to another store than the transaction");
    }
    enter();
    if (tree.handle().refused()) {
      exit();
      tree.handle().checkOpen();
    }
  }

  private void acquire() {
    if (!use.tryEnter()) {
      throw new IllegalStateException(
          this + " is in use by another thread: one at a time may use it");
    }
    if (use.isOutermost()) {
      owner.use();
    }
  }

  private void enter() {
    acquire();
    String how = ended;
    if (how != null) {
      exit();
      throw new IllegalStateException(this + " " + how);
    }
    if (operations.isClosed()) {
      exit();
      throw new StoreClosedException("the store is closed");
    }
  }

  private void exit() {
    use.exit();
  }

  @Override
  public String toString() {
    return "transaction " + id();
  }
}
