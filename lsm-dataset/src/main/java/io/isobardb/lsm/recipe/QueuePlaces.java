package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Tree;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * The numbers of a queue's jobs: which come next, which consumers have, and from where on to look.
 * One for each tree of an open store. Any thread.
 *
 * <p>A cursor looks at each deleted entry until merges have dropped it. So no search begins where
 * jobs were done before. What a slow consumer has, or a long transaction adds, is passed by, and
 * looked up by its number once it comes back.
 */
final class QueuePlaces {
  /** The queues of an open store. By tree: names go from one tree to another. */
  static final class Open {
    private final Map<Tree, QueuePlaces> byTree = new WeakHashMap<>();

    synchronized QueuePlaces of(Tree tree, LongSupplier next) {
      return byTree.computeIfAbsent(tree, queue -> new QueuePlaces(next.getAsLong()));
    }
  }

  private long next;

  /** Jobs below are gone, or among {@link #adding}, {@link #taken} or {@link #returned}. */
  private long first;

  /** Numbers of jobs that nobody may see yet. */
  private final NavigableSet<Long> adding = new TreeSet<>();

  private final NavigableSet<Long> taken = new TreeSet<>();

  /** Numbers below {@link #first} of jobs that may be there for anybody: they are looked up. */
  private final NavigableSet<Long> returned = new TreeSet<>();

  private final Set<Search> searches = new HashSet<>();

  private QueuePlaces(long next) {
    this.next = next;
  }

  /** Of a consumer that goes through the tree: where it begins, and what it may miss. */
  private static final class Search {
    private final long from;

    /** Numbers from here on were not given out when it began. */
    private final long end;

    /** The lowest number that came back since it began. */
    private long missed = Long.MAX_VALUE;

    Search(long from, long end) {
      this.from = from;
      this.end = end;
    }
  }

  /** A number for a job, which is being added until {@link #added}. */
  synchronized long begin() {
    long number = next++;
    adding.add(number);
    return number;
  }

  /** A job can be seen now, or will never be there. A consumer may have it already. */
  synchronized void added(long number) {
    adding.remove(number);
    comesBack(number);
  }

  /**
   * Takes the oldest job that no other consumer has, and that may be gone by then; -1 if there is
   * none.
   *
   * @param from a cursor over jobs from a number on
   * @param number that of the job at which it stands
   */
  long take(LongFunction<Cursor> from, ToLongFunction<Cursor> number) {
    long back = takeReturned();
    if (back >= 0) {
      return back;
    }
    Search search = beginSearch();
    long reached = search.from;
    try (Cursor cursor = from.apply(search.from)) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        long found = number.applyAsLong(cursor);
        if (takes(found)) {
          reached = found + 1;
          return found;
        }
      }
      reached = search.end;
      return -1;
    } finally {
      endSearch(search, reached);
    }
  }

  private synchronized boolean takes(long number) {
    return taken.add(number);
  }

  /** Takes the oldest of the jobs that came back behind the searches; -1 if there is none. */
  private synchronized long takeReturned() {
    for (Long number = returned.pollFirst(); number != null; number = returned.pollFirst()) {
      if (taken.add(number)) {
        return number;
      }
    }
    return -1;
  }

  /** Begins a search, before it sees the tree. */
  private synchronized Search beginSearch() {
    Search search = new Search(first, next);
    searches.add(search);
    return search;
  }

  /** Ends a search that has gone through all jobs below a number: the next one begins there. */
  private synchronized void endSearch(Search search, long reached) {
    searches.remove(search);
    first = Math.max(first, Math.min(reached, search.missed));
  }

  /** Nobody has a job any more: it is gone, or there for others. */
  synchronized void giveBack(long number, boolean gone) {
    taken.remove(number);
    if (!gone) {
      comesBack(number);
    }
  }

  private void comesBack(long number) {
    if (number < first) {
      returned.add(number);
    }
    for (Search search : searches) {
      search.missed = Math.min(search.missed, number);
    }
  }

  /** No job has a number below, nor will one have. */
  synchronized long lowest() {
    long lowest = first;
    for (NavigableSet<Long> others : List.of(adding, taken, returned)) {
      lowest = others.isEmpty() ? lowest : Math.min(lowest, others.first());
    }
    return lowest;
  }
}
