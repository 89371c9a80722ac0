package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.Visibility;
import io.isobardb.lsm.entry.RangeDeletes;
import io.isobardb.memory.pool.Epochs;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The LSNs that somebody still reads at.
 *
 * <p>A handle that many threads read from, and any may close, is released with {@link
 * #releaseAfterReads}: its LSN stays registered until the reads that have begun by then have ended.
 * A read calls {@link #beginRead} first and asks second whether its handle is open, so it either
 * sees that the handle is closed or keeps the LSN. Reads share no counter.
 *
 * <p>Why a registration races with nothing: a writer that prunes an older version reads the visible
 * LSN first and {@link #newestSnapshot} second. While a snapshot is being registered the latter is
 * {@link Long#MAX_VALUE}, so nothing is pruned; a writer that did not see that had read its visible
 * LSN before the snapshot took its own, and keeps the version which that snapshot sees. A merge
 * takes {@link #live} under the lock; its inputs were sealed before, so a snapshot registered later
 * sees only their newest versions.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Snapshots implements Visibility, RangeDeletes.Readers {
  /**
   * The oldest LSN that is registered.
   *
   * @param lsn what is read at
   * @param nanos when it was registered first
   */
  public record Oldest(long lsn, long nanos) {}

  /** An LSN to release once the epochs have passed {@code tag}. */
  private record Closing(long lsn, long tag) {}

  private static final LongSupplier BEFORE_ALL = () -> 0;

  private final LongSupplier visible;
  private final LongSupplier clock;
  private final StoreClock time;
  private long[] lsns = new long[8];

  /** When each was registered, or an equal one before it. */
  private long[] nanos = new long[8];

  /**
   * The store's time when each was registered, or an earlier one: not later than that of any behind
   * it, and the same for equal LSNs.
   */
  private long[] millis = new long[8];

  private int count;
  private volatile long newest = -1;
  private long checkpoint;
  private final Epochs reads = new Epochs();

  /** In the order of their tags. */
  private final Deque<Closing> closing = new ArrayDeque<>();

  /**
   * @param visible the LSN up to which all writes are applied
   * @param clock gives nanoseconds
   * @param time what entries expire by
   */
  public Snapshots(LongSupplier visible, LongSupplier clock, StoreClock time) {
    this.visible = visible;
    this.clock = clock;
    this.time = time;
  }

  /** What entries expire by. */
  public StoreClock time() {
    return time;
  }

  /** To read from now on at an LSN that has just been registered. */
  public Moment moment(long lsn) {
    // What the LSN sees was not there before the clock was used.
    return time.isUsed() ? Moment.at(lsn, time.getAsLong()) : new Moment(lsn, BEFORE_ALL);
  }

  /**
   * What has expired by this time is so for all who are registered, and for all who read later, a
   * crash or not, once the manifest has that time.
   */
  public synchronized long settledMillis() {
    settle();
    if (!time.isUsed()) {
      return 0;
    }
    long now = time.settledMillis();
    return count == 0 ? now : Math.min(now, millis[0]);
  }

  @Override
  public long visible() {
    return visible.getAsLong();
  }

  @Override
  public long newestSnapshot() {
    return newest;
  }

  /** Registers a reader at what is visible now; gives its LSN. */
  public synchronized long register() {
    settle();
    newest = Long.MAX_VALUE;
    long lsn = visible.getAsLong();
    add(lsn);
    newest = lsns[count - 1];
    return lsn;
  }

  /**
   * Registers a reader at the oldest LSN that is registered, or at what is visible now if there is
   * none; gives it. All others read there or later, from now on for good.
   */
  public synchronized long registerOldest() {
    settle();
    if (count == 0) {
      return register();
    }
    long lsn = lsns[0];
    add(lsn);
    return lsn;
  }

  /** Registers one more reader at an LSN that is registered. */
  public synchronized void retain(long lsn) {
    if (Arrays.binarySearch(lsns, 0, count, lsn) < 0) {
      throw new IllegalStateException("no snapshot at " + lsn);
    }
    add(lsn);
  }

  /** Ends one registration. */
  public synchronized void release(long lsn) {
    int at = Arrays.binarySearch(lsns, 0, count, lsn);
    if (at < 0) {
      throw new IllegalStateException("no snapshot at " + lsn);
    }
    System.arraycopy(lsns, at + 1, lsns, at, count - at - 1);
    System.arraycopy(nanos, at + 1, nanos, at, count - at - 1);
    System.arraycopy(millis, at + 1, millis, at, count - at - 1);
    count--;
    newest = count == 0 ? -1 : lsns[count - 1];
  }

  /**
   * Begins a read. What is registered now stays registered until {@link #endRead}, unless it is
   * released by {@link #release}.
   *
   * @return what to hand to {@link #endRead}
   */
  public int beginRead() {
    return reads.enter();
  }

  /** Ends the read that {@link #beginRead} began. */
  public void endRead(int read) {
    reads.exit(read);
  }

  /**
   * Ends one registration once all reads that have begun by now have ended. Returns at once; the
   * registration may last until the registry is next asked for what is live.
   */
  public synchronized void releaseAfterReads(long lsn) {
    closing.addLast(new Closing(lsn, reads.advance()));
    settle();
  }

  /** Ends registrations whose reads have ended. The monitor is held. */
  private void settle() {
    while (!closing.isEmpty() && reads.passed(closing.getFirst().tag())) {
      release(closing.removeFirst().lsn());
    }
  }

  /** The oldest that is registered, or null. */
  public synchronized @Nullable Oldest oldest() {
    settle();
    return count == 0 ? null : new Oldest(lsns[0], nanos[0]);
  }

  /** All registered LSNs, ascending. */
  public synchronized long[] live() {
    settle();
    return Arrays.copyOf(lsns, count);
  }

  /** As {@link #live}, with the last checkpoint's LSN, if there was a checkpoint. */
  public synchronized long[] liveAndCheckpoint() {
    settle();
    if (checkpoint == 0) {
      return live();
    }
    long[] all = Arrays.copyOf(lsns, count + 1);
    all[count] = checkpoint;
    Arrays.sort(all);
    return all;
  }

  /** Whether a reader is registered from {@code from} on, before {@code to}, or the checkpoint. */
  @Override
  public synchronized boolean in(long from, long to) {
    settle();
    if (checkpoint >= from && checkpoint < to) {
      return true;
    }
    int at = Arrays.binarySearch(lsns, 0, count, from);
    int first = at < 0 ? -at - 1 : at;
    return first < count && lsns[first] < to;
  }

  /** The last checkpoint's LSN: where unlogged trees stand after a crash; 0 if there was none. */
  public synchronized long checkpoint() {
    return checkpoint;
  }

  /** From now on, {@code lsn} is what unlogged trees are kept at. */
  public synchronized void setCheckpoint(long lsn) {
    checkpoint = lsn;
  }

  private void add(long lsn) {
    if (count == lsns.length) {
      lsns = Arrays.copyOf(lsns, count * 2);
      nanos = Arrays.copyOf(nanos, count * 2);
      millis = Arrays.copyOf(millis, count * 2);
    }
    int at = Arrays.binarySearch(lsns, 0, count, lsn);
    long since = at < 0 ? clock.getAsLong() : nanos[at];
    // Not later than the time that the reader is going to judge by.
    long told = time.isUsed() ? time.getAsLong() : time.lastMillis();
    if (at < 0) {
      at = -at - 1;
    } else {
      // Any of those with this LSN may be released first.
      told = Math.min(told, millis[at]);
      for (int i = at; i < count && lsns[i] == lsn && millis[i] > told; i++) {
        millis[i] = told;
      }
    }
    // After a leap of the clock those before it may have a later time.
    for (int i = at - 1; i >= 0 && millis[i] > told; i--) {
      millis[i] = told;
    }
    System.arraycopy(lsns, at, lsns, at + 1, count - at);
    System.arraycopy(nanos, at, nanos, at + 1, count - at);
    System.arraycopy(millis, at, millis, at + 1, count - at);
    lsns[at] = lsn;
    nanos[at] = since;
    millis[at] = told;
    count++;
  }
}
