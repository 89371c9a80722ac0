package io.isobardb.lsm.range;

import java.util.ArrayList;
import java.util.List;

/**
 * The range deletes of a tree that the log has and the manifest has not, all of them: a crash may
 * take back those that cover others.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class UnsavedRanges {
  /** By LSN, ascending. Guarded by this. */
  private final List<RangeDelete> all = new ArrayList<>();

  /** What they take on the heap. Guarded by this. */
  private long heapBytes;

  /** Adds one. Most come in the order of their LSNs. */
  public synchronized void add(RangeDelete delete) {
    all.add(countTo(delete.lsn()), delete);
    heapBytes += delete.heapBytes();
  }

  /** What they take on the heap, with their keys, in bytes; about. */
  public synchronized long heapBytes() {
    return heapBytes;
  }

  /** Those up to an LSN, ascending by LSN. */
  public synchronized List<RangeDelete> upTo(long lsn) {
    return List.copyOf(all.subList(0, countTo(lsn)));
  }

  /** The newest one up to an LSN; -1 if there is none. */
  public synchronized long newestLsn(long upTo) {
    int count = countTo(upTo);
    return count == 0 ? -1 : all.get(count - 1).lsn();
  }

  /** How many there are. */
  public synchronized int size() {
    return all.size();
  }

  public synchronized boolean isEmpty() {
    return all.isEmpty();
  }

  /** The oldest one that is newer than an LSN; {@link Long#MAX_VALUE} if there is none. */
  public synchronized long minLsn(long savedUpTo) {
    int count = countTo(savedUpTo);
    return count == all.size() ? Long.MAX_VALUE : all.get(count).lsn();
  }

  /** Those up to an LSN are in the manifest now. */
  public synchronized void onSaved(long upTo) {
    List<RangeDelete> saved = all.subList(0, countTo(upTo));
    for (RangeDelete delete : saved) {
      heapBytes -= delete.heapBytes();
    }
    saved.clear();
  }

  /** How many there are up to an LSN. */
  private int countTo(long lsn) {
    int low = 0;
    int high = all.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (all.get(middle).lsn() <= lsn) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
