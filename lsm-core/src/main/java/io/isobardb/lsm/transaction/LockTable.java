package io.isobardb.lsm.transaction;

import io.isobardb.lsm.entry.KeyOrder;
import io.isobardb.lsm.error.DeadlockException;
import io.isobardb.lsm.error.LockTimeoutException;
import io.isobardb.lsm.error.StoreClosedException;
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
 * <p>All locks of an owner are held until its end, and each waits for one lock at a time. So who
 * waits for whom is a chain, and whoever closes it to a circle by waiting finds out by walking
 * along it: he is the one told to give up. Walks take turns, so that one circle costs one victim. A
 * step of a walk that others change meanwhile misleads nobody: as long as an owner waits, it
 * releases nothing.
 *
 * <p>Locks are handed on to the one who waits longest.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class LockTable {
  private static final int KEY_TEXT_BYTES = 24;

  private final Environment environment;
  private final ConcurrentMap<Integer, ConcurrentNavigableMap<byte[], RecordLock>> trees =
      new ConcurrentHashMap<>();
  private final AtomicLong ids = new AtomicLong();
  private final Object walks = new Object();
  private volatile boolean closed;

  public LockTable(Environment environment) {
    this.environment = environment;
  }

  /** A new owner, without locks. */
  public LockOwner newOwner() {
    return new LockOwner(ids.incrementAndGet(), environment.clock().nanos());
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
   * @throws LockTimeoutException if it is somebody else's for so long; what is held stays held
   * @throws DeadlockException if the wait would have no end; what is held stays held
   */
  public boolean lock(LockOwner owner, TreeHandle tree, byte[] key, long timeoutNanos) {
    ConcurrentNavigableMap<byte[], RecordLock> locks = locks(tree);
    while (true) {
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
    synchronized (walks) {
      owner.waitsFor(lock);
      LockOwner blocker = circle(owner, lock);
      if (blocker != null) {
        owner.waitsFor(null);
        throw new DeadlockException(
            lock.tree.name(),
            lock.key,
            describe(lock)
                + " is locked by transaction "
                + blocker.id()
                + ", which waits for this one, number "
                + owner.id()
                + ": roll back, and try again");
      }
      if (!lock.enqueue(owner)) {
        owner.waitsFor(null);
        return false;
      }
    }
    if (!granted.await(() -> lock.owner() == owner || closed, timeoutNanos) || closed) {
      if (lock.leave(owner)) {
        owner.waitsFor(null);
        throw notGranted(lock, timeoutNanos);
      }
    }
    owner.held().add(lock);
    return true;
  }

  private RuntimeException notGranted(RecordLock lock, long timeoutNanos) {
    if (closed) {
      return new StoreClosedException("the store was closed during a wait for a lock");
    }
    LockOwner blocker = lock.owner();
    String by =
        blocker == null
            ? "others"
            : "transaction "
                + blocker.id()
                + ", which began "
                + millis(environment.clock().nanos() - blocker.startNanos())
                + " ms ago";
    return new LockTimeoutException(
        lock.tree.name(),
        lock.key,
        describe(lock) + " was locked for " + millis(timeoutNanos) + " ms by " + by);
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  /** Who owns the lock, if he waits, at the end of the chain, for {@code owner}. */
  private static @Nullable LockOwner circle(LockOwner owner, RecordLock lock) {
    LockOwner first = lock.owner();
    for (LockOwner next = first; next != null; ) {
      if (next == owner) {
        return first;
      }
      RecordLock wanted = next.waitsFor();
      LockOwner after = wanted == null ? null : wanted.owner();
      next = after == next ? null : after;
    }
    return null;
  }

  /** Gives all locks of an owner back. */
  public void releaseAll(LockOwner owner) {
    List<RecordLock> held = owner.held();
    for (int i = held.size() - 1; i >= 0; i--) {
      RecordLock lock = held.get(i);
      LockOwner next = lock.handOn();
      if (next != null) {
        next.wake();
      } else {
        ConcurrentNavigableMap<byte[], RecordLock> locks = trees.get(lock.tree.id());
        if (locks != null) {
          locks.remove(lock.key, lock);
        }
      }
    }
    held.clear();
  }

  /** Whether a commit of somebody else than {@code reader} is under way that writes a key. */
  boolean isCommitting(LockOwner reader, TreeHandle tree, byte[] key) {
    RecordLock lock = locks(tree).get(key);
    return lock != null && isCommitting(reader, lock);
  }

  private static boolean isCommitting(LockOwner reader, RecordLock lock) {
    LockOwner owner = lock.owner();
    return owner != null && owner != reader && owner.committing();
  }

  /** The first key in a range that a commit of somebody else writes, or null. */
  byte @Nullable [] committingIn(LockOwner reader, TreeHandle tree, KeyRange range) {
    ConcurrentNavigableMap<byte[], RecordLock> locks = locks(tree);
    byte[] low = range.low();
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

  /** A tree is gone, and with it those who lock its keys. */
  public void forget(TreeHandle tree) {
    trees.remove(tree.id());
  }

  /** Ends all waits with a {@link StoreClosedException}. */
  public void close() {
    closed = true;
    for (ConcurrentNavigableMap<byte[], RecordLock> locks : trees.values()) {
      for (RecordLock lock : locks.values()) {
        lock.wakeAll();
      }
    }
  }

  private static String describe(RecordLock lock) {
    return describe(lock.tree, lock.key);
  }

  /** A key of a tree for messages. */
  static String describe(TreeHandle tree, byte[] key) {
    StringBuilder text = new StringBuilder("key ");
    int shown = Math.min(key.length, KEY_TEXT_BYTES);
    boolean printable = true;
    for (int i = 0; i < shown; i++) {
      printable &= key[i] >= ' ' && key[i] <= '~';
    }
    if (printable) {
      text.append('\'');
    } else {
      text.append("0x");
    }
    for (int i = 0; i < shown; i++) {
      if (printable) {
        text.append((char) key[i]);
      } else {
        text.append(Character.forDigit(key[i] >> 4 & 15, 16))
            .append(Character.forDigit(key[i] & 15, 16));
      }
    }
    text.append(shown < key.length ? "..." : "").append(printable ? "'" : "");
    return text.append(" of tree '").append(tree.name()).append('\'').toString();
  }
}
