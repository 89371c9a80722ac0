package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.ReadLosses;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.schedule.StoreWatch;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.tuning.Decisions.Change;
import io.isobardb.tuner.shape.RunsTuner;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeDecision.Action;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import io.isobardb.tuner.shape.ShapeView;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Has {@link RunsTuner} decide how many runs trees are to have, at the end of each window of their
 * operations, and gives them what was decided. Then it has merged down what reads have paid for
 * ({@link ReadLosses}). It leaves runs alone that somebody has set.
 *
 * <p>It looks when so much was written, or so often the cache had not what was read, as there was
 * in so many operations before. A store that only reads what its cache has costs no pages, so it is
 * not looked at. After each look it rests {@value #REST} times as long as that took, ten minutes at
 * most, so it takes a hundredth of a processor at most; windows are longer then.
 *
 * <p>It never hurts to do without: what fails here is logged, and trees keep the runs that they
 * have.
 *
 * <p>Thread rule: {@link #run} is called by one thread at a time; all else by any.
 */
public final class ShapeService implements StoreWatch {
  /** Operations between two looks, about, and of these more with many trees. */
  private static final long LOOK_OPERATIONS = 2048;

  private static final long TREE_OPERATIONS = 64;

  /** The least log that an operation takes. */
  private static final long LEAST_WRITE = 8;

  /** Before it is known how often the cache misses: one operation in so many. */
  private static final long OPERATIONS_PER_MISS = 8;

  /** How many times longer it waits at most if it has looked too early. */
  private static final double MOST_LONGER = 8;

  /** In so many of its windows it is seen whether a tree is hardly used any more. */
  private static final int WAITED_WINDOWS = 16;

  /** It is if it had a smaller part of the store's operations. */
  private static final int HARDLY_PART = 256;

  /** How many times as long as a look it rests after it. */
  private static final long REST = 99;

  /** It rests no longer: a look that seems to have taken so long was interrupted. */
  private static final long MOST_REST_NANOS = 600_000_000_000L;

  private final Engine engine;
  private final Merger merger;
  private final Decisions decisions;
  private final Adaptation mode;
  private final ShapeViews views;
  private final Map<Integer, WatchedTree> trees = new HashMap<>();
  private final AtomicLong misses = new AtomicLong();
  private volatile @Nullable Handle handle;
  private volatile boolean stopped;

  /** Until the alarm that was set. */
  private volatile boolean isResting;

  private volatile long begunLsn;
  private volatile long dueBytes = LEAST_WRITE * LOOK_OPERATIONS;
  private volatile long dueMisses = LOOK_OPERATIONS / OPERATIONS_PER_MISS;
  private long begunOperations;

  /** Trees that are not known by then were created since the store was opened. */
  private boolean isStarted;

  /** The tree whose change is not judged yet, or -1. */
  private int changing = -1;

  /** Operations on the store, and on that tree, when it was last seen whether it is used. */
  private long waitedFrom;

  private long usedBefore;

  /** Does nothing before {@link #start}. */
  public ShapeService(Engine engine, Merger merger, Decisions decisions, Tuning tuning) {
    this.engine = engine;
    this.merger = merger;
    this.decisions = decisions;
    this.mode = tuning.shaping().adaptation();
    this.views = new ShapeViews(engine, merger, tuning);
  }

  /** Begins, with what was decided before the store was closed. */
  @Override
  public void start() {
    Map<Integer, ShapeDecision> last = new HashMap<>();
    decisions.readShapes().forEach(decision -> last.put(decision.tree(), decision));
    for (ShapeDecision decision : last.values()) {
      TreeHandle tree = engine.catalog().tree(decision.tree());
      if (tree != null && tree.isAdaptable()) {
        goOn(tree, decision);
      }
    }
    engine.catalog().trees().forEach(this::watched);
    isStarted = true;
    begin(operations());
    handle = engine.environment().scheduler().start(this);
  }

  private void goOn(TreeHandle tree, ShapeDecision last) {
    ShapeChoice choice = views.allowed(tree, last.to());
    boolean observed = last.action() == Action.WOULD_CHANGE;
    if (choice == null || observed != (mode == Adaptation.OBSERVE)) {
      return;
    }
    WatchedTree watched = watched(tree);
    watched.goOn(last);
    if (mode == Adaptation.ON) {
      tree.adapt(choice.runs(), choice.l0Start());
    } else {
      watched.assume(choice);
    }
  }

  private WatchedTree watched(TreeHandle tree) {
    return trees.computeIfAbsent(tree.id(), id -> new WatchedTree(tree, isStarted));
  }

  /** Ends: nothing is decided any more, once a run in progress has ended. */
  public void stop() {
    stopped = true;
  }

  @Override
  public void onWritten() {
    Handle started = handle;
    if (started != null && ready()) {
      started.wake();
    }
  }

  @Override
  public void onCacheMiss() {
    misses.incrementAndGet();
    onWritten();
  }

  @Override
  public String name() {
    return "shapes";
  }

  @Override
  public boolean ready() {
    return !stopped
        && !isResting
        && (engine.log().end() - begunLsn >= dueBytes || misses.get() >= dueMisses);
  }

  @Override
  public void run() {
    isResting = false;
    if (!ready()) {
      return;
    }
    long began = engine.nanos();
    lookIfWorth();
    rest(engine.nanos() - began);
  }

  private void rest(long lookNanos) {
    Handle started = handle;
    if (started != null && lookNanos > 0) {
      isResting = true;
      started.wakeWithin(Math.min(MOST_REST_NANOS / REST, lookNanos) * REST);
    }
  }

  /** Looks, unless there were too few operations for that. */
  private void lookIfWorth() {
    long operations = operations();
    if (operations < begunOperations) {
      // A tree was dropped, with what it had counted.
      begin(operations);
      return;
    }
    double done = operations - begunOperations;
    long wanted =
        Math.max(LOOK_OPERATIONS, TREE_OPERATIONS * (long) engine.catalog().trees().size());
    long grown = engine.log().end() - begunLsn;
    long missed = misses.get();
    if (done < wanted / 2.0) {
      double longer = Math.min(MOST_LONGER, wanted / Math.max(1, done));
      dueBytes = Math.max(dueBytes, (long) (grown * longer));
      dueMisses = Math.max(dueMisses, (long) (missed * longer));
      return;
    }
    double part = wanted / done;
    dueBytes = Math.max(LEAST_WRITE * wanted, (long) (grown * part));
    dueMisses = missed == 0 ? wanted / OPERATIONS_PER_MISS : Math.max(1, (long) (missed * part));
    begin(operations);
    if (engine.failure().cause() == null) {
      look();
    }
  }

  private void begin(long operations) {
    begunOperations = operations;
    begunLsn = engine.log().end();
    misses.set(0);
  }

  private long operations() {
    long sum = 0;
    for (TreeHandle tree : engine.catalog().trees()) {
      sum += WatchedTree.operations(tree.counts().stats());
    }
    return sum;
  }

  private void look() {
    Set<Integer> there = new HashSet<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      if (tree.closed()) {
        continue;
      }
      there.add(tree.id());
      WatchedTree watched = watched(tree);
      if (!tree.isAdaptable()) {
        watched.forget();
      } else if (watched.isToBegin()) {
        begin(watched);
      }
      if (watched.isWindowOver()) {
        onWindow(watched);
      }
    }
    trees.keySet().retainAll(there);
    if (changing >= 0) {
      lookAtChange(trees.get(changing));
    }
  }

  /** Ends the change under way if it will not be judged. */
  private void lookAtChange(@Nullable WatchedTree changed) {
    if (changed == null || !changed.tree().isAdaptable()) {
      setChanging(-1);
    } else if (isHardlyUsed(changed)) {
      endChange(changed, "the tree is hardly used any more");
    }
  }

  /** Ends the change under way without a judgement: what the tree has stays. */
  private void endChange(WatchedTree changed, String reason) {
    carryOut(changed, changed.left(reason));
    setChanging(-1);
  }

  /** Whether a tree has so few of the store's operations that nothing should wait for it. */
  private boolean isHardlyUsed(WatchedTree watched) {
    long used = watched.operations() - usedBefore;
    long done = begunOperations - waitedFrom;
    // It is less than before if a tree was dropped.
    if (done >= 0 && done < WAITED_WINDOWS * watched.windowOperations()) {
      return false;
    }
    waitFrom(watched);
    return used < done / HARDLY_PART;
  }

  private void waitFrom(WatchedTree watched) {
    waitedFrom = begunOperations;
    usedBefore = watched.operations();
  }

  private void onWindow(WatchedTree watched) {
    if (watched.tree().isAdaptable()) {
      decide(watched);
    } else {
      watched.end();
    }
    if (mode == Adaptation.ON) {
      mergeForReads(watched);
    }
  }

  private void mergeForReads(WatchedTree watched) {
    Map<Long, Double> lost = ReadLosses.pagesLost(watched.tree());
    if (!lost.isEmpty()) {
      merger.mergeForReads(watched.tree(), views.losses(lost));
    }
  }

  private void setChanging(int tree) {
    changing = tree;
    decisions.note(Change.RUNS, tree >= 0);
  }

  /** A tree was flushed for the first time. */
  private void begin(WatchedTree watched) {
    boolean taken = changing < 0 && mode == Adaptation.ON && decisions.begin(Change.RUNS);
    if (taken || mode == Adaptation.OBSERVE) {
      watched.setBegun();
      carryOut(watched, views.begin(watched));
    }
    if (taken) {
      decisions.note(Change.RUNS, false);
    }
  }

  private void decide(WatchedTree watched) {
    boolean taken = changing < 0 && mode == Adaptation.ON && decisions.begin(Change.RUNS);
    ShapeView view = views.view(watched, taken || mode == Adaptation.OBSERVE);
    if (view != null) {
      carryOut(watched, RunsTuner.choose(watched.progress(), view));
    } else if (watched.tree().id() == changing) {
      endChange(watched, "too little is left of the tree");
    }
    if (taken && changing < 0) {
      decisions.note(Change.RUNS, false);
    }
  }

  private void carryOut(WatchedTree watched, @Nullable ShapeDecision chosen) {
    TreeHandle tree = watched.tree();
    ShapeChoice choice = chosen == null ? null : views.allowed(tree, chosen.to());
    if (chosen == null || choice == null) {
      return;
    }
    ShapeDecision decision = mode == Adaptation.OBSERVE ? chosen.observed() : chosen;
    watched.setDecision(decision);
    if (decision.action() == Action.WAIT) {
      return;
    }
    if (mode == Adaptation.OBSERVE) {
      watched.assume(choice);
    } else {
      tree.adapt(choice.runs(), choice.l0Start());
      boolean begins = decision.after().stage() != Stage.RESTING;
      setChanging(begins ? tree.id() : -1);
      waitFrom(watched);
      // What is left of other runs is merged, even if nobody writes.
      merger.request(tree);
    }
    decisions.keep(decision);
    tell(tree, decision);
  }

  private void tell(TreeHandle tree, ShapeDecision decision) {
    engine
        .observers()
        .onShaped(
            new StoreListener.Shape(
                decision.window(),
                tree.name(),
                decision.from(),
                decision.to(),
                decision.modelled(),
                decision.expected(),
                decision.found(),
                decision.price(),
                decision.action().name(),
                decision.reason()));
  }

  @Override
  public void onFailed(Throwable cause) {
    decisions.note(Change.RUNS, false);
    SystemLog.tell(
        Level.WARNING,
        ShapeService.class,
        () ->
            "what chooses the runs of trees in "
                + engine.environment().storage().path()
                + " has stopped; they keep those that they have",
        cause);
  }
}
