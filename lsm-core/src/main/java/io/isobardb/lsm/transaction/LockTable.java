package io.isobardb.lsm.transaction;

import io.isobardb.lsm.error.DeadlockException;
import io.isobardb.lsm.error.LockInterruptedException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.SelfDeadlockException;
import io.isobardb.lsm.error.ShownKey;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.state.TreeHandle;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive locks on keys, of all trees, in the order of their keys.
 *
 * <p>All locks of an owner are held until its end, and each waits for one lock at a time. So the
 * waits of owners are a chain. The owner that would close it to a circle finds out by walking along
 * it, and is told to give up. Walks take turns, so that one circle costs one victim. A step of a
 * walk that others change meanwhile misleads nobody: as long as an owner waits, it releases
 * nothing.
 *
 * <p>A circle may also close through a thread that uses two owners: it waits with one for a lock of
 * the other, which it will not end before. That is certain while the thread runs the body of the
 * other ({@link LockOwner#enclose}), and told at once. Elsewhere the thread that used an owner last
 * may have handed it on: it is told after a short wait, unless another thread has used the owner by
 * then.
 *
 * <p>A lock is handed on to the owner that waits longest.
 *
 * <p>An owner that locks a range announces it, and then waits for the owners of keys in it. An
 * owner that locks a key looks for ranges before and afterwards. If one was announced in between,
 * the key's lock is given back before the wait, so neither waits for the other.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class LockTable {

  /** How long a thread waits for an owner that it used last, and that another may go on with. */
  private static final long HAND_OVER_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Environment environment;
  private final ConcurrentMap<Integer, ConcurrentNavigableMap<byte[], RecordLock>> trees =
      new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, RangeLocks> ranges = new ConcurrentHashMap<>();

  /** Whether a range was ever announced. Set before that: the map counts what it has afterwards. */
  private volatile boolean ranged;

  private final AtomicLong ids = new AtomicLong();
  private final Object walks = new Object();
  private volatile boolean closed;

  public LockTable(Environment environment) {
    this.environment = environment;
  }

  /**
   * A new owner, without locks, used by the current thread.
   *
   * @param waitNanos how long it may wait for locks, all waits together
   * @param write whether it is a plain write; others count what that has locked as written
   */
  public LockOwner newOwner(long waitNanos, boolean write) {
    return new LockOwner(nextId(), environment.clock().nanos(), waitNanos, write);
  }

  /** A number that no owner has. */
  public long nextId() {
    return ids.incrementAndGet();
  }

  private ConcurrentNavigableMap<byte[], RecordLock> locks(TreeHandle tree) {
    return trees.computeIfAbsent(
        tree.id(),
        id -> {
          KeyOrder order = tree.order();
          return new ConcurrentSkipListMap<>(
              (a, b) -> order.compare(a, 0, a.length, b, 0, b.length));
        });
  }

  /**
   * Makes {@code owner} the owner of a key's lock; nothing happens if it is already.
   *
   * @param key not changed afterwards
   * @return false if it was the owner already
   * @throws LockTimeoutException if another owner keeps it for {@code timeoutNanos}, or for longer
   *     than {@code owner} may wait in all
   * @throws LockInterruptedException if it has to wait, and the thread is interrupted
   * @throws DeadlockException if the wait would have no end
   * @throws SelfDeadlockException if it would have none because the current thread is using the
   *     lock's owner; in all four cases what is held stays held
   */
  public boolean lock(LockOwner owner, TreeHandle tree, byte[] key, long timeoutNanos) {
    while (true) {
      awaitRanges(owner, tree, key, timeoutNanos);
      boolean fresh = lockKey(owner, tree, key, timeoutNanos);
      if (!fresh || rangeOfOther(owner, tree, key) == null) {
        return fresh;
      }
      release(owner.held().remove(owner.held().size() - 1));
    }
  }

  /** Waits until nobody else has locked a range with the key. */
  private void awaitRanges(LockOwner owner, TreeHandle tree, byte[] key, long timeoutNanos) {
    for (RangeLock range = rangeOfOther(owner, tree, key);
        range != null;
        range = rangeOfOther(owner, tree, key)) {
      if (isOwner(owner, tree, key)) {
        // The range waits for this key.
        return;
      }
      awaitEnd(owner, range, timeoutNanos);
    }
  }

  private boolean isOwner(LockOwner owner, TreeHandle tree, byte[] key) {
    RecordLock lock = locks(tree).get(key);
    return lock != null && lock.owner() == owner;
  }

  private void awaitEnd(LockOwner owner, RangeLock range, long timeoutNanos) {
    if (await(owner, range, timeoutNanos)) {
      release(owner.held().remove(owner.held().size() - 1));
    }
  }

  private @Nullable RangeLock rangeOfOther(LockOwner owner, TreeHandle tree, byte[] key) {
    if (!ranged) {
      return null;
    }
    return rangesOf(tree).ofOther(owner, range -> range.covers(key));
  }

  private RangeLocks rangesOf(TreeHandle tree) {
    return ranges.getOrDefault(tree.id(), RangeLocks.NONE);
  }

  /**
   * Makes {@code owner} the owner of the locks of all keys of a range, and of those that are not
   * there. Waits for the others; errors as with {@link #lock}. Of keys that others had locked it
   * keeps the locks that it got by then.
   *
   * @param from the first key, null for no bound; not changed afterwards, nor is {@code to}
   * @param to the key behind the last one, null for no bound
   */
  public void lockRange(
      LockOwner owner,
      TreeHandle tree,
      byte @Nullable [] from,
      byte @Nullable [] to,
      long timeoutNanos) {
    RangeLock mine = new RangeLock(tree, from, to, owner);
    for (RangeLock other = announce(mine); other != null; other = announce(mine)) {
      awaitEnd(owner, other, timeoutNanos);
    }
    owner.held().add(mine);
    try {
      for (RecordLock key = keyOfOther(owner, mine); key != null; key = keyOfOther(owner, mine)) {
        await(owner, key, timeoutNanos);
      }
    } catch (RuntimeException | Error e) {
      owner.held().remove(mine);
      release(mine);
      throw e;
    }
  }

  /** Announces a range; or gives the one of somebody else that is in its way. */
  private @Nullable RangeLock announce(RangeLock mine) {
    ranged = true;
    return ranges.computeIfAbsent(mine.tree.id(), id -> new RangeLocks()).announce(mine);
  }

  private @Nullable RecordLock keyOfOther(LockOwner owner, RangeLock range) {
    ConcurrentNavigableMap<byte[], RecordLock> locks = locks(range.tree);
    byte[] from = range.from();
    for (RecordLock lock : (from == null ? locks : locks.tailMap(from, true)).values()) {
      if (range.isBefore(lock.key)) {
        return null;
      }
      LockOwner other = lock.owner();
      if (other != null && other != owner) {
        return lock;
      }
    }
    return null;
  }

  private boolean lockKey(LockOwner owner, TreeHandle tree, byte[] key, long timeoutNanos) {
    while (true) {
      // Anew each time: a lock that was put in the table of a tree that is forgotten stays there.
      ConcurrentNavigableMap<byte[], RecordLock> locks = locks(tree);
      RecordLock lock = locks.get(key);
      if (lock == null) {
        RecordLock fresh = new RecordLock(tree, key, owner);
        lock = locks.putIfAbsent(key, fresh);
        if (lock == null) {
          owner.held().add(fresh);
          return true;
        }
      }
      if (lock.owner() == owner) {
        return false;
      }
      if (await(owner, lock, timeoutNanos)) {
        return true;
      }
    }
  }

  /** Waits for a lock; false if it went out of the table meanwhile. */
  private boolean await(LockOwner owner, RecordLock lock, long timeoutNanos) {
    Signal granted = owner.granted(environment.scheduler());
    Thread current = Thread.currentThread();
    synchronized (walks) {
      LockOwner blocker = lock.owner();
      if (blocker != null && blocker.encloses(current)) {
        throw selfDeadlock(lock, blocker);
      }
      owner.waitsFor(lock);
      String circle = circle(owner, lock, current);
      if (circle != null) {
        owner.waitsFor(null);
        throw new DeadlockException(
            lock.tree.name(),
            lock.key,
            describe(lock) + " is locked by " + circle + ": roll back, and try again");
      }
      if (!lock.enqueue(owner)) {
        owner.waitsFor(null);
        return false;
      }
    }
    long begun = environment.clock().nanos();
    long most = Math.min(timeoutNanos, owner.waitNanos());
    long first = isUsed(lock, current) ? Math.min(most, HAND_OVER_NANOS) : most;
    boolean ended = granted.awaitUnlessInterrupted(() -> lock.owner() == owner || closed, first);
    if (!ended && first < most && !current.isInterrupted() && !isUsed(lock, current)) {
      ended = granted.awaitUnlessInterrupted(() -> lock.owner() == owner || closed, most - first);
      first = most;
    }
    long waited = environment.clock().nanos() - begun;
    owner.countWait(waited);
    if ((!ended || closed) && lock.leave(owner)) {
      owner.waitsFor(null);
      throw notGranted(lock, waited, first < most);
    }
    owner.held().add(lock);
    return true;
  }

  /** Whether the lock is owned by one that {@code thread} used last. */
  private static boolean isUsed(RecordLock lock, Thread thread) {
    LockOwner blocker = lock.owner();
    return blocker != null && blocker.isUsedBy(thread);
  }

  private RuntimeException notGranted(RecordLock lock, long waited, boolean bySelf) {
    if (closed) {
      return new StoreClosedException("the store was closed during a wait for a lock");
    }
    if (Thread.currentThread().isInterrupted()) {
      return new LockInterruptedException(
          lock.tree.name(),
          lock.key,
          "the wait for "
              + describe(lock)
              + " was ended by an interrupt of the thread, whose flag is kept; nothing was written."
              + " Clear the flag (Thread.interrupted) before trying again");
    }
    LockOwner blocker = lock.owner();
    if (bySelf && blocker != null) {
      return selfDeadlock(lock, blocker);
    }
    return new LockTimeoutException(
        lock.tree.name(),
        lock.key,
        describe(lock)
            + " was still locked after a wait of "
            + TimeUnit.NANOSECONDS.toMillis(waited)
            + " ms, by "
            + (blocker == null ? "others" : blocker.describe(environment.clock().nanos())));
  }

  private SelfDeadlockException selfDeadlock(RecordLock lock, LockOwner blocker) {
    return new SelfDeadlockException(
        lock.tree.name(),
        lock.key,
        describe(lock)
            + " is locked by "
            + blocker.describe(environment.clock().nanos())
            + ", which is this one: it would wait for itself. Write through that transaction"
            + " (Transaction.put, or the method that takes it), or end it first");
  }

  /** Who owns the lock, in words, if it waits, at the end of the chain, for {@code owner}. */
  private static @Nullable String circle(LockOwner owner, RecordLock lock, Thread current) {
    LockOwner first = lock.owner();
    for (LockOwner next = first; next != null; ) {
      if (next == owner) {
        return first + ", which waits for this one, " + owner;
      }
      if (next.encloses(current)) {
        return first + ", which waits for " + next + " of this thread";
      }
      RecordLock wanted = next.waitsFor();
      LockOwner after = wanted == null ? null : wanted.owner();
      next = after == next ? null : after;
    }
    return null;
  }

  /** Gives all locks of an owner back. */
  public void releaseAll(LockOwner owner) {
    releaseFrom(owner, 0);
  }

  /** Gives all locks back but those that an owner had when it had so many. */
  public void releaseFrom(LockOwner owner, int count) {
    List<RecordLock> held = owner.held();
    for (int i = held.size() - 1; i >= count; i--) {
      release(held.remove(i));
    }
  }

  private void release(RecordLock lock) {
    if (lock instanceof RangeLock range) {
      // Those that wait for it get it in turn, and release it at once.
      rangesOf(lock.tree).remove(range);
    }
    LockOwner next = lock.handOn();
    if (next != null) {
      next.wake();
    } else if (!(lock instanceof RangeLock)) {
      ConcurrentNavigableMap<byte[], RecordLock> locks = trees.get(lock.tree.id());
      if (locks != null) {
        locks.remove(lock.key, lock);
        if (lock.tree.closed() && locks.isEmpty()) {
          // Locked after the tree was forgotten.
          trees.remove(lock.tree.id(), locks);
        }
      }
    }
  }

  /** Whether a commit of somebody else than {@code reader} is under way that writes a key. */
  boolean isCommitting(LockOwner reader, TreeHandle tree, byte[] key) {
    RecordLock lock = locks(tree).get(key);
    if (lock != null && isCommitting(reader, lock)) {
      return true;
    }
    RangeLock range = rangeOfOther(reader, tree, key);
    return range != null && isCommitting(reader, range);
  }

  private static boolean isCommitting(LockOwner reader, RecordLock lock) {
    LockOwner owner = lock.owner();
    return owner != null && owner != reader && owner.committing();
  }

  /** The first key in a range that a commit of somebody else writes, or null. */
  byte @Nullable [] committingIn(LockOwner reader, TreeHandle tree, KeySpan range) {
    ConcurrentNavigableMap<byte[], RecordLock> locks = locks(tree);
    byte[] low = range.low();
    RangeLock other =
        rangesOf(tree).ofOther(reader, lock -> lock.overlaps(range) && isCommitting(reader, lock));
    if (other != null) {
      return other.key;
    }
    for (RecordLock lock : (low == null ? locks : locks.tailMap(low, true)).values()) {
      if (range.isBefore(lock.key)) {
        return null;
      }
      if (isCommitting(reader, lock)) {
        return lock.key;
      }
    }
    return null;
  }

  /** A tree is gone, and with it the owners that lock its keys. */
  public void forget(TreeHandle tree) {
    trees.remove(tree.id());
    ranges.remove(tree.id());
  }

  /** Ends all waits with a {@link StoreClosedException}. */
  public void close() {
    closed = true;
    for (ConcurrentNavigableMap<byte[], RecordLock> locks : trees.values()) {
      for (RecordLock lock : locks.values()) {
        lock.wakeAll();
      }
    }
    ranges.values().forEach(RangeLocks::wakeAll);
  }

  private static String describe(RecordLock lock) {
    return lock instanceof RangeLock range ? range.text() : describe(lock.tree, lock.key);
  }

  /** A key of a tree for messages. */
  public static String describe(TreeHandle tree, byte[] key) {
    return "key " + ShownKey.of(key) + " of tree '" + tree.name() + "'";
  }
}
