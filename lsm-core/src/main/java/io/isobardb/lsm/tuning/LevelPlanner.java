package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.MergeView;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.PartitionedLeveling;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.WriteSample;
import io.isobardb.lsm.version.Level;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelShares;
import io.isobardb.tuner.workload.LevelTuner;
import io.isobardb.tuner.workload.LevelView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Has {@link LevelTuner} decide what the levels of trees are to hold, once a cycle, and gives trees
 * what was decided. It learns from the writes of as many trees as there is memory for, those first
 * that are written most.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class LevelPlanner {
  /** What is learnt takes this part of the budget, or what one tree needs if that is more. */
  private static final int BUDGET_SHARE = 1024;

  private static final int MOST_TREES = 1024;

  private final Engine engine;
  private final PagePool pool;
  private final Merger merger;
  private final PartitionedLeveling policy;
  private final TableSizes sizes;
  private final int memoryBytes;
  private final Map<Integer, Watched> trees = new HashMap<>();
  private long cycle;
  private long cycleLsn;

  /** Writes to each tree when the cycle began; none to those that came later. */
  private Map<Integer, Long> cycleWrites = Map.of();

  /** A tree that is learnt from. */
  private static final class Watched {
    LevelProgress progress = LevelProgress.START;

    /** What the sample was made for. */
    long sampledEntries;

    /** Writes when what is found now began to be found. */
    long foundWrites;

    long[] foundMerged = new long[0];
    long foundAll;

    /** Whether nothing has been decided since the store was opened. */
    boolean undecided = true;

    /** The reason for that which was last told. */
    String awaited = "";
  }

  LevelPlanner(
      Engine engine, PagePool pool, Merger merger, LevelingOptions options, long budgetBytes) {
    this.engine = engine;
    this.pool = pool;
    this.merger = merger;
    this.policy = new PartitionedLeveling(options);
    this.sizes = merger.tableSizes();
    this.memoryBytes = memoryBytes(budgetBytes);
    pool.blocks().chargeOutside(memoryBytes, Purpose.METADATA);
  }

  /** The memory that what is learnt of writes takes. */
  static int memoryBytes(long budgetBytes) {
    return WriteSample.BYTES * mostTrees(budgetBytes);
  }

  private static int mostTrees(long budgetBytes) {
    long share = budgetBytes / BUDGET_SHARE / WriteSample.BYTES;
    return (int) Math.max(1, Math.min(MOST_TREES, share));
  }

  /** Gives its memory back; nobody writes any more. */
  void release() {
    pool.blocks().dischargeOutside(memoryBytes, Purpose.METADATA);
  }

  /** Goes on from what was decided before the store was closed. */
  void start(List<LevelDecision> before) {
    Map<Integer, LevelDecision> last = new HashMap<>();
    before.forEach(decision -> last.put(decision.tree(), decision));
    for (LevelDecision decision : last.values()) {
      cycle = Math.max(cycle, decision.cycle());
      TreeHandle tree = engine.catalog().tree(decision.tree());
      if (tree != null && fits(tree, decision.plan())) {
        Watched watched = trees.computeIfAbsent(tree.id(), id -> begun(tree));
        watched.progress = decision.after();
        tree.levels().setPlan(decision.plan());
      }
    }
    cycleLsn = engine.log().end();
  }

  /** Whether a plan is within the space that the options allow now. */
  private static boolean fits(TreeHandle tree, @Nullable LevelShares plan) {
    double most = tree.shape().maxSpace() + 1e-6;
    return plan == null || plan.byHeight().stream().mapToDouble(it -> it).sum() <= most;
  }

  private static long writes(TreeHandle tree) {
    return tree.counts().writes();
  }

  private long writesInCycle(TreeHandle tree) {
    return writes(tree) - cycleWrites.getOrDefault(tree.id(), 0L);
  }

  private static Watched begun(TreeHandle tree) {
    Watched watched = new Watched();
    findAnew(tree, watched);
    return watched;
  }

  private static void findAnew(TreeHandle tree, Watched watched) {
    watched.foundWrites = writes(tree);
    watched.foundMerged = tree.work().levelMergedBytes();
    watched.foundAll = tree.work().sums().mergedBytes();
  }

  /**
   * What was found so far was found under other conditions than what comes.
   *
   * @param reason which, for people
   */
  void findAnew(String reason) {
    trees.forEach(
        (id, watched) -> {
          TreeHandle tree = engine.catalog().tree(id);
          if (tree != null) {
            findAnew(tree, watched);
            tree.levels().setReason(reason + ": what these sizes cost is found anew");
          }
        });
    beginCycle();
  }

  private void beginCycle() {
    cycleWrites =
        engine.catalog().trees().stream()
            .collect(Collectors.toMap(TreeHandle::id, LevelPlanner::writes));
    cycleLsn = engine.log().end();
  }

  /**
   * A cycle has ended, in which the wall stood still.
   *
   * @return what was decided; to wait only as long as nothing else was, and if for something new
   */
  List<LevelDecision> decide() {
    cycle++;
    learn();
    List<LevelDecision> decisions = new ArrayList<>();
    for (Map.Entry<Integer, Watched> entry : trees.entrySet()) {
      TreeHandle tree = engine.catalog().tree(entry.getKey());
      if (tree == null || tree.closed()) {
        continue;
      }
      Watched watched = entry.getValue();
      LevelDecision decision = LevelTuner.choose(watched.progress, view(tree, watched));
      tree.levels().setReason(decision.reason());
      if (decision.action() != Action.WAIT) {
        watched.undecided = false;
        watched.progress = decision.after();
        tree.levels().setPlan(decision.plan());
        findAnew(tree, watched);
        decisions.add(decision);
      } else if (watched.undecided && !decision.reason().equals(watched.awaited)) {
        watched.awaited = decision.reason();
        decisions.add(decision);
      }
    }
    beginCycle();
    return decisions;
  }

  /**
   * How steeply what merges of a tree write falls with its memory, by the model; 0 if the tree is
   * none of those that are learnt from, or not enough is known of it yet.
   */
  double steepness(TreeHandle tree) {
    Watched watched = trees.get(tree.id());
    return watched == null || tree.closed() ? 0 : LevelTuner.steepness(view(tree, watched));
  }

  /** Whether a tree's levels are on their way to other sizes, or it is found what these cost. */
  boolean isPlanning() {
    return trees.values().stream().anyMatch(it -> it.progress.stage() != Stage.RESTING);
  }

  /** Tells of a decision, but not of waiting. */
  void tell(LevelDecision decision) {
    TreeHandle tree = engine.catalog().tree(decision.tree());
    if (tree != null && decision.action() != Action.WAIT) {
      long last = tree.states().current().version().atHeight(0).sizeBytes();
      engine
          .observers()
          .onLeveled(
              new StoreListener.Levels(
                  decision.cycle(),
                  tree.name(),
                  bytes(decision.plan(), last),
                  decision.modelled(),
                  decision.expected(),
                  decision.found(),
                  decision.action().name(),
                  decision.reason()));
    }
  }

  /** What levels from L1 on are to hold by a plan, with so much in the last. */
  public static List<Long> bytes(@Nullable LevelShares plan, long lastBytes) {
    if (plan == null) {
      return List.of();
    }
    List<Long> bytes = new ArrayList<>();
    for (int height = plan.count() - 1; height >= 0; height--) {
      bytes.add((long) (plan.share(height) * lastBytes));
    }
    return bytes;
  }

  /** Learns from the trees that are written most, and forgets the others. */
  private void learn() {
    Map<TreeHandle, Long> written = new HashMap<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      Watched watched = trees.get(tree.id());
      long writes = writesInCycle(tree);
      // A tree that is learnt from gives way only to one that is written far more.
      long weight = watched == null ? writes : 2 * writes + 1;
      if (weight > 0 && !tree.closed() && lastEntries(tree) > 0) {
        written.put(tree, weight);
      }
    }
    List<TreeHandle> chosen =
        written.keySet().stream()
            .sorted(
                Comparator.comparing((TreeHandle tree) -> -written.getOrDefault(tree, 0L))
                    .thenComparing(TreeHandle::id))
            .limit(memoryBytes / WriteSample.BYTES)
            .toList();
    Set<Integer> kept = new HashSet<>();
    chosen.forEach(tree -> kept.add(tree.id()));
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!kept.contains(tree.id())) {
        boolean crowded = written.containsKey(tree);
        tree.levels()
            .setReason(
                crowded
                    ? "there is memory to learn from "
                        + chosen.size()
                        + ", and those are written more"
                    : "it has nothing in its levels, or was not written in this cycle");
      }
    }
    trees.keySet().removeIf(id -> !kept.contains(id) && forget(id));
    for (TreeHandle tree : chosen) {
      Watched watched = trees.get(tree.id());
      if (watched == null) {
        // How much of the log its writes are is known after a cycle. A few writes that come just
        // now would be taken for all of this one: such a window has no end.
        trees.put(tree.id(), begun(tree));
      } else {
        learn(tree, watched);
      }
    }
  }

  private boolean forget(int id) {
    TreeHandle tree = engine.catalog().tree(id);
    if (tree != null) {
      tree.counts().setSample(null);
      tree.levels().setPlan(null);
    }
    return true;
  }

  /** A window is as many writes as the tree has entries: so long it takes to see them all. */
  private void learn(TreeHandle tree, Watched watched) {
    long entries = lastEntries(tree);
    long writes = writesInCycle(tree);
    boolean outgrown = entries > 2 * watched.sampledEntries;
    if (writes > 0 && (tree.counts().sample() == null || outgrown)) {
      long lsn = engine.log().end();
      double perWrite = Math.max(1, (double) (lsn - cycleLsn) / writes);
      tree.counts().setSample(new WriteSample(tree.counts(), (long) (entries * perWrite), lsn));
      watched.sampledEntries = entries;
    }
  }

  private static long lastEntries(TreeHandle tree) {
    return entries(tree.states().current().version().atHeight(0));
  }

  private static long entries(Level<SSTableMeta> level) {
    long entries = 0;
    for (SSTableMeta table : level.elements()) {
      entries += table.entries();
    }
    return entries;
  }

  private LevelView view(TreeHandle tree, Watched watched) {
    MergeView view = merger.diskView(tree);
    Level<SSTableMeta> last = view.version().atHeight(0);
    double entries = entries(last);
    double entryBytes = Math.max(1, last.sizeBytes() / Math.max(1, entries));
    WriteSample sample = tree.counts().sample();
    return new LevelView(
        cycle,
        tree.id(),
        new LevelView.Sizes(
            entries,
            view.targetBytes() / entryBytes,
            sizes.flushed(
                    engine.gate().limitBytes(), view.writeMemoryBytes(), tree.memory().isSliced())
                / entryBytes,
            tree.work().roundWrites(),
            tree.work().l0Depth()),
        policy.levelShares(view),
        policy.levelShares(view.withoutPlan()),
        sample == null ? null : sample.popularity(engine.log().end()),
        tree.shape().maxSpace(),
        work(tree, watched, entryBytes));
  }

  private static LevelView.Work work(TreeHandle tree, Watched watched, double entryBytes) {
    long[] merged = tree.work().levelMergedBytes();
    double toL0 = tree.work().sums().mergedBytes() - (double) watched.foundAll;
    List<Double> found = new ArrayList<>();
    for (int height = 0; height < merged.length; height++) {
      double bytes = merged[height] - watched.foundMerged[height];
      found.add(bytes / entryBytes);
      toL0 -= bytes;
    }
    return new LevelView.Work(
        writes(tree) - (double) watched.foundWrites, found, Math.max(0, toL0) / entryBytes);
  }
}
