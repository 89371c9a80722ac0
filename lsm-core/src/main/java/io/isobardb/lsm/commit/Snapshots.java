package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.Visibility;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.wal.Log;
import io.isobardb.memory.pool.Epochs;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
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
 * <p>While somebody reads at an LSN, others join and leave without the monitor: they change a count
 * that is at least 1, so what is registered stays as it is. Whoever may be the first or the last at
 * an LSN takes the monitor.
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

  /** An LSN that somebody reads at. */
  private static final class Registered {
    private final long lsn;

    /** The same, as the key it is registered by: made once. */
    private final Long key;

    /** When it was registered first. */
    private final long nanos;

    /**
     * The store's time when each reader was registered, or earlier: not later than any behind it.
     * Changed under the monitor, and only to earlier times.
     */
    private volatile long millis;

    /** It is 0 once the LSN is not registered any more, and stays so. */
    private final AtomicInteger readers = new AtomicInteger(1);

    Registered(Long key, long nanos, long millis) {
      this.lsn = key;
      this.key = key;
      this.nanos = nanos;
      this.millis = millis;
    }

    /** Adds to the readers, of which there is more than {@code least}; whether it did. */
    boolean tryAdd(int change, int least) {
      int count = readers.get();
      while (count > least) {
        if (readers.compareAndSet(count, count + change)) {
          return true;
        }
        count = readers.get();
      }
      return false;
    }
  }

  private static final LongSupplier BEFORE_ALL = () -> 0;

  private final Log log;
  private final LongSupplier clock;
  private final StoreClock time;

  /** What is registered, by LSN. */
  private final TreeMap<Long, Registered> registered = new TreeMap<>();

  private volatile long newest = -1;

  /** What was registered last; may be over. */
  private volatile @Nullable Registered last;

  private long checkpoint;
  private final Epochs reads = new Epochs();

  /** In the order of their tags. */
  private final Deque<Closing> closing = new ArrayDeque<>();

  /**
   * @param log tells the LSN up to which all writes are applied
   * @param clock gives nanoseconds
   * @param time what entries expire by
   */
  public Snapshots(Log log, LongSupplier clock, StoreClock time) {
    this.log = log;
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
   * What has expired by this time is so for all that are registered, and for all that read later, a
   * crash or not, once the manifest has that time.
   */
  public synchronized long settledMillis() {
    settle();
    if (!time.isUsed()) {
      return 0;
    }
    long now = time.settledMillis();
    return registered.isEmpty() ? now : Math.min(now, registered.firstEntry().getValue().millis);
  }

  @Override
  public long visible() {
    return log.visible();
  }

  @Override
  public long newestSnapshot() {
    return newest;
  }

  /** Registers a reader at what is visible now; gives its LSN. */
  public long register() {
    Registered at = last;
    return at != null && at.lsn == log.visible() && told() >= at.millis && at.tryAdd(1, 0)
        ? at.lsn
        : registerVisible();
  }

  private synchronized long registerVisible() {
    settle();
    newest = Long.MAX_VALUE;
    long lsn = log.visible();
    add(lsn);
    newest = registered.lastKey();
    return lsn;
  }

  /**
   * Registers a reader at the oldest LSN that is registered, or at what is visible now if there is
   * none; gives it. All others read there or later, from now on for good.
   */
  public synchronized long registerOldest() {
    settle();
    if (registered.isEmpty()) {
      return register();
    }
    long lsn = registered.firstKey();
    add(lsn);
    return lsn;
  }

  /** Registers one more reader at an LSN that is registered. */
  public synchronized void retain(long lsn) {
    if (!registered.containsKey(lsn)) {
      throw new IllegalStateException("no snapshot at " + lsn);
    }
    add(lsn);
  }

  /** Ends one registration. */
  public void release(long lsn) {
    Registered at = last;
    if (at == null || at.lsn != lsn || !at.tryAdd(-1, 1)) {
      releaseRegistered(lsn);
    }
  }

  private synchronized void releaseRegistered(long lsn) {
    Registered at = last;
    if (at == null || at.lsn != lsn || at.readers.get() == 0) {
      at = registered.get(lsn);
    }
    if (at == null) {
      throw new IllegalStateException("no snapshot at " + lsn);
    }
    if (at.readers.decrementAndGet() == 0) {
      registered.remove(at.key);
      newest = registered.isEmpty() ? -1 : registered.lastKey();
    }
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
    Map.Entry<Long, Registered> first = registered.firstEntry();
    return first == null ? null : new Oldest(first.getKey(), first.getValue().nanos);
  }

  /** All registered LSNs, ascending, each once. */
  public synchronized long[] live() {
    settle();
    long[] all = new long[registered.size()];
    int count = 0;
    for (long lsn : registered.keySet()) {
      all[count++] = lsn;
    }
    return all;
  }

  /** As {@link #live}, with the last checkpoint's LSN, if there was a checkpoint. */
  public synchronized long[] liveAndCheckpoint() {
    settle();
    long[] live = live();
    if (checkpoint == 0) {
      return live;
    }
    long[] all = Arrays.copyOf(live, live.length + 1);
    all[live.length] = checkpoint;
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
    Long first = registered.ceilingKey(from);
    return first != null && first < to;
  }

  /** The last checkpoint's LSN: where unlogged trees stand after a crash; 0 if there was none. */
  public synchronized long checkpoint() {
    return checkpoint;
  }

  /** From now on, {@code lsn} is what unlogged trees are kept at. */
  public synchronized void setCheckpoint(long lsn) {
    checkpoint = lsn;
  }

  /** Not later than the time that a reader which is being registered is going to judge by. */
  private long told() {
    return time.isUsed() ? time.getAsLong() : time.lastMillis();
  }

  private void add(Long lsn) {
    long told = told();
    Registered at = registered.get(lsn);
    if (at == null) {
      at = new Registered(lsn, clock.getAsLong(), told);
      registered.put(lsn, at);
    } else {
      at.readers.incrementAndGet();
      at.millis = Math.min(at.millis, told);
    }
    last = at;
    // After a leap of the clock those before it may have a later time.
    Map.Entry<Long, Registered> before = registered.lowerEntry(lsn);
    while (before != null && before.getValue().millis > told) {
      before.getValue().millis = told;
      before = registered.lowerEntry(before.getKey());
    }
  }
}
