package io.isobardb.lsm.flush;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.component.MemoryRules;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.observe.StoreListener.FlushKind;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import java.util.ArrayList;
import java.util.List;

/**
 * What is flushed next: why, which trees, and how much of each. Pure functions; any thread.
 *
 * <p>The log comes first, with the tree that has the lowest LSN in it; then trees that have filled
 * their shares; then memory, for which the {@link FlushPolicy} chooses the trees. How much of a
 * tree goes is for the {@link FlushStrategy} to say.
 *
 * @param policy which tree is flushed when write memory runs short
 * @param strategy how much of it
 * @param logLimitBytes above this length of log writers wait
 * @param component how a tree's write memory is arranged
 */
public record FlushRules(
    FlushPolicy policy, FlushStrategy strategy, long logLimitBytes, MemoryComponent component) {

  /** With all else as it is by default. */
  public FlushRules(FlushPolicy policy, FlushStrategy strategy, long logLimitBytes) {
    this(policy, strategy, logLimitBytes, MemoryComponent.PARTITIONED);
  }

  /** Those that a store's options ask for. */
  public static FlushRules of(StoreOptions options) {
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new FlushRules(
        chosen.flushPolicy(),
        FlushExtent.strategy(chosen.flushStrategy(), chosen.memoryComponent()),
        options.logLimit(),
        chosen.memoryComponent());
  }

  /** Those of a store whose log is not cut, and so flushes nothing for its sake. */
  public FlushRules withoutLogLimit() {
    return new FlushRules(policy, strategy, NO_LIMIT, component);
  }

  /** Longer than any log, and short enough to be reckoned with. */
  private static final long NO_LIMIT = Long.MAX_VALUE / 16;

  /**
   * How much earlier slices begin at most, if they have all keys before them: a share of the log's
   * limit.
   */
  private static final double MOST_AHEAD = 0.15;

  /** Why trees are flushed. */
  public enum Cause {
    /** The log is near its limit. */
    LOG,
    /** A tree has filled its own share of the write memory. */
    SHARE,
    /** Write memory runs short. */
    MEMORY
  }

  /**
   * What tells whether a flush is due, without a look at the trees.
   *
   * @param logBytes the log's length
   * @param sweepBytes what slices have to take until the log can be cut; see {@link #sweepBytes}
   * @param excessBytes what is to be freed until the pressure is off; 0 or less if there is none
   * @param comingBytes what flushes of whole trees that are under way will free
   * @param shares whether trees have shares of their own
   * @param running flushes under way
   */
  record Pressure(
      long logBytes,
      long sweepBytes,
      long excessBytes,
      long comingBytes,
      boolean shares,
      int running) {}

  /**
   * What is chosen from.
   *
   * @param cause why
   * @param writeBytes the write memory
   * @param sliceBytes what a slice takes
   * @param logEnd the end of the log
   * @param trees those that hold write memory and that the cause is about, busy ones too: all, the
   *     logged ones, or those that have filled their shares
   */
  public record FlushView(
      Cause cause, long writeBytes, long sliceBytes, long logEnd, List<TreeMemory> trees) {}

  /**
   * What slices have to take until the log can be cut, about. The oldest run holds the log until
   * they have gone round all its keys. If much of that is left, they have to begin earlier, or
   * writers fill the log meanwhile.
   *
   * @param memoryBytes write memory in use
   * @param flushedBytes what flushes took while the log became as long as it is. Where memory is
   *     evenly old that is twice what is in memory, and one slice lets the log be cut.
   */
  long sweepBytes(long memoryBytes, long flushedBytes) {
    boolean slices = strategy != FlushStrategy.FULL && strategy != FlushStrategy.ADAPTIVE;
    return slices ? Math.max(0, memoryBytes - flushedBytes / 2) : 0;
  }

  /** Whether the log is to be shortened. */
  boolean isLong(long logBytes, long sweepBytes) {
    return logBytes > logTriggerBytes(logLimitBytes) - Math.min(sweepBytes, mostAhead());
  }

  /** Whether {@link #isLong} depends on what slices have before them, or holds. */
  boolean mayBeLong(long logBytes) {
    return isLong(logBytes, mostAhead());
  }

  private long mostAhead() {
    return (long) (logLimitBytes * MOST_AHEAD);
  }

  /** Above this length of log trees are flushed for its sake, if one slice lets it be cut. */
  public static long logTriggerBytes(long logLimitBytes) {
    return Fullness.USUAL.nearlyFull(logLimitBytes);
  }

  /** Why a flush may be due, the most urgent first. */
  List<Cause> causes(Pressure now) {
    List<Cause> causes = new ArrayList<>(Cause.values().length);
    if (isLong(now.logBytes(), now.sweepBytes())) {
      causes.add(Cause.LOG);
    }
    if (now.shares()) {
      causes.add(Cause.SHARE);
    }
    // With shares, what is filled is on its way already; what is left to do comes from a replay.
    boolean awaited = now.shares() && now.running() > 0;
    if (now.excessBytes() > 0 && now.excessBytes() > now.comingBytes() && !awaited) {
      causes.add(Cause.MEMORY);
    }
    return causes;
  }

  /** The trees to flush together; none if no tree has anything to give that is not busy. */
  public List<FlushChoice> choose(FlushView view) {
    return choose(view, roundBytes(view.sliceBytes()));
  }

  /**
   * Whether a flush for memory's sake goes on with a tree of which a slice has been flushed, and
   * that counts as idle in the view. Else what is more urgent begins.
   */
  boolean goesOn(FlushView view, int treeId) {
    List<FlushChoice> choices = choose(view, 1);
    return choices.isEmpty() || choices.get(0).treeId() == treeId;
  }

  /**
   * What is committed together of several trees. Writers have about a slice's size between the
   * trigger and the limit: so some of that comes back before they have to wait.
   */
  static long roundBytes(long sliceBytes) {
    return sliceBytes / 2;
  }

  /**
   * Which part of their floors trees keep: all, unless that is more than can stay in memory. As
   * much again must be there for writers, or memory could be full with nobody to flush.
   *
   * @param mostKept what may stay in memory
   * @param floors of all trees
   */
  static double keptOfFloors(long mostKept, long floors) {
    return Math.min(1, (double) mostKept / Math.max(1, floors));
  }

  private List<FlushChoice> choose(FlushView view, long bytes) {
    List<TreeMemory> trees = view.trees();
    List<TreeChoice.Pick> picks =
        switch (view.cause()) {
          case LOG -> TreeChoice.chooseForLog(trees, belowLsn(view), bytes);
          case SHARE ->
              trees.stream()
                  .filter(tree -> !tree.busy())
                  .limit(1)
                  .map(tree -> new TreeChoice.Pick(tree, "its share is full"))
                  .toList();
          case MEMORY -> TreeChoice.choose(policy, trees, minimumBytes(view), bytes);
        };
    return picks.stream().map(pick -> choice(view, pick)).toList();
  }

  private FlushChoice choice(FlushView view, TreeChoice.Pick pick) {
    TreeMemory tree = pick.tree();
    boolean small = isSmall(view, tree);
    boolean sliced =
        !small && strategy != FlushStrategy.FULL && !takesLevels() && view.cause() != Cause.SHARE;
    return new FlushChoice(tree.treeId(), kind(view.cause(), tree, small), sliced, pick.reason());
  }

  /** The oldest tree in any case; others while that one is busy, if they alone hold too much. */
  private long belowLsn(FlushView view) {
    long lowest = view.trees().stream().mapToLong(TreeMemory::minLsn).min().orElse(Lsn.MAX - 1);
    return Math.max(lowest + 1, view.logEnd() - logTriggerBytes(logLimitBytes));
  }

  /** What a tree should give back at least. One tree at least holds more than this. */
  private static long minimumBytes(FlushView view) {
    long total = view.trees().stream().mapToLong(TreeMemory::memoryBytes).sum();
    return Math.min(view.sliceBytes(), total / Math.max(1, view.trees().size()) / 2);
  }

  /** Whether a slice takes SSTables of one level in memory, and not of all runs there are. */
  boolean takesLevels() {
    return component == MemoryComponent.LEVELED;
  }

  private FlushKind kind(Cause cause, TreeMemory tree, boolean small) {
    return switch (cause) {
      case LOG -> {
        FlushKind kind = FlushExtent.forLog(strategy, tree.lately());
        // The last level alone may well hold nothing that keeps the log.
        yield takesLevels() && kind == FlushKind.PARTIAL ? FlushKind.OLDEST : kind;
      }
      case SHARE -> FlushExtent.forMemory(strategy, false, tree.lately());
      case MEMORY -> FlushExtent.forMemory(strategy, small, tree.lately());
    };
  }

  private boolean isSmall(FlushView view, TreeMemory tree) {
    // A flush of the whole would take what is to stay.
    return !takesLevels()
        && tree.flushableBytes() == tree.memoryBytes()
        && MemoryRules.isSmall(tree.memoryBytes(), view.writeBytes(), tree.sliced());
  }
}
