package io.isobardb.lsm.tuning;

/**
 * When a cycle of the memory tuner ends, and whether it decides anything then. Pure functions; any
 * thread.
 *
 * <p>A cycle ends when so much was written that flushes and merges show, and L0 is about as full as
 * when it began: L0 fills for a while and is emptied at a time, so that the cycle then has as much
 * of merging in it as belongs to what was flushed. If that takes too long, a timer ends it. Nothing
 * is decided while the store is loaded or its cache fills, nor in the first cycle after a load, in
 * which what it has left behind is merged (decision 0006).
 *
 * @param logLimitBytes a cycle lasts until this many bytes were written, or twice the budget if
 *     that is more
 */
record CycleRules(long logLimitBytes) {
  /** A cycle in which too little was flushed goes on for so many intervals. */
  private static final int MOST_INTERVALS = 10;

  /**
   * How many times as long a cycle may become while it waits for L0 to be as full as at its start.
   */
  private static final int MOST_CYCLES = 3;

  /** Looks at L0 within one length of a cycle. */
  private static final int LOOKS = 32;

  /** If less than this part of a cycle's bytes was written in an interval, merges rest. */
  private static final int HARDLY = 256;

  /** A cache that has grown by more than this part of its size in one cycle is still filling. */
  private static final int STILL_FILLING = 8;

  /**
   * L0 is as full as before if the difference is within one in so many parts of the write memory.
   */
  private static final int SAME_PHASE = 4;

  /**
   * L0 also counts as full as before if the difference is within one in so many parts of what the
   * cycle flushed: then it is as small a part of the cost.
   */
  private static final int SAME_SHARE = 16;

  /** A store that grew by more than this part of its size in one cycle is being loaded. */
  private static final int LOADING = 8;

  /** What to do. */
  enum End {
    /** The cycle goes on. */
    GO_ON,
    /** It ends, and the store is being loaded. */
    LOADED,
    /** It ends, and has what a load has left behind: the next one will be like those after it. */
    SETTLED,
    /** It ends, and says nothing. */
    FORGET,
    /** It ends, and the tuner decides. */
    DECIDE
  }

  /**
   * What to do.
   *
   * @param dueBytes how much is to be written in the cycle before it is looked at again
   */
  record Choice(End end, long dueBytes) {}

  /**
   * What is looked at.
   *
   * @param intervals how often the timer has run down in this cycle before
   * @param settled whether a cycle has passed since the store was last loaded
   * @param busy whether anything was done in this cycle that memory could have made cheaper
   */
  record CycleView(
      Written written, Disk disk, Cache cache, int intervals, boolean settled, boolean busy) {}

  /**
   * What was written in this cycle, in bytes.
   *
   * @param grown to the log or, by unlogged trees, by flushes
   * @param lately of that, since the timer last ran down
   * @param flushed by flushes
   * @param due at which the cycle is looked at; if less was written, the timer has run down
   * @param budget all memory of the store
   */
  record Written(long grown, long lately, long flushed, long due, long budget) {
    boolean byTimer() {
      return grown < due;
    }
  }

  /**
   * Disk and write memory, in bytes.
   *
   * @param l0Before what L0 held when the cycle began
   * @param before what the levels held then, or at the beginning of a cycle shortly before, if that
   *     is more
   * @param writeMemory what write memory may hold
   */
  record Disk(long l0Before, long l0, long before, long now, long writeMemory) {
    boolean grewMuch() {
      return now - before > before / LOADING;
    }
  }

  /**
   * The cache, in pages.
   *
   * @param heldBefore what it held when the cycle began
   * @param target what it may hold
   * @param evicted whether it has evicted any in this cycle
   */
  record Cache(long heldBefore, long held, long target, boolean evicted) {
    /**
     * Whether what a larger one would save is not known, since it has evicted nothing yet. Not so
     * if it has stopped growing: then it has all there is to cache.
     */
    boolean isFilling() {
      return held < target && !evicted && held - heldBefore > target / STILL_FILLING;
    }
  }

  /** How much is written in a cycle. */
  long cycleBytes(long budget) {
    return Math.max(logLimitBytes, 2 * budget);
  }

  /** Whether the cycle ends, and what comes of it. */
  Choice choose(CycleView view) {
    Written written = view.written();
    boolean byTimer = written.byTimer();
    if (byTimer ? !timeIsUp(view) : !enoughWritten(view)) {
      long step = Math.max(1, cycleBytes(written.budget()) / LOOKS);
      return new Choice(End.GO_ON, byTimer ? written.due() : written.grown() + step);
    }
    return new Choice(end(view), cycleBytes(written.budget()));
  }

  private static End end(CycleView view) {
    if (view.disk().grewMuch()) {
      return End.LOADED;
    }
    if (!view.settled() && flushedEnough(view)) {
      return End.SETTLED;
    }
    return view.busy() && !view.cache().isFilling() ? End.DECIDE : End.FORGET;
  }

  /** Whether merges have come as far as when the cycle began. */
  private boolean enoughWritten(CycleView view) {
    Written written = view.written();
    return view.disk().grewMuch()
        || hasWholeRounds(view)
        || written.due() >= MOST_CYCLES * cycleBytes(written.budget());
  }

  private boolean timeIsUp(CycleView view) {
    Written written = view.written();
    boolean writing = written.lately() > cycleBytes(written.budget()) / HARDLY;
    return !writing
        || view.disk().grewMuch()
        || flushedEnough(view) && hasWholeRounds(view)
        || view.intervals() + 1 >= MOST_INTERVALS;
  }

  /** Whether what was flushed is more than twice what write memory may hold. */
  private static boolean flushedEnough(CycleView view) {
    return view.written().flushed() > 2 * view.disk().writeMemory();
  }

  /** Whether L0 holds about as much as when the cycle began. */
  private static boolean hasWholeRounds(CycleView view) {
    Disk disk = view.disk();
    long near = Math.max(disk.writeMemory() / SAME_PHASE, view.written().flushed() / SAME_SHARE);
    return Math.abs(disk.l0() - disk.l0Before()) <= near;
  }
}
