package io.isobardb.bench.crash;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** Holds what a killed process has left against what it had acknowledged. */
final class KillCheck {
  private final Store store;
  private final long made;

  /** By the time before the trees were read, and after that. */
  private final long from;

  private final long to;

  /** By tree and thread, which operations' keys are there. */
  private final BitSet[][] found = new BitSet[KillWorkload.TREES][KillWorkload.THREADS];

  /**
   * @param made when the store was, in milliseconds since the Unix epoch
   */
  KillCheck(Store store, long made) {
    this.store = store;
    this.made = made;
    this.from = System.currentTimeMillis();
    for (int tree = 0; tree < KillWorkload.TREES; tree++) {
      for (int thread = 0; thread < KillWorkload.THREADS; thread++) {
        found[tree][thread] = new BitSet();
      }
      if (store.treeNames().contains(KillWorkload.tree(tree))) {
        scan(tree, store.tree(KillWorkload.tree(tree)));
      }
    }
    this.to = System.currentTimeMillis();
  }

  private void scan(int index, Tree tree) {
    try (Cursor cursor = tree.cursor()) {
      for (boolean more = cursor.first(); more; more = cursor.next()) {
        String[] parts = new String(cursor.key(), US_ASCII).split("/");
        int thread = Integer.parseInt(parts[1]);
        long n = Long.parseLong(parts[2]);
        if (!KillWorkload.isIn(n, index)
            || !Arrays.equals(cursor.key(), KillWorkload.key(thread, n))
            || !Arrays.equals(cursor.value(), KillWorkload.value(thread, n))
            || !Objects.equals(cursor.expires(), expires(n, index))) {
          throw new AssertionError(
              "tree " + index + " holds what never was: " + String.join("/", parts));
        }
        if (n % 16 == 0
            && !KillWorkload.expires(n, index)
            && !Arrays.equals(cursor.value(), tree.get(cursor.key()))) {
          throw new AssertionError("a cursor and a lookup disagree about " + thread + "/" + n);
        }
        found[index][thread].set((int) n);
      }
    }
  }

  private @Nullable Instant expires(long n, int tree) {
    return KillWorkload.expires(n, tree)
        ? Instant.ofEpochMilli(KillWorkload.expiry(n, made))
        : null;
  }

  /**
   * A thread's next operation: the one after those that are there. Keys that have expired can't
   * tell whether the last one is; then sums do.
   *
   * @param done the last that has returned; one more may have been under way
   * @param owed whether the sum of {@code done} may lack it: an earlier victim was killed before it
   *     added to it, and this one has not come to that
   */
  long next(int thread, long done, boolean owed) {
    String wrong = null;
    for (long end = done + 2; end > done; end--) {
      long next = end;
      if (all(n -> isAsAfter(thread, n, next), done + 2)) {
        wrong = wrongSum(thread, next, owed ? done - 1 : done);
        if (wrong == null) {
          return next;
        }
      }
    }
    throw new AssertionError(
        wrong != null
            ? wrong
            : "thread "
                + thread
                + ": operation "
                + done
                + " has returned, but it or an earlier one is missing; the first one missing is "
                + firstMissing(thread));
  }

  /** Whether the last operation before {@code next} was killed before it added to its sum. */
  boolean owes(int thread, long next) {
    return next > 0 && sum(thread, next - 1) < KillWorkload.sumOf(next - 1, next);
  }

  /**
   * What is wrong with a thread's sums, if they are to be those of its operations before {@code
   * next}; null if nothing is. The last one may have been killed before it added to its sum, if it
   * is not a batch.
   *
   * @param added up to which operation that is known to have been done
   */
  private @Nullable String wrongSum(int thread, long next, long added) {
    for (long n = Math.max(0, next - KillWorkload.SUM_KEYS); n < next; n++) {
      long sum = sum(thread, n);
      long expected = KillWorkload.sumOf(n, next);
      boolean mayLack = n == next - 1 && n > added && !KillWorkload.isBatch(n);
      if (sum != expected && !(mayLack && sum == expected - 1)) {
        return "thread "
            + thread
            + ", the sum of operation "
            + n
            + ": "
            + sum
            + ", not "
            + expected
            + ", before operation "
            + next;
      }
    }
    return null;
  }

  private long sum(int thread, long n) {
    if (!store.treeNames().contains(KillWorkload.SUMS)) {
      return 0;
    }
    byte[] found = store.tree(KillWorkload.SUMS).get(KillWorkload.sum(thread, n));
    return found == null ? 0 : ByteBuffer.wrap(found).getLong();
  }

  private static boolean all(LongPredicate holds, long end) {
    for (long n = end; n >= 0; n--) {
      if (!holds.test(n)) {
        return false;
      }
    }
    return true;
  }

  /** Whether operation {@code n}'s keys are as after all operations before {@code next}. */
  private boolean isAsAfter(int thread, long n, long next) {
    long deletedBy = KillWorkload.deletedBy(n);
    boolean there = n < next && (deletedBy < 0 || deletedBy >= next);
    long expiry = KillWorkload.expiry(n, made);
    for (int tree = 0; tree < KillWorkload.TREES; tree++) {
      boolean expires = KillWorkload.expires(n, tree);
      boolean expected = there && KillWorkload.isIn(n, tree) && !(expires && expiry <= from);
      boolean seen = found[tree][thread].get((int) n);
      if (seen != expected && (seen || !expires || expiry > to)) {
        return false;
      }
    }
    return true;
  }

  private long firstMissing(int thread) {
    long n = 0;
    while (isAsAfter(thread, n, Long.MAX_VALUE)) {
      n++;
    }
    return n;
  }

  /**
   * The count that the unlogged tree stands at; -1 if there is none.
   *
   * @param saved the last count that a checkpoint had saved
   */
  long count(long saved) {
    long count = -1;
    long[] counts = new long[KillWorkload.COUNTER_KEYS];
    Arrays.fill(counts, -1);
    if (store.treeNames().contains(KillWorkload.COUNTER)) {
      try (Cursor cursor = store.tree(KillWorkload.COUNTER).cursor()) {
        for (boolean more = cursor.first(); more; more = cursor.next()) {
          counts[cursor.key()[0]] = Long.parseLong(new String(cursor.value(), US_ASCII));
          count = Math.max(count, counts[cursor.key()[0]]);
        }
      }
    }
    for (long n = count; n >= 0 && n > count - KillWorkload.COUNTER_KEYS; n--) {
      if (counts[(int) (n % KillWorkload.COUNTER_KEYS)] != n) {
        throw new AssertionError("the counter stands at " + count + ", but " + n + " is missing");
      }
    }
    if (count < saved) {
      throw new AssertionError("count " + saved + " was saved, but " + count + " is there");
    }
    return count;
  }
}
