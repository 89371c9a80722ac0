package io.isobardb.lsm.state;

import java.util.concurrent.atomic.LongAdder;

/**
 * About how much time the reads of a tree have lost because it has several runs in memory, where
 * one would do. Reckoned with what a run more costs a read on the average of small entries (see
 * docs/decisions/0011), since looking at a clock would cost as much.
 *
 * <p>Thread rule: all methods may be called by any thread; what is added while it is cleared may be
 * lost.
 */
public final class ReadLoss {
  /** A filter asked in vain, in nanoseconds: mostly one cache line that is not at hand. */
  private static final int GET_NANOS = 100;

  /** A cursor placed in one run more. */
  private static final int SEEK_NANOS = 2000;

  /** A step of a cursor over one run more: it competes, and has old versions to be passed over. */
  private static final int STEP_NANOS = 50;

  private final LongAdder nanos = new LongAdder();
  private final LongAdder nanosPerRun = new LongAdder();

  /** What {@link #nanosPerRun} was when this was cleared. */
  private volatile long clearedAt;

  /** At how much of {@link #nanosSinceCleared} the listener is told. */
  private volatile long due = Long.MAX_VALUE;

  private volatile Runnable listener = () -> {};

  /** Adds lookups of single keys that had this many runs in memory to ask. */
  public void gets(long count, int runs) {
    // A key that is there is found half-way.
    add(count * GET_NANOS / 2, runs);
    tellIfDue();
  }

  /** A cursor was placed in this many runs in memory. */
  public void seek(int runs) {
    add(SEEK_NANOS, runs);
  }

  /** A cursor has made so many steps over this many runs in memory. */
  public void steps(long count, int runs) {
    add(count * STEP_NANOS, runs);
    tellIfDue();
  }

  private void add(long perRun, int runs) {
    nanosPerRun.add(perRun);
    if (runs > 1) {
      nanos.add(perRun * (runs - 1));
    }
  }

  /** What was lost since it was cleared, in nanoseconds. */
  public long nanos() {
    return nanos.sum();
  }

  /** What all reads there were would have lost with one run more, in nanoseconds; only grows. */
  public long nanosPerRun() {
    return nanosPerRun.sum();
  }

  /** What reads would have lost since it was cleared with one run more, in nanoseconds. */
  public long nanosSinceCleared() {
    return nanosPerRun.sum() - clearedAt;
  }

  /**
   * Says who is told; see {@link #tellAt}.
   *
   * @param told called by a thread that reads: must not wait
   */
  public void listen(Runnable told) {
    listener = told;
  }

  /**
   * Has the listener told, once, as soon as {@link #nanosSinceCleared} is this much. Replaces what
   * was asked for before.
   *
   * @param nanos {@code Long.MAX_VALUE} for never
   */
  public void tellAt(long nanos) {
    due = nanos;
    tellIfDue();
  }

  private void tellIfDue() {
    if (due != Long.MAX_VALUE && nanosSinceCleared() >= due) {
      due = Long.MAX_VALUE;
      listener.run();
    }
  }

  /** Begins anew: runs are being merged. */
  public void clear() {
    nanos.reset();
    clearedAt = nanosPerRun.sum();
  }
}
