package io.isobardb.lsm.recipe;

import io.isobardb.lsm.Tree;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.function.LongSupplier;

/**
 * The numbers of a queue's jobs: which come next, which consumers have, and from where on to look.
 * One for each tree of an open store. Any thread.
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

  /** No job has a number below, nor will one have. */
  private long first;

  /** Numbers of jobs that nobody may see yet. */
  private final NavigableSet<Long> adding = new TreeSet<>();

  private final Set<Long> taken = new HashSet<>();

  private QueuePlaces(long next) {
    this.next = next;
  }

  /** A number for a job, which is being added until {@link #end}. */
  synchronized long begin() {
    long number = next++;
    adding.add(number);
    return number;
  }

  synchronized void end(long number) {
    adding.remove(number);
  }

  /** All jobs with lower numbers can be seen, or will never be there. */
  synchronized long settled() {
    return adding.isEmpty() ? next : adding.first();
  }

  synchronized long first() {
    return first;
  }

  synchronized void nothingBefore(long number) {
    first = Math.max(first, number);
  }

  /** Takes a job; whether no other consumer has it. */
  synchronized boolean take(long number) {
    return taken.add(number);
  }

  synchronized void giveBack(long number) {
    taken.remove(number);
  }
}
