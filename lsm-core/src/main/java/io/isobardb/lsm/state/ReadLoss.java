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
  /**
   * What the scans of a tree have lost and seen by a moment, or since one.
   *
   * @param nanos that they would have lost with one run more, less what lookups would have lost if
   *     memory had been flushed
   * @param shown entries that they have come to
   * @param passed older versions of them that they have passed, each in another run
   * @param markerNanos that they have lost to delete markers, however many runs there are
   */
  public record Scans(long nanos, long shown, long passed, long markerNanos) {
    /** What has come since {@code before}. */
    public Scans since(Scans before) {
      return new Scans(
          nanos - before.nanos,
          shown - before.shown,
          passed - before.passed,
          markerNanos - before.markerNanos);
    }

    /** The part of what lies where they were that one run would not have; 0 if nobody knows. */
    public double passedPart() {
      return passed <= 0 ? 0 : (double) passed / (shown + passed);
    }
  }

  /**
   * Half of a filter asked in vain, in nanoseconds, which is mostly a cache line that is not at
   * hand: a key that is there is found half-way.
   */
  private static final int LOOKUP_NANOS = 100 / 2;

  /** A cursor placed in one run more. */
  public static final int SEEK_NANOS = 2000;

  /** A step of a cursor over one run more: it competes, and has old versions to be passed over. */
  private static final int STEP_NANOS = 50;

  /** A delete marker that a cursor passes, and what it hides. */
  private static final int MARKER_NANOS = 50;

  /**
   * The listener is told of markers once they have cost this, and then each time it has doubled.
   */
  private static final long FIRST_TOLD_NANOS = 1_000_000;

  /**
   * What a lookup takes longer in a file that is cached than in memory, each with an index over
   * entries: a look at the page table, and the index has to be made first.
   */
  private static final int INDEX_NANOS = 150;

  private final LongAdder nanos = new LongAdder();

  /** What cursors would have lost with one run more. */
  private final LongAdder scanNanos = new LongAdder();

  private final LongAdder shown = new LongAdder();
  private final LongAdder passed = new LongAdder();
  private final LongAdder lookups = new LongAdder();

  /** What cursors have lost to delete markers. */
  private final LongAdder markerNanos = new LongAdder();

  private volatile Runnable markerListener = () -> {};

  /** At how much of that its listener is told next. */
  private volatile long markersDue = FIRST_TOLD_NANOS;

  /** What {@link #markerNanos} was when this was cleared. */
  private volatile long markersClearedAt;

  /** What {@link #nanosPerRun} was when this was cleared. */
  private volatile long clearedAt;

  /** What {@link #scanNanos} was then. */
  private volatile long scansClearedAt;

  /** At how much of {@link #nanosPerRun} the listener is told. */
  private volatile long due = Long.MAX_VALUE;

  private volatile Runnable listener = () -> {};

  /** Adds lookups of single keys that had this many runs in memory to ask. */
  public void gets(long count, int runs) {
    lookups.add(count);
    lose(count * LOOKUP_NANOS, runs);
    tellIfDue();
  }

  /** A cursor was placed in this many runs in memory. */
  public void seek(int runs) {
    scan(SEEK_NANOS, runs);
  }

  /**
   * A cursor has made so many steps over this many runs in memory.
   *
   * @param older versions that it passed on the way
   */
  public void steps(long count, long older, int runs) {
    scan(count * STEP_NANOS, runs);
    shown.add(count);
    passed.add(older);
    tellIfDue();
  }

  /** A cursor has passed so many delete markers on its way to an entry. */
  public void markers(long count) {
    markerNanos.add(count * MARKER_NANOS);
    long lost = nanosOfMarkers();
    if (lost >= markersDue) {
      markersDue = 2 * lost;
      markerListener.run();
    }
  }

  /**
   * Says who is told of what is lost to delete markers.
   *
   * @param told called by a thread that reads: must not wait
   */
  public void listenToMarkers(Runnable told) {
    markerListener = told;
  }

  /** What cursors have lost to delete markers since this was cleared, in nanoseconds. */
  public long nanosOfMarkers() {
    return markerNanos.sum() - markersClearedAt;
  }

  private void scan(long perRun, int runs) {
    scanNanos.add(perRun);
    lose(perRun, runs);
  }

  private void lose(long perRun, int runs) {
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
    return scanNanos.sum() + lookups.sum() * LOOKUP_NANOS;
  }

  /** What scans have lost and seen by now. */
  public Scans scans() {
    long ofScans = scanNanos.sum() - lookups.sum() * INDEX_NANOS;
    return new Scans(ofScans, shown.sum(), passed.sum(), markerNanos.sum());
  }

  /** Has the listener told now. */
  public void tell() {
    listener.run();
  }

  /** What reads would have lost since it was cleared with one run more, in nanoseconds. */
  public long nanosSinceCleared() {
    return nanosPerRun() - clearedAt;
  }

  /** What of that are cursors. */
  public long cursorNanosSinceCleared() {
    return scanNanos.sum() - scansClearedAt;
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
   * Has the listener told, once, as soon as {@link #nanosPerRun} is this much. Replaces what was
   * asked for before.
   *
   * @param nanos {@code Long.MAX_VALUE} for never
   */
  public void tellAt(long nanos) {
    due = nanos;
    tellIfDue();
  }

  private void tellIfDue() {
    if (due != Long.MAX_VALUE && nanosPerRun() >= due) {
      due = Long.MAX_VALUE;
      listener.run();
    }
  }

  /** Begins anew: runs are being merged. */
  public void clear() {
    nanos.reset();
    markersClearedAt = markerNanos.sum();
    markersDue = FIRST_TOLD_NANOS;
    clearedAt = nanosPerRun();
    scansClearedAt = scanNanos.sum();
  }
}
