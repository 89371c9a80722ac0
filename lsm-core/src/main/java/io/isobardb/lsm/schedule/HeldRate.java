package io.isobardb.lsm.schedule;

/**
 * The rate to which a volume holds reads or writes, learnt from windows of about a second: a pure
 * function of what {@link Flow}s saw. Immutable.
 *
 * <p>A window tells the rate if calls stood still for a quarter of it or more: it is what passed
 * between the ends of two waits. If both directions have such waits, the larger one counts. That is
 * right if each has a budget of its own, and not too much if they share one.
 *
 * <p>Two such windows within some seconds begin it, so that a device that hangs once is not taken
 * for a slow one. A larger figure holds at once, a smaller one after two windows.
 *
 * <p>The volume may become faster. So the rate is raised once jobs have used all of it for a while
 * and nothing stood still: by a tenth, and by twice as much each time. A wait takes it back to
 * where this began, and the next attempt comes after twice the time. While merges fall behind, none
 * is waited for.
 *
 * @param bytes per second; 0 if the device is not known to be held to a rate
 * @param seen what the last window with waits told, while a second one is awaited; otherwise 0
 * @param seenNanos how long ago that was
 * @param quietNanos for which jobs used all of it lately, and nothing stood still
 * @param attempt how the rate is raised
 */
record HeldRate(long bytes, long seen, long seenNanos, long quietNanos, Attempt attempt) {
  static final HeldRate UNKNOWN = new HeldRate(0, 0, 0, 0, Attempt.FIRST);

  /** A window in which calls stood still for this part of the time tells the rate. */
  private static final double ENOUGH = 0.25;

  /**
   * Calls that stand still for less than this part of the time have other causes, such as pauses.
   */
  private static final double HARDLY = 0.05;

  /** Waits that lie closer together tell too little. */
  private static final long LEAST_NANOS = 500_000_000;

  /** A second window with waits that comes later is a first one. */
  private static final long FORGOTTEN_NANOS = 10_000_000_000L;

  /** Jobs use all of the rate if they use so much of it: a reserve is kept from them. */
  private static final double USED = 0.8;

  private static final double LEAST_GROWTH = 0.1;
  private static final long LEAST_PATIENCE_NANOS = 10_000_000_000L;
  private static final long MOST_PATIENCE_NANOS = 640_000_000_000L;

  /** A volume held to less than this part of what quick calls do is held at all. */
  private static final int QUICK_PART = 2;

  /**
   * How the rate is raised.
   *
   * @param patienceNanos how long it has to be quiet before an attempt
   * @param growth by what part the next step raises it
   * @param from where the attempt began; 0 if there is none now
   */
  record Attempt(long patienceNanos, double growth, long from) {
    static final Attempt FIRST = new Attempt(LEAST_PATIENCE_NANOS, LEAST_GROWTH, 0);

    private Attempt next(long bytes) {
      return new Attempt(patienceNanos, 2 * growth, from == 0 ? bytes : from);
    }

    /** Only an attempt that was waited for is followed by a longer wait. */
    private Attempt failed(long quietNanos) {
      long next = quietNanos < patienceNanos ? patienceNanos : 2 * patienceNanos;
      return new Attempt(Math.min(MOST_PATIENCE_NANOS, next), LEAST_GROWTH, 0);
    }
  }

  /**
   * What was seen of a direction in a window.
   *
   * @param stoodNanos for how long calls stood still
   * @param nanos from the end of the last wait before the window to that of the last one within
   * @param bytes that passed meanwhile
   */
  record Waits(long stoodNanos, long nanos, long bytes) {
    /** What came since an earlier look. */
    static Waits between(Flow.Seen before, Flow.Seen now) {
      long stood = now.stoodNanos() - before.stoodNanos();
      return before.endNanos() == Long.MIN_VALUE
          ? new Waits(stood, 0, 0)
          : new Waits(
              stood, now.endNanos() - before.endNanos(), now.endBytes() - before.endBytes());
    }

    /** Bytes per second that the volume gave; 0 if that is not told. */
    private long rate() {
      return nanos >= LEAST_NANOS && stoodNanos >= ENOUGH * nanos
          ? (long) (bytes * 1e9 / nanos)
          : 0;
    }
  }

  /**
   * What was seen for a while.
   *
   * @param nanos how long
   * @param bytes that passed in the direction in which more did
   * @param quickBytes per second that quick calls do
   * @param pressed whether merges fell behind
   */
  record Window(
      long nanos, long bytes, long quickBytes, boolean pressed, Waits reads, Waits writes) {
    private boolean isQuiet() {
      return Math.max(reads.stoodNanos(), writes.stoodNanos()) < HARDLY * nanos;
    }

    private long rate() {
      return Math.max(reads.rate(), writes.rate());
    }
  }

  /** What is known after another window. */
  HeldRate after(Window window) {
    long ago = seenNanos + window.nanos();
    HeldRate recent =
        seen == 0 || ago > FORGOTTEN_NANOS
            ? new HeldRate(bytes, 0, 0, quietNanos, attempt)
            : new HeldRate(bytes, seen, ago, quietNanos, attempt);
    HeldRate next = window.isQuiet() ? recent.quiet(window) : recent.waited(window.rate());
    return next.bytes > window.quickBytes() / QUICK_PART ? UNKNOWN : next;
  }

  private HeldRate waited(long rate) {
    boolean failed = attempt.from() > 0;
    long known = failed ? attempt.from() : bytes;
    Attempt next = failed ? attempt.failed(quietNanos) : attempt;
    if (rate == 0) {
      return new HeldRate(known, seen, seenNanos, 0, next);
    }
    if (seen == 0) {
      return new HeldRate(known == 0 ? 0 : Math.max(known, rate), rate, 0, 0, next);
    }
    return new HeldRate(Math.max(seen, rate), 0, 0, 0, next);
  }

  private HeldRate quiet(Window window) {
    boolean used = bytes > 0 && window.bytes() * 1e9 >= USED * bytes * window.nanos();
    if (!used) {
      return this;
    }
    long quiet = quietNanos + window.nanos();
    if (quiet < attempt.patienceNanos() && !window.pressed()) {
      return new HeldRate(bytes, seen, seenNanos, quiet, attempt);
    }
    long more = bytes + (long) (bytes * attempt.growth());
    return new HeldRate(more, 0, 0, quiet, attempt.next(bytes));
  }
}
