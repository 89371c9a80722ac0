package io.isobardb.lsm.store;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Locking;
import io.isobardb.lsm.Savepoint;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.read.Bounds;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.KeySpan;
import io.isobardb.lsm.transaction.LockOwner;
import io.isobardb.lsm.transaction.OwnWrites;
import io.isobardb.lsm.transaction.ReadSet;
import io.isobardb.lsm.transaction.WriteSet;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A transaction whose writes lie on the heap until it commits.
 *
 * <p>Thread rule: one thread at a time; another one is refused.
 */
public final class BufferedTransaction implements Transaction {
  private final OpenStore store;
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
  private final Savepoints savepoints = new Savepoints();
  private final List<OpenCursor> cursors = new ArrayList<>();
  private final List<Runnable> endActions = new ArrayList<>();

  /** Whether what it has written is there; for the thread that has committed it. */
  private boolean committed;

  /** Why it can't be used any more, or null. */
  private volatile @Nullable String ended;

  /** What has ended it within a call that is no commit: others got in its way; else null. */
  private @Nullable TransactionAbortedException aborted;

  private final OneThread use = new OneThread();

  /** The instant until which something was put last, and when that expires. */
  private @Nullable Instant lastUntil;

  private long lastExpiry;

  /**
   * Begins one.
   *
   * @param waitNanos how long it may wait for locks, all waits together
   */
  BufferedTransaction(OpenStore store, TransactionOptions options, long waitNanos) {
    StackRoom.check();
    this.store = store;
    this.transactions = store.transactions();
    this.operations = store.operations();
    this.options = options;
    this.snapshots = new OwnSnapshots(store.engine().snapshots());
    this.owner = transactions.begin(waitNanos);
    this.pessimistic = options.locking() == Locking.PESSIMISTIC;
    this.latest = options.isolation() == Isolation.READ_COMMITTED;
    this.serializable = options.isolation() == Isolation.SERIALIZABLE;
  }

  @Override
  public long id() {
    return owner.id();
  }

  @Override
  public Store store() {
    return store;
  }

  /** The current thread is going to run a body of it. */
  void enclose() {
    owner.enclose();
  }

  @Override
  public boolean isOpen() {
    return ended == null;
  }

  /**
   * Passes unless others have ended it: a body may have caught what told it so.
   *
   * @throws TransactionAbortedException if they have
   */
  void checkNotAborted() {
    TransactionAbortedException cause = aborted;
    if (cause != null) {
      throw cause;
    }
  }

  /** Whether what it wrote is there: running it anew would write it again. */
  boolean isCommitted() {
    return committed;
  }

  @Override
  public void onEnd(Runnable action) {
    Objects.requireNonNull(action, "action");
    enter();
    try {
      endActions.add(action);
    } finally {
      exit();
    }
  }

  @Override
  public void exclusively(Runnable body) {
    Objects.requireNonNull(body, "body");
    enter();
    try {
      body.run();
    } finally {
      exit();
    }
  }

  @Override
  public byte @Nullable [] get(Tree tree, byte[] key) {
    OpenTree open = enter(tree);
    try {
      open.checkKey(key);
      return writes.read(open.handle(), key, () -> stored(open, key));
    } finally {
      exit();
    }
  }

  private byte @Nullable [] stored(OpenTree tree, byte[] key) {
    return latest ? tree.get(key) : tree.get(key, tracked(tree, key));
  }

  @Override
  public int get(Tree tree, byte[] key, ByteBuffer target) {
    Targets.check(target);
    OpenTree open = enter(tree);
    try {
      open.checkKey(key);
      OwnWrites.Write own = writes.get(open.handle(), key);
      if (own != null) {
        return Targets.put(own.read(open.handle(), key, () -> stored(open, key)), target);
      }
      if (latest) {
        return open.get(key, target);
      }
      return open.get(key, target, tracked(open, key));
    } finally {
      exit();
    }
  }

  @Override
  public byte @Nullable [] get(Tree tree, ByteBuffer key) {
    return get(tree, Keys.bytes(key));
  }

  @Override
  public boolean contains(Tree tree, byte[] key) {
    return get(tree, key, Keys.NO_ROOM) != Tree.NOT_FOUND;
  }

  @Override
  public byte @Nullable [] getForUpdate(Tree tree, byte[] key) {
    OpenTree open = enter(tree);
    try {
      open.checkKey(key);
      return writes.read(open.handle(), key, () -> storedForUpdate(open, key));
    } finally {
      exit();
    }
  }

  private byte @Nullable [] storedForUpdate(OpenTree tree, byte[] key) {
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

  @Override
  public void put(Tree tree, byte[] key, byte[] value) {
    putUntil(tree, key, value, null);
  }

  @Override
  public void put(Tree tree, byte[] key, byte[] value, Instant expires) {
    putUntil(tree, key, value, Objects.requireNonNull(expires, "expires"));
  }

  private void putUntil(Tree tree, byte[] key, byte[] value, @Nullable Instant expires) {
    OpenTree open = enter(tree);
    try {
      open.checkKey(key);
      open.checkValue(value);
      long expiry = expires == null ? open.expiry() : expiry(open, expires);
      write(open, key.clone(), open.ownPut(value.clone(), expiry));
    } finally {
      exit();
    }
  }

  /**
   * When what is put until an instant expires. The same for all that is put until the same, one
   * after the other, wherever the clock is by then: records go with their index entries.
   */
  private long expiry(OpenTree tree, Instant until) {
    if (!until.equals(lastUntil)) {
      lastUntil = until;
      lastExpiry = tree.expiry(until);
    }
    return tree.noted(lastExpiry);
  }

  @Override
  public void delete(Tree tree, byte[] key) {
    OpenTree open = enter(tree);
    try {
      open.checkKey(key);
      write(open, key.clone(), OwnWrites.Write.DELETE);
    } finally {
      exit();
    }
  }

  @Override
  public void merge(Tree tree, byte[] key, byte[] operand) {
    OpenTree open = enter(tree);
    try {
      open.checkMerge(key, operand);
      prepareWrite(open, key);
      OwnWrites.Write own = open.ownMerge(operand);
      writes.merge(open.handle(), key.clone(), own, isUndoable());
    } finally {
      exit();
    }
  }

  @Override
  public void deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to) {
    OpenTree open = enter(tree);
    try {
      open.checkRange(from, to);
      TreeHandle handle = open.handle();
      RangeDelete range = new RangeDelete(Keys.copy(from), Keys.copy(to), 0);
      if (RangeDelete.isEmpty(handle.order(), from, to)) {
        return;
      }
      writes.checkLogged(handle);
      if (pessimistic) {
        long since = snapshots.since(latest);
        locking(() -> transactions.lockRange(owner, handle, range, since, lockTimeoutNanos()));
      } else if (!latest) {
        KeySpan keys = KeySpan.of(handle.order(), range.from(), range.to());
        reads.add(handle, keys, snapshots.first().lsn());
      }
      writes.deleteRange(handle, range.from(), range.to(), isUndoable());
    } finally {
      exit();
    }
  }

  @Override
  public void put(Tree tree, ByteBuffer key, ByteBuffer value) {
    Objects.requireNonNull(key, "key");
    put(tree, Keys.bytes(key), Keys.bytes(Objects.requireNonNull(value, "value")));
  }

  @Override
  public void delete(Tree tree, ByteBuffer key) {
    delete(tree, Keys.bytes(key));
  }

  @Override
  public byte @Nullable [] putIfAbsent(Tree tree, byte[] key, byte[] value) {
    checkValue(tree, value);
    byte[] before = getForUpdate(tree, key);
    if (before == null) {
      put(tree, key, value);
    }
    return before;
  }

  @Override
  public boolean compareAndSet(
      Tree tree, byte[] key, byte @Nullable [] expected, byte @Nullable [] value) {
    if (value != null) {
      checkValue(tree, value);
    }
    boolean as = Arrays.equals(getForUpdate(tree, key), expected);
    if (as && value == null) {
      delete(tree, key);
    } else if (as) {
      put(tree, key, Objects.requireNonNull(value));
    }
    return as;
  }

  /** Passes if a value that is written maybe is not too long. */
  private void checkValue(Tree tree, byte[] value) {
    OpenTree open = enter(tree);
    try {
      open.checkValue(value);
    } finally {
      exit();
    }
  }

  private void write(OpenTree tree, byte[] key, OwnWrites.Write write) {
    prepareWrite(tree, key);
    writes.put(tree.handle(), key, write, isUndoable());
  }

  /** Whether the next write may be taken back alone. If not, nor may any before it. */
  private boolean isUndoable() {
    boolean undoable = !savepoints.isEmpty();
    if (!undoable) {
      writes.keep();
    }
    return undoable;
  }

  private void prepareWrite(OpenTree tree, byte[] key) {
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
  private void lock(OpenTree tree, byte[] key) {
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
        aborted = e;
        end("was rolled back: " + e.getMessage());
      }
      throw e;
    }
  }

  @Override
  public Cursor cursor(Tree tree, CursorOptions cursorOptions) {
    Objects.requireNonNull(cursorOptions, "cursorOptions");
    OpenTree open = enter(tree);
    try {
      if (cursorOptions.snapshot() != null) {
        throw new IllegalArgumentException(
            "a transaction's cursor sees what the transaction does, not a snapshot");
      }
      Bounds bounds = Keys.bounds(cursorOptions, open.handle().order());
      Moment at = latest ? snapshots.registerForOther() : snapshots.retainFirst();
      KeySpan passed = null;
      if (serializable) {
        passed = new KeySpan(open.handle().order(), bounds.from(), bounds.to());
        reads.add(open.handle(), passed, at.lsn());
      }
      TreeHandle handle = open.handle();
      OwnWrites own = writes.of(handle);
      OpenCursor cursor = store.cursors().open(handle, bounds, at, own, passed);
      cursors.removeIf(OpenCursor::isClosed);
      cursors.add(cursor);
      return cursor;
    } finally {
      exit();
    }
  }

  @Override
  public Cursor cursor(Tree tree) {
    return cursor(tree, CursorOptions.all());
  }

  @Override
  public Savepoint savepoint() {
    enter();
    try {
      return savepoints.add(writes.position());
    } finally {
      exit();
    }
  }

  @Override
  public void rollbackTo(Savepoint savepoint) {
    Objects.requireNonNull(savepoint, "savepoint");
    enter();
    try {
      writes.backTo(savepoints.backTo(savepoint));
    } finally {
      exit();
    }
  }

  @Override
  public void commit() {
    enter();
    try {
      checkNotReading();
      commitHolding();
    } finally {
      exit();
    }
  }

  /** It is entered, and none of its cursors waits for the caller. */
  private void commitHolding() {
    String result = "was rolled back, since its commit failed";
    try {
      write();
    } catch (TransactionAbortedException e) {
      transactions.count(e);
      result = "was rolled back: " + e.getMessage();
      throw e;
    } finally {
      if (!committed) {
        release(result);
      }
      runEndActions();
    }
  }

  /** Its writes can be seen. */
  private void onWritten() {
    committed = true;
    transactions.countCommit();
    release("was committed");
  }

  private boolean sync() {
    Durability own = options.durability();
    return (own == null ? store.options().durability() : own) == Durability.SYNC;
  }

  /** Validates, writes, and waits for the sync if there is to be one. Then it has ended. */
  private void write() {
    // Nothing that they pass from here on is missed, and the memory they hold is not waited for.
    closeCursors();
    Duration own = options.writeTimeout();
    Duration timeout = own == null ? store.options().writeTimeout() : own;
    List<TreeHandle> trees = writes.trees();
    String only = trees.size() == 1 ? trees.get(0).name() : null;
    WaitLimit limit = new WaitLimit().begin(WaitLimit.nanos(timeout), only);
    new Commit(store, owner, writes, reads, lockTimeoutNanos(), limit)
        .write(pessimistic, sync(), this::onWritten);
  }

  @Override
  public void rollback() {
    StackRoom.checkForLess();
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
    release(how);
    runEndActions();
  }

  /** Ends it, and gives back what it has. */
  private void release(String how) {
    ended = how;
    closeCursors();
    transactions.locks().releaseAll(owner);
    snapshots.releaseFirst();
    writes.clear();
    transactions.onEnded(owner);
  }

  private void runEndActions() {
    endActions.forEach(BufferedTransaction::runAtEnd);
    endActions.clear();
  }

  /**
   * What it has committed stays committed, and its other actions run, whatever one of them does.
   */
  private static void runAtEnd(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      logFailure(UserCode.failure(e));
    }
  }

  private static void logFailure(Throwable cause) {
    String what = "an action at the end of a transaction failed; the transaction ended as it had";
    SystemLog.tell(Level.WARNING, Transaction.class, what, cause);
  }

  private void closeCursors() {
    for (OpenCursor cursor : cursors) {
      cursor.end();
    }
    cursors.clear();
  }

  /** Passes if none of its cursors waits for the caller: a commit may wait for what that holds. */
  private void checkNotReading() {
    if (cursors.stream().anyMatch(OpenCursor::isReading)) {
      throw new IllegalStateException(
          this + " can't be committed by an EntryReader that a cursor of it calls: return first");
    }
  }

  /** The snapshot's moment, at which a key is read. */
  private Moment tracked(OpenTree tree, byte[] key) {
    Moment at = snapshots.first();
    if (serializable) {
      reads.add(tree.handle(), key.clone(), at.lsn());
    }
    return at;
  }

  /** Begins a call about a tree. */
  private OpenTree enter(Tree given) {
    OpenTree tree = OpenTree.of(given, store, "transaction");
    enter();
    try {
      tree.handle().checkOpen();
    } catch (StoreClosedException e) {
      exit();
      throw e;
    }
    return tree;
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
    StackRoom.check();
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
