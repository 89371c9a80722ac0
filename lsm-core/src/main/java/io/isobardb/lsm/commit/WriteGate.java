package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.FirstRoom;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.event.StallCounter;
import io.isobardb.lsm.event.StallSpan;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.BandwidthRules;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits writes while there is write memory, slows them down while it gets scarce, and makes them
 * wait when there is none.
 *
 * <p>Writers pass it before they hold anything. Below the trigger it costs two reads. Between the
 * trigger and the limit a flush is asked for; before the limit writers are paced as {@link
 * Backpressure} says; at the limit they wait. All in bytes.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class WriteGate implements StallCounter {
  /** The longest value of all, in bytes. */
  public static final int MAX_VALUE = 1 << 30;

  /** Waits shorter than this are left to add up. */
  private static final long MIN_WAIT_NANOS = 500_000;

  private static final long MAX_WAIT_NANOS = 5_000_000;

  /** The longest delay for merges' sake, which take longer to catch up than flushes do. */
  private static final long MAX_MERGE_WAIT_NANOS = 50_000_000;

  /** What merges did so long ago counts for a third. */
  private static final double MERGED_NANOS = 5e9;

  /** How long flushes make room for a write that was refused. */
  private static final long WISH_NANOS = 1_000_000_000;

  private final PagePool pool;
  private final FirstRoom firstRoom;
  private final Clock clock;
  private final Signal freed;
  private final Observers observers;
  private final Relief relief;
  private final AtomicLong nextSlotNanos = new AtomicLong();
  private final StallTimes[] stalls = new StallTimes[StallReason.values().length];

  /** What each of the writes needs that wait now, and how many of them as much. */
  private final TreeMap<Long, Integer> waiting = new TreeMap<>();

  /** The most that one of them needs: flushes go on until that fits. */
  private volatile long wantedBytes;

  /** What writes may take that take their pages now. */
  private final AtomicLong claimed = new AtomicLong();

  /** How many writes wait for what others have claimed. */
  private final AtomicInteger claimants = new AtomicInteger();

  /** Writes that were refused since they would have waited longer than they may. */
  private final LongAdder refused = new LongAdder();

  /** What the largest of those needs that were refused lately: they come again. */
  private volatile Wish wish = new Wish(0, 0);

  /** How many writes have been admitted and found no page. */
  private final AtomicInteger starving = new AtomicInteger();

  private volatile long limitBytes;

  /** What is in use when flushes begin. */
  private volatile long triggerBytes;

  private volatile long grantBytes;
  private volatile long relieved;
  private final Backpressure.Limits limits;
  private final Fullness fullness;
  private volatile FullL0 l0 = FullL0.none(L0Limits.DEFAULT);
  private volatile long debtBytes;
  private volatile double logPressure;

  /** Whether writers are slowed down or wait, however much memory there is. */
  private volatile boolean slowed;

  private volatile boolean closed;
  private volatile Backpressure.Freed freedRates = new Backpressure.Freed(0.1, 1e6, 0, 0, 1);

  /** What a write needs that was refused, and until when flushes keep to that. */
  private record Wish(long bytes, long untilNanos) {}

  /** The rate of the last write that was paced for merges. */
  private record Rate(double bytesPerNano, long nanos) {}

  private volatile Rate lastRate = new Rate(0, 0);

  /** What merges take out of L0, when it was last looked at. */
  private volatile Rate merged = new Rate(0, 0);

  /** By how much merges make the debt less, when it was last looked at. */
  private volatile Rate paid = new Rate(0, 0);

  /** What the gate asks of the rest of the store, on the threads of writers. */
  public interface Relief {
    /** Asks for flushes. Called often; returns at once. */
    void requestFlush();

    /** As {@link #requestFlush}, for a write that need not wait. May be passed over. */
    void suggestFlush();

    /** Throws if the store takes no more writes. */
    void checkWritable();

    /** Throws if flushes have no room on disk. */
    void checkSpace();

    /**
     * Makes the write memory larger, if it can, for a write of this size that fits into what was
     * {@linkplain #grant granted}.
     *
     * @param nanos how long that may wait for a change of the budget
     * @return false if that is not long enough
     */
    boolean makeRoom(long bytes, long nanos);
  }

  /**
   * @param firstRoom what of the write memory lies on the heap; the rest are pages of its pool
   * @param limitBytes the size of the write memory
   */
  public WriteGate(
      FirstRoom firstRoom,
      Environment environment,
      Observers observers,
      Relief relief,
      long limitBytes,
      Backpressure.Limits limits) {
    this.limits = limits;
    this.fullness = limits.memory();
    this.firstRoom = firstRoom;
    this.pool = firstRoom.pool();
    this.clock = environment.clock();
    this.freed = environment.scheduler().signal(Awaited.MEMORY);
    this.observers = observers;
    this.relief = relief;
    this.limitBytes = limitBytes;
    this.triggerBytes = fullness.flushFrom(limitBytes);
    this.grantBytes = limitBytes;
    for (int i = 0; i < stalls.length; i++) {
      stalls[i] = new StallTimes(clock);
    }
  }

  /** The size of the write memory in bytes. */
  public long limitBytes() {
    return limitBytes;
  }

  /** Moves the wall between write memory and buffer cache. */
  public void setLimitBytes(long bytes) {
    limitBytes = bytes;
    firstRoom.setLimitBytes(bytes);
    triggerBytes = fullness.flushFrom(bytes);
    freed.raise();
  }

  /**
   * Says what can be written at once however small the write memory becomes: half of {@code bytes}.
   */
  public void grant(long bytes) {
    grantBytes = bytes;
  }

  /** See {@link #grant}. */
  public long grantBytes() {
    return grantBytes;
  }

  /** The longest value that a write may have, in bytes. */
  public int maxValueBytes() {
    return (int) Math.min(grantBytes / 4, MAX_VALUE);
  }

  /** The size of write memory at which what is in use would only just be no reason to flush. */
  public long limitForUse() {
    return fullness.limitFor(usedBytes() + wanted());
  }

  /** What first entries of trees, on the heap, take of the write memory. */
  public FirstRoom firstRoom() {
    return firstRoom;
  }

  /** Write memory in use, in bytes. */
  public long usedBytes() {
    return pool.approximateBytes(Purpose.WRITE) + firstRoom.bytes();
  }

  /** Write memory that is not in use, less what a writer waits for, in bytes. */
  public long spareBytes() {
    long limit = limitBytes;
    return Math.max(0, Fullness.lendable(limit) - usedBytes() - wantedBytes);
  }

  /** Whether flushes should go on. */
  public boolean pressed() {
    return excessBytes() > 0;
  }

  /** What flushes may leave in memory, however much trees are to keep. */
  public long mostKeptBytes() {
    return fullness.mostKept(limitBytes, wanted());
  }

  /** Whether so little is left that nothing but writes should take more. */
  public boolean scarce() {
    return usedBytes() > fullness.nearlyFull(limitBytes);
  }

  /** Whether writers wait for flushes that let the log be cut. */
  public boolean isLogFull() {
    return logPressure > 1;
  }

  /** Whether more is in use than the write memory and this many bytes. */
  public boolean overdrawn(long bytes) {
    return usedBytes() > limitBytes + bytes;
  }

  /** Bytes to free until the pressure is off; 0 or less if there is none. */
  public long excessBytes() {
    long excess = usedBytes() + wanted() - triggerBytes;
    // Whatever the numbers say: a write that was admitted has no page.
    return starving.get() == 0 ? excess : Math.max(excess, wanted());
  }

  /**
   * Lets a write pass that needs about {@code bytes} of write memory.
   *
   * @throws IllegalArgumentException if it would never fit
   * @throws IllegalStateException if a listener writes: what frees memory, or syncs, may wait for
   *     it
   * @throws WriteStalledException if it would wait longer than {@code limit} says
   */
  public void admit(long bytes, WaitLimit limit) {
    admit(bytes, bytes, limit);
  }

  /**
   * As {@link #admit(long, WaitLimit)}, for a write of {@code bytes} that needs more room than
   * that.
   *
   * @param room waited for, as far as there can be so much
   */
  void admit(long bytes, long room, WaitLimit limit) {
    observers.refuseWhileTelling("a write");
    long used = usedBytes();
    if (used + room > triggerBytes || slowed) {
      admitSlowly(bytes, room, limit);
    }
  }

  /**
   * Lets what replay found pass: of any size that fits into the write memory once that is empty.
   */
  void admitReplayed(long bytes) {
    if (usedBytes() + bytes > triggerBytes) {
      relief.requestFlush();
      if (!admits(bytes)) {
        await(bytes, new WaitLimit());
      }
    }
  }

  /**
   * Whether a write that has passed, and may have waited for something else since, could pass now
   * without a wait. Nothing is kept for writers that have passed.
   */
  boolean admits(long room) {
    return usedBytes() + atMost(room) <= limitBytes && !isLogFull();
  }

  private long wanted() {
    Wish wished = wish;
    boolean counts = wished.bytes() > 0 && clock.nanos() < wished.untilNanos();
    return atMost(counts ? Math.max(wantedBytes, wished.bytes()) : wantedBytes);
  }

  /** What a write may wait for: something may stay in memory. */
  private long atMost(long room) {
    return Math.min(room, triggerBytes);
  }

  private void admitSlowly(long bytes, long room, WaitLimit limit) {
    if (bytes > Fullness.largestWrite(limitBytes)
        && bytes <= Fullness.largestWrite(grantBytes)
        && !relief.makeRoom(bytes, limit.leftNanos(clock))) {
      throw refusal(StallReason.MEMORY_FULL, atMost(bytes), limit);
    }
    long most = limitBytes;
    if (bytes > Fullness.largestWrite(most)) {
      throw new IllegalArgumentException(
          "a write takes "
              + bytes
              + " bytes of memory, which is more than half of the write memory of "
              + Math.max(most, grantBytes)
              + " bytes; raise the memory budget or write less at once");
    }
    relief.suggestFlush();
    if (!admits(room)) {
      await(atMost(room), limit);
      return;
    }
    Backpressure.View view = pressures();
    if (slowed || view.memory() > 0) {
      pace(bytes, view, limit);
    }
  }

  /** At each look of a writer that waits: false, or an exception if nothing will end the wait. */
  private boolean seeksRelief() {
    relief.checkWritable();
    relief.checkSpace();
    relief.requestFlush();
    return false;
  }

  /** Waits until the write's bytes fit. */
  private void await(long bytes, WaitLimit limit) {
    StallReason reason = fullness();
    if (!limit.isForever()) {
      seeksRelief();
      checkExpected(reason, bytes, limit);
    }
    StallSpan span = beginStall(reason);
    boolean over;
    beginWait(bytes);
    try {
      over = limit.await(freed, clock, () -> closed || admits(bytes) || seeksRelief());
    } finally {
      endWait(bytes);
      endStall(span);
    }
    if (closed) {
      throw closedWhileWaiting();
    }
    relief.checkWritable();
    if (!over) {
      throw refusal(fullness(), bytes, limit);
    }
  }

  /** What is full, if a write has to wait. */
  private StallReason fullness() {
    if (l0.isFull()) {
      return StallReason.L0_FULL;
    }
    return isLogFull() ? StallReason.LOG_FULL : StallReason.MEMORY_FULL;
  }

  /** Passes if a write has time for the wait that is expected. */
  private void checkExpected(StallReason reason, long bytes, WaitLimit limit) {
    long left = limit.leftNanos(clock);
    if (left == 0 || expectedNanos(reason, bytes) > left) {
      throw refusal(reason, bytes, limit);
    }
  }

  private long expectedNanos(StallReason reason, long bytes) {
    long missing = usedBytes() + bytes - limitBytes;
    return Backpressure.expectedNanos(reason, missing, pressures(), freed());
  }

  /** Turns a write of so many bytes away, and has flushes make room for when it comes again. */
  private WriteStalledException refusal(StallReason reason, long bytes, WaitLimit limit) {
    long now = clock.nanos();
    Wish before = wish;
    long most = now < before.untilNanos() ? Math.max(before.bytes(), bytes) : bytes;
    wish = new Wish(most, now + WISH_NANOS);
    relief.requestFlush();
    return refusal(reason, limit, expectedNanos(reason, bytes));
  }

  private WriteStalledException refusal(StallReason reason, WaitLimit limit, long expectedNanos) {
    countRefusal();
    boolean isOfL0 = reason == StallReason.L0_FULL || reason == StallReason.L0_DELAY;
    return limit.refusal(reason, isOfL0 ? l0.tree() : null, expectedNanos);
  }

  @Override
  public void countRefusal() {
    refused.increment();
  }

  /** How many writes were refused since they would have waited longer than they may. */
  public long refused() {
    return refused.sum();
  }

  /**
   * Takes a share of the write memory for a large write that is about to take its pages. Waits
   * while those before it have it, or have filled it: writes that take all of it between them must
   * not wait for each other once they have begun. The caller holds no page and no LSN yet.
   *
   * @param bytes what it takes at most
   * @return what to hand to {@link #unclaim}
   * @throws WriteStalledException if it would wait longer than {@code limit} says
   */
  long claim(long bytes, WaitLimit limit) {
    long claim = tryClaim(bytes);
    return claim > 0 ? claim : awaitClaim(bytes, limit);
  }

  private long awaitClaim(long bytes, WaitLimit limit) {
    if (!limit.isForever()) {
      seeksRelief();
      checkExpected(StallReason.MEMORY_FULL, atMost(bytes), limit);
    }
    StallSpan span = beginStall(StallReason.MEMORY_FULL);
    long[] claim = {0};
    claimants.incrementAndGet();
    beginWait(bytes);
    try {
      limit.await(
          freed,
          clock,
          () -> {
            claim[0] = claim[0] > 0 ? claim[0] : tryClaim(bytes);
            return closed || claim[0] > 0 || seeksRelief();
          });
    } finally {
      endWait(bytes);
      claimants.decrementAndGet();
      endStall(span);
    }
    if (claim[0] > 0) {
      return claim[0];
    }
    if (closed) {
      throw closedWhileWaiting();
    }
    throw refusal(StallReason.MEMORY_FULL, atMost(bytes), limit);
  }

  /** What was claimed: less than {@code bytes} if there never is so much; 0 if nothing was. */
  long tryClaim(long bytes) {
    while (true) {
      // The limit may change while somebody waits.
      long claim = atMost(bytes);
      long others = claimed.get();
      if (usedBytes() + others + claim > limitBytes) {
        return 0;
      }
      if (claimed.compareAndSet(others, others + claim)) {
        return claim;
      }
    }
  }

  /** Ends a {@link #claim}. */
  void unclaim(long bytes) {
    if (bytes > 0) {
      claimed.addAndGet(-bytes);
      if (claimants.get() > 0) {
        freed.raise();
      }
    }
  }

  private static StoreClosedException closedWhileWaiting() {
    return new StoreClosedException("the store was closed while a write waited for memory");
  }

  private synchronized void beginWait(long bytes) {
    waiting.merge(bytes, 1, Integer::sum);
    wantedBytes = waiting.lastKey();
  }

  private synchronized void endWait(long bytes) {
    waiting.computeIfPresent(bytes, (same, writes) -> writes == 1 ? null : writes - 1);
    wantedBytes = waiting.isEmpty() ? 0 : waiting.lastKey();
  }

  /**
   * Waits, for a write that is kept back by what others hold, until that is over. It is looked at
   * again when a flush or a merge ends.
   *
   * @throws WriteStalledException if that takes longer than {@code limit} says
   */
  public void await(StallReason reason, BooleanSupplier over, WaitLimit limit) {
    StallSpan span = beginStall(reason);
    boolean ended;
    try {
      ended =
          limit.await(
              freed,
              clock,
              () -> closed || over.getAsBoolean() || seeksRelief() || over.getAsBoolean());
    } finally {
      endStall(span);
    }
    if (closed) {
      throw closedWhileWaiting();
    }
    relief.checkWritable();
    if (!ended) {
      throw refusal(reason, limit, WaitLimit.UNKNOWN);
    }
  }

  private Backpressure.View pressures() {
    return new Backpressure.View(
        fullness.slow(usedBytes(), limitBytes),
        Math.max(0, limitBytes - usedBytes()),
        logPressure,
        l0,
        debtBytes);
  }

  /** Whom background work keeps waiting soon, if it is not faster. */
  public BandwidthRules.Pressure pressure() {
    FullL0 fullest = l0;
    if (debtBytes >= Backpressure.slowDebt(limits.debtBytes()) / 4 * 3 || fullest.nearlyFull()) {
      return BandwidthRules.Pressure.ALL;
    }
    boolean writers =
        usedBytes() + wanted() > fullness.pressing(limitBytes)
            || logPressure > 0
            || fullest.nearlySlows();
    if (writers) {
      return BandwidthRules.Pressure.WRITERS;
    }
    return fullest.slowsReads() ? BandwidthRules.Pressure.READERS : BandwidthRules.Pressure.NONE;
  }

  /** Takes the write's turn in a line that moves the slower the greater the pressure is. */
  private void pace(long bytes, Backpressure.View view, WaitLimit limit) {
    Backpressure.Pace pace = Backpressure.pace(view, limits, freed());
    StallReason reason = pace.reason();
    if (reason == null) {
      return;
    }
    long most = pace.forMerges() ? MAX_MERGE_WAIT_NANOS : MAX_WAIT_NANOS;
    long now = clock.nanos();
    long cost = (long) (bytes / rate(pace, now));
    long latest = now + most;
    if (!limit.isForever()) {
      // Before it takes its turn, which others would wait for.
      long wait = Math.min(most, Math.min(latest, Math.max(nextSlotNanos.get(), now)) + cost - now);
      if (wait >= MIN_WAIT_NANOS && wait > limit.leftNanos(clock)) {
        throw refusal(reason, limit, wait);
      }
    }
    long slot = nextSlotNanos.updateAndGet(next -> Math.min(latest, Math.max(next, now)) + cost);
    long wait = Math.min(slot - now, most);
    if (wait < MIN_WAIT_NANOS) {
      return;
    }
    StallSpan span = beginStall(reason);
    try {
      freed.await(
          () -> closed || Backpressure.pace(pressures(), limits, freed()).reason() == null, wait);
    } finally {
      endStall(span);
    }
  }

  /** Bytes in a nanosecond. For memory and log they follow at once, for merges they fall slowly. */
  private double rate(Backpressure.Pace pace, long now) {
    double rate = pace.rate();
    if (pace.forMerges()) {
      Rate before = lastRate;
      rate = Backpressure.eased(before.bytesPerNano(), now - before.nanos(), rate);
      lastRate = new Rate(rate, now);
    }
    return rate;
  }

  @Override
  public StallSpan beginStall(StallReason reason) {
    return StallSpan.start(reason, stalls[reason.ordinal()].begin());
  }

  @Override
  public void endStall(StallSpan span) {
    long nanos = stalls[span.why().ordinal()].end() - span.startNanos();
    observers.onStalled(span, new StoreListener.Stall(span.why(), nanos));
  }

  /**
   * Waits, for a write that was admitted but found no page, until the write memory has shrunk or a
   * flush has ended. The gate makes this rare.
   *
   * @param canTurnBack how long it may still wait, if the write has not begun, so that a full disk
   *     may end it, or the store's closing; null if it has begun
   * @throws WriteStalledException if it may not wait any more
   */
  public void awaitRelief(long bytes, @Nullable WaitLimit canTurnBack) {
    long most = MAX_WAIT_NANOS;
    if (canTurnBack != null) {
      most = Math.min(most, canTurnBack.leftNanos(clock));
      if (most == 0) {
        throw refusal(StallReason.MEMORY_FULL, atMost(bytes), canTurnBack);
      }
    }
    long used = usedBytes();
    long seen = relieved;
    StallSpan span = beginStall(StallReason.MEMORY_FULL);
    starving.incrementAndGet();
    beginWait(bytes);
    try {
      relief.requestFlush();
      freed.await(
          () -> {
            if (closed || relieved != seen || usedBytes() < used) {
              return true;
            }
            relief.checkWritable();
            if (canTurnBack != null) {
              relief.checkSpace();
            }
            relief.requestFlush();
            return false;
          },
          most);
    } finally {
      endWait(bytes);
      starving.decrementAndGet();
      endStall(span);
    }
    relief.checkWritable();
    if (closed && canTurnBack != null) {
      throw closedWhileWaiting();
    }
  }

  /**
   * Told by flushes: {@code bytes} of write memory were freed in {@code nanos}.
   *
   * @param written bytes of the SSTables that hold now what was there
   */
  public synchronized void onFreed(long bytes, long written, long nanos) {
    relieved++;
    if (bytes > 0 && nanos > 0) {
      double rate = (double) bytes / nanos;
      double flushing = Math.max(0.001, freedRates.flushing() * 0.75 + rate * 0.25);
      double perByte = freedRates.perByte();
      if (written > 0) {
        perByte = perByte * 0.75 + (double) bytes / written * 0.25;
      }
      double flushNanos = freedRates.flushNanos() * 0.75 + nanos * 0.25;
      freedRates = new Backpressure.Freed(flushing, flushNanos, 0, 0, perByte);
    }
    freed.raise();
  }

  /** The fullest L0 from now on of a tree with something to flush. */
  public void setL0(FullL0 fullest) {
    l0 = fullest;
    seePressures();
  }

  /**
   * Told by merges: they have taken so much out of L0. It comes in large pieces, so its rate is a
   * mean over some seconds.
   */
  public synchronized void onLeftL0(long bytes) {
    merged = meanWith(merged, bytes, clock.nanos());
  }

  private static Rate meanWith(Rate before, long bytes, long now) {
    return new Rate(mean(before, now) + bytes / MERGED_NANOS, now);
  }

  /** What merges do, in bytes of SSTables per nanosecond. */
  private static double mean(Rate last, long now) {
    return last.bytesPerNano() * Math.exp(-(now - last.nanos()) / MERGED_NANOS);
  }

  private Backpressure.Freed freed() {
    Backpressure.Freed rates = freedRates;
    long now = clock.nanos();
    return new Backpressure.Freed(
        rates.flushing(),
        rates.flushNanos(),
        mean(merged, now) * rates.perByte(),
        mean(paid, now) * rates.perByte(),
        rates.perByte());
  }

  /** What waits for disk merges. */
  public long debtBytes() {
    return debtBytes;
  }

  /** What waits for disk merges from now on. One thread at a time. */
  public void setDebt(long bytes) {
    if (bytes < debtBytes) {
      paid = meanWith(paid, debtBytes - bytes, clock.nanos());
    }
    debtBytes = bytes;
    seePressures();
  }

  /**
   * How near the log is to its limit ({@link Fullness#slow}). Above 1 writers wait until flushes
   * let it be cut.
   */
  public void setLogPressure(double pressure) {
    boolean eased = pressure < logPressure;
    if (logPressure != pressure) {
      logPressure = pressure;
      seePressures();
      if (eased) {
        freed.raise();
      }
    }
  }

  /** One thread at a time, so that what is seen last counts. */
  private synchronized void seePressures() {
    boolean slows = Backpressure.slows(pressures(), limits);
    if (slowed != slows) {
      slowed = slows;
    }
  }

  /** Waits until {@code over} holds; it is looked at whenever memory may have come free. */
  public void awaitFreed(BooleanSupplier over) {
    freed.await(over);
  }

  /** As {@link #awaitFreed(BooleanSupplier)}, but not longer than this; whether it holds. */
  public boolean awaitFreed(BooleanSupplier over, long nanos) {
    return freed.await(over, nanos);
  }

  /** Makes waiting writers look again whether they may go on. */
  public void wake() {
    freed.raise();
  }

  /** Ends all waits with an exception. */
  public void close() {
    closed = true;
    freed.raise();
  }

  /** How often writers have begun to wait for this reason. */
  public long stalls(StallReason reason) {
    return stalls[reason.ordinal()].count();
  }

  /** How long they have waited so far, all together. */
  public long stallNanos(StallReason reason) {
    return stalls[reason.ordinal()].nanos();
  }
}
