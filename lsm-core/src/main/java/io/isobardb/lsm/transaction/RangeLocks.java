package io.isobardb.lsm.transaction;

import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The ranges of one tree that are locked, by the owners that announced them. An owner that looks
 * whether others are in its way passes over its own at once, however many it has.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class RangeLocks {
  static final RangeLocks NONE = new RangeLocks();

  private final ConcurrentMap<LockOwner, Set<RangeLock>> byOwner = new ConcurrentHashMap<>();

  /** Changed under the monitor. */
  private volatile int count;

  /** Announces a range; or gives the one of somebody else that is in its way. */
  synchronized @Nullable RangeLock announce(RangeLock mine) {
    RangeLock other = ofOther(mine.announcer(), range -> range.overlaps(mine));
    if (other == null) {
      byOwner.computeIfAbsent(mine.announcer(), owner -> ConcurrentHashMap.newKeySet()).add(mine);
      count++;
      // An owner that announces a range looks for keys afterwards; one that locks a key looks here
      // afterwards.
      VarHandle.fullFence();
    }
    return other;
  }

  synchronized void remove(RangeLock lock) {
    Set<RangeLock> mine = byOwner.get(lock.announcer());
    if (mine != null && mine.remove(lock)) {
      count--;
      if (mine.isEmpty()) {
        byOwner.remove(lock.announcer());
      }
    }
  }

  /** A range that somebody else than this owner has announced, and that is wanted; or null. */
  @Nullable RangeLock ofOther(LockOwner owner, Predicate<RangeLock> wanted) {
    VarHandle.fullFence();
    if (count == 0) {
      return null;
    }
    for (Map.Entry<LockOwner, Set<RangeLock>> announced : byOwner.entrySet()) {
      if (announced.getKey() != owner) {
        for (RangeLock range : announced.getValue()) {
          if (range.owner() != owner && wanted.test(range)) {
            return range;
          }
        }
      }
    }
    return null;
  }

  /** Wakes all that wait for one of these. */
  void wakeAll() {
    byOwner.values().forEach(ranges -> ranges.forEach(RecordLock::wakeAll));
  }
}
