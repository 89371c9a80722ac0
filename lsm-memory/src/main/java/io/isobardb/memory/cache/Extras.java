package io.isobardb.memory.cache;

import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * What makes reads of cached pages quicker, and lies beside them in memory that the cache has to
 * spare: indexes. It goes, the oldest first, before any page does: a cache that is full has none.
 *
 * <p>Thread rule: all methods may be called by any thread. Invariant: pages charged to {@link
 * Purpose#INDEXES} are at most {@link #pageCount}, which has those that are still to be taken.
 */
public final class Extras {
  /** One of them. Its pages are retired when it goes. */
  public interface Extra {
    /** Pages of the pool, charged to {@link Purpose#INDEXES}; always the same. */
    int[] pages();

    /**
     * Sees to it that no reader that comes finds it any more. Called once at most; must not wait.
     */
    void unlink();
  }

  private final PagePool pool;
  private final Set<Extra> all = new LinkedHashSet<>();
  private volatile int count;

  Extras(PagePool pool) {
    this.pool = pool;
  }

  /** How many pages they have, or are about to take. */
  int pageCount() {
    return count;
  }

  /** So many pages are about to be taken. */
  synchronized void expect(int pages) {
    count += pages;
  }

  /** Pages that were expected are not held after all. */
  public synchronized void cancel(int pages) {
    count -= pages;
  }

  /** One is there, of pages that were expected. */
  synchronized void add(Extra extra) {
    all.add(extra);
  }

  /** One is of no use any more, and goes, unless it has gone before. */
  public void remove(Extra extra) {
    boolean there;
    synchronized (this) {
      there = all.remove(extra);
    }
    if (there) {
      retire(extra);
    }
  }

  /** Gives up at least so many pages, if there are as many; how many it were. */
  int giveUp(int pages) {
    int given = 0;
    while (given < pages && count > 0) {
      Extra extra = takeOldest();
      if (extra == null) {
        break;
      }
      given += retire(extra);
    }
    return given;
  }

  /** Gives up those that have a page which is to leave. */
  void vacate(IntPredicate leaving) {
    Extra[] now;
    synchronized (this) {
      now = all.toArray(new Extra[0]);
    }
    for (Extra extra : now) {
      for (int page : extra.pages()) {
        if (leaving.test(page)) {
          remove(extra);
          break;
        }
      }
    }
  }

  private synchronized @Nullable Extra takeOldest() {
    Iterator<Extra> oldest = all.iterator();
    if (!oldest.hasNext()) {
      return null;
    }
    Extra extra = oldest.next();
    oldest.remove();
    return extra;
  }

  private int retire(Extra extra) {
    extra.unlink();
    int[] pages = extra.pages();
    pool.retire(pages, pages.length, Purpose.INDEXES);
    cancel(pages.length);
    return pages.length;
  }
}
