package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.event.TuningSpan;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.StoreWatch;
import io.isobardb.lsm.tuning.CycleRules.CycleView;
import io.isobardb.lsm.tuning.Decisions.Change;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.MemoryTuner;
import io.isobardb.tuner.memory.StoreCycle;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerOptions;
import io.isobardb.tuner.workload.LevelDecision;
import java.lang.System.Logger.Level;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Has the memory tuner decide once a cycle, and moves the wall to where it says. Has {@link
 * LevelPlanner} decide, too, but in no cycle in which the wall moves: each would take what the
 * other does for its own doing.
 *
 * <p>A cycle ends when so much was written that flushes and merges show, or, if that takes too
 * long, by a timer. The timer is set by the first miss or write after a decision: a store in which
 * nothing happens is not looked at. While the cache is filling nothing is decided, and what the
 * wall's moving itself causes counts for no cycle.
 *
 * <p>It never hurts to do without: what fails here is logged, and the wall stays where it is.
 *
 * <p>Thread rule: {@link #run} is called by one thread at a time; all else by any.
 */
public final class TunerService implements StoreWatch {
  /** Between two steps of the wall. */
  private static final long STEP_NANOS = 10_000_000;

  private static final String RESIZED = "write memory has another size";

  private final Engine engine;
  private final MemoryWall wall;
  private final Tuning tuning;
  private final CycleRules rules;
  private final CycleStatistics statistics;
  private final @Nullable LevelPlanner levels;
  private final Decisions decisions;
  private TunerHistory history = TunerHistory.EMPTY;
  private volatile @Nullable Handle handle;
  private volatile @Nullable Decision last;
  private volatile @Nullable Throwable failure;
  private volatile long made;
  private volatile boolean stopped;

  /** The cycle is looked at when it has seen so many bytes written. */
  private volatile long dueBytes;

  private boolean moving;

  /** Whether a cycle has passed since the store was last loaded. */
  private boolean settled;

  /** Where the wall stood when the cycle began. */
  private long stoodAt;

  private int intervals;
  private long grownBefore;

  /**
   * A tuner that does nothing before {@link #start}, but has its memory until {@link #release}.
   *
   * @param work what it watches
   */
  public TunerService(Engine engine, PagePool pool, Work work, MemoryWall wall, Tuning tuning) {
    LevelingOptions leveling = tuning.levels();
    this.levels =
        leveling == null
            ? null
            : new LevelPlanner(engine, pool, work.merger(), leveling, wall.budgetBytes());
    this.engine = engine;
    this.wall = wall;
    this.tuning = tuning;
    this.rules = new CycleRules(tuning.logLimitBytes());
    this.dueBytes = rules.cycleBytes(wall.budgetBytes());
    this.statistics = new CycleStatistics(engine, pool.epochs(), work.cache(), work.flusher());
    this.decisions = work.decisions();
  }

  /**
   * What carries out what is tuned.
   *
   * @param flusher knows what unlogged trees have written
   * @param decisions what else is decided
   */
  public record Work(BufferCache cache, Flusher flusher, Merger merger, Decisions decisions) {}

  /** The memory that one takes as long as it is. */
  public static long memoryBytes(Tuning tuning, long budgetBytes) {
    return tuning.levels() == null ? 0 : LevelPlanner.memoryBytes(budgetBytes);
  }

  /** Gives its memory back, once nobody writes. */
  public void release() {
    if (levels != null) {
      levels.release();
    }
  }

  /** Whether the memory tuner is on. */
  public boolean dividesMemory() {
    return tuning.on();
  }

  /** Begins, with what was decided before the store was closed. */
  @Override
  public void start() {
    if (levels != null) {
      levels.start(decisions.readLevels());
    }
    Decision before = tuning.on() ? decisions.readMemory().last() : null;
    history = before == null ? TunerHistory.EMPTY : new TunerHistory(List.of(before));
    last = before;
    if (before != null && before.seen().budgetBytes() > 0) {
      double share = (double) before.toBytes() / before.seen().budgetBytes();
      wall.moveTo(Math.round(share * wall.sharedBytes()));
      moving = true;
      settled = true;
    }
    decisions.note(Change.WALL, moving);
    beginCycle();
    Handle started = engine.environment().scheduler().start(this);
    handle = started;
    if (moving) {
      started.wakeWithin(STEP_NANOS);
    }
  }

  /** Ends: nothing is decided or moved any more, once a run in progress has ended. */
  public void stop() {
    stopped = true;
  }

  @Override
  public void onCacheMiss() {
    onWritten();
  }

  @Override
  public void onWritten() {
    Handle started = handle;
    if (started != null) {
      if (ready()) {
        started.wake();
      } else {
        started.wakeWithin(tuning.intervalNanos());
      }
    }
  }

  /** The newest decision, from before the store was opened if there is none since; else null. */
  public @Nullable Decision last() {
    return last;
  }

  /** How {@link #last} was decided and why, or what has stopped the tuner. */
  public String reason() {
    Throwable cause = failure;
    Decision decision = last;
    if (cause != null) {
      return "STOPPED: " + cause;
    }
    return decision == null ? "" : decision.method() + ": " + decision.reason();
  }

  /** Decisions since the store was opened. */
  public long decisions() {
    return made;
  }

  @Override
  public String name() {
    return "tuner";
  }

  @Override
  public boolean ready() {
    return !stopped && statistics.grownBytes() >= dueBytes;
  }

  @Override
  public void run() {
    Handle started = handle;
    if (stopped || started == null) {
      return;
    }
    if (engine.failure().cause() != null) {
      beginCycle();
      return;
    }
    if (moving) {
      moving = wall.step();
      decisions.note(Change.WALL, moving);
      findAnew(RESIZED);
      beginCycle();
      if (moving) {
        started.wakeWithin(STEP_NANOS);
      }
      return;
    }
    if (wall.writeBytes() != stoodAt) {
      // A large write or a change of the budget has moved it.
      findAnew(RESIZED);
      beginCycle();
      return;
    }
    CycleView view = statistics.view(grownBefore, dueBytes, wall.budgetBytes(), intervals, settled);
    CycleRules.Choice choice = rules.choose(view);
    switch (choice.end()) {
      case GO_ON -> {
        if (view.written().byTimer()) {
          intervals++;
          grownBefore = view.written().grown();
        }
        dueBytes = choice.dueBytes();
        if (view.busy()) {
          started.wakeWithin(tuning.intervalNanos());
        }
        return;
      }
      case LOADED -> {
        settled = false;
        findAnew("the store has grown much in a cycle");
      }
      case SETTLED -> {
        settled = true;
        decideOnLevels();
      }
      case FORGET -> decideOnLevels();
      case DECIDE -> {
        if (tuning.on() && decisions.begin(Change.WALL)) {
          decide(started);
          decisions.note(Change.WALL, moving);
        }
        decideOnLevels();
      }
    }
    statistics.end();
    beginCycle();
  }

  /** What the planner has found so far does not go with what comes. */
  private void findAnew(String reason) {
    if (levels != null) {
      levels.findAnew(reason);
    }
  }

  private void decideOnLevels() {
    if (levels == null) {
      return;
    }
    if (moving) {
      levels.findAnew(RESIZED);
      return;
    }
    if (!decisions.begin(Change.LEVELS)) {
      levels.findAnew("a tree gets other runs");
      return;
    }
    for (LevelDecision decision : levels.decide()) {
      decisions.keep(decision);
      levels.tell(decision);
    }
    decisions.note(Change.LEVELS, levels.isPlanning());
  }

  private void beginCycle() {
    intervals = 0;
    grownBefore = 0;
    dueBytes = rules.cycleBytes(wall.budgetBytes());
    stoodAt = wall.writeBytes();
    statistics.begin();
  }

  private void decide(Handle started) {
    TuningSpan span = TuningSpan.start();
    Decision before = history.last();
    StoreCycle cycle =
        statistics.cycle(
            history.nextCycle(), wall, tree -> levels == null ? 0 : levels.steepness(tree));
    WallRules.Floors floors = wall.floors();
    TunerOptions options = tuning.options().withFloors(floors.write(), floors.cache());
    Decision decision = new MemoryTuner(options).decide(history, cycle).last();
    if (decision == null) {
      return;
    }
    // All else is in the file: with many trees it is more than should be kept on the heap.
    history = new TunerHistory(List.of(decision));
    last = decision;
    made++;
    wall.moveTo(decision.toBytes());
    moving = wall.targetBytes() != wall.writeBytes();
    if (moving) {
      started.wakeWithin(STEP_NANOS);
    }
    decisions.keep(decision);
    engine.observers().onTuned(span, event(decision, before));
  }

  private static StoreListener.Tuning event(Decision decision, @Nullable Decision before) {
    return new StoreListener.Tuning(
        decision.seen().cycle(),
        decision.seen().operations(),
        decision.fromBytes(),
        decision.toBytes(),
        decision.pressure().writeCost(),
        decision.pressure().readCost(),
        decision.pressure().cost(),
        decision.predictedCost(),
        before == null ? Double.NaN : before.predictedCost(),
        decision.method().name(),
        decision.reason());
  }

  @Override
  public void onFailed(Throwable cause) {
    failure = cause;
    decisions.note(Change.WALL, false);
    decisions.note(Change.LEVELS, false);
    SystemLog.tell(
        Level.WARNING,
        TunerService.class,
        () ->
            "the memory tuner of "
                + engine.environment().storage().path()
                + " has stopped; memory stays divided as it is",
        cause);
  }
}
