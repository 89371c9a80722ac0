package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.MergeView;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.ReadLosses;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.WriteSample;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.EvenPopularity;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.shape.Calibration;
import io.isobardb.tuner.shape.FirstFill;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import io.isobardb.tuner.shape.ShapeView;
import io.isobardb.tuner.shape.TreeModel;
import io.isobardb.tuner.shape.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes of a tree what {@link io.isobardb.tuner.shape.RunsTuner} looks at.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ShapeViews {
  /** What a tree may have, if its {@code maxSpace} allows it. */
  private static final List<Runs> CHOICES = List.of(Runs.leveled(), Runs.lazy(4), Runs.tiered(8));

  /**
   * Tiers that would hold fewer batches of L0 are left out. With less than two there are none,
   * whatever runs a tree is to have (decision 0085). With three to five a tree writes as much with
   * them as without, and reads more. The model does not know how large batches are.
   */
  private static final double WORTH_TIERS = 5;

  /** What the model takes for the ratio of levels where it is not told by what comes from L0. */
  private static final double RATIO = 10;

  /** Memory is not taken to hold more of the keys. */
  private static final double MOST_HELD = 0.9;

  /**
   * What is learnt of writes is not about the keys that the tree holds if it tells of so many times
   * as many. Where keys are never written again it tells of no end of them.
   */
  private static final double MOST_KEYS = 8;

  /** So small a part of the operations tells little of what writes cost. */
  private static final double FEW_WRITES = 0.05;

  private final Engine engine;
  private final Merger merger;
  private final Tuning tuning;
  private final int pageBytes;
  private final TableSizes sizes;

  ShapeViews(Engine engine, Merger merger, Tuning tuning) {
    this.engine = engine;
    this.merger = merger;
    this.tuning = tuning;
    this.pageBytes = engine.catalog().space().pageSize();
    this.sizes = merger.tableSizes();
  }

  /** What the tree may have. */
  private List<ShapeChoice> choices(TreeHandle tree, int l0Start) {
    boolean wide = TreeShape.isWideEnough(tree.shape().maxSpace());
    return CHOICES.stream()
        .filter(runs -> wide || runs.last() == 1)
        .map(runs -> new ShapeChoice(runs, l0Start))
        .toList();
  }

  /** What a tree may begin with, what is usual first. */
  private List<ShapeChoice> beginnings() {
    return List.of(
        new ShapeChoice(Runs.leveled(), 0), new ShapeChoice(Runs.leveled(), 2 * usual()));
  }

  /** Groups of L0 from which on it is merged down by the store's options. */
  private int usual() {
    return tuning.shaping().l0Start();
  }

  /** What the tree may have; several runs only where tiers would hold enough batches of L0. */
  private List<ShapeChoice> worthwhile(WatchedTree watched, Version version) {
    TreeHandle tree = watched.tree();
    double share = Math.min(tree.shape().maxSpace() - 1, 1);
    long batch = tree.work().batchBytes();
    boolean several = share * version.atHeight(0).sizeBytes() >= WORTH_TIERS * batch;
    return choices(tree, watched.choice().l0Start()).stream()
        .filter(choice -> several || choice.runs().isLeveled() || choice.equals(watched.choice()))
        .toList();
  }

  /** The choice of that name if the tree may have it; else null. */
  @Nullable ShapeChoice allowed(TreeHandle tree, String name) {
    for (ShapeChoice beginning : beginnings()) {
      for (ShapeChoice choice : choices(tree, beginning.l0Start())) {
        if (choice.toString().equals(name)) {
          return choice;
        }
      }
    }
    return null;
  }

  /** What a tree begins with that has just been flushed for the first time; null for the usual. */
  @Nullable ShapeDecision begin(WatchedTree watched) {
    TreeHandle tree = watched.tree();
    Window seen = watched.all();
    double bytes = 0;
    double entries = 0;
    for (PlacedRun run : tree.states().current().version().placedRuns()) {
      for (SSTableMeta table : run.run().elements()) {
        bytes += table.sizeBytes();
        entries += table.entries();
      }
    }
    if (entries < 1 || seen.operations() < 1) {
      return null;
    }
    double entryBytes = bytes / entries;
    List<ShapeChoice> choices = beginnings();
    double held = Math.max(1, memoryShare() / entryBytes);
    FirstFill.Costs costs =
        (option, size) -> {
          Popularity popularity = new EvenPopularity(Math.max(2, size * held));
          double round = Math.max(1, popularity.sweptUniqueInverse(held));
          int groups = choices.get(option).groups(usual());
          Sizes each = new Sizes(entryBytes, popularity, round);
          TreeModel model = model(watched, each, choices.get(option).runs(), groups);
          return (model.written(0, seen) + model.read(0, seen)) / seen.operations();
        };
    int best = FirstFill.choose(seen, choices.size(), costs);
    if (best == 0) {
      return null;
    }
    double size = FirstFill.USUAL_SIZE;
    return new ShapeDecision(
        watched.windows(),
        tree.id(),
        ShapeDecision.Action.BEGIN,
        watched.choice().toString(),
        choices.get(best).toString(),
        costs.of(0, size),
        costs.of(best, size),
        0,
        0,
        "saves at every size that the tree may come to",
        watched.progress());
  }

  /**
   * Ends the tree's window.
   *
   * @param isFree whether nothing else of the store is being changed
   * @return null if too little is known of the tree
   */
  @Nullable ShapeView view(WatchedTree watched, boolean isFree) {
    TreeHandle tree = watched.tree();
    Version version = tree.states().current().version();
    WatchedTree.Ended ended = watched.end();
    List<ShapeChoice> choices = worthwhile(watched, version);
    int now = choices.indexOf(watched.choice());
    Sizes measured = sizes(watched, version);
    if (measured == null || now < 0 || ended.seen().operations() < 1) {
      return null;
    }
    WatchedTree.Spent spent = ended.spent();
    double spentWrites = writes(spent.flushedBytes(), spent.mergedBytes());
    double spentReads = spent.pagesRead() * tuning.options().readWeight();
    boolean isSettled = isSettled(tree, version);
    ShapeChoice having = watched.having();
    if (watched.progress().stage() != Stage.SETTLING && isSettled && isUsual(tree, ended.seen())) {
      TreeModel model = model(watched, measured, having);
      watched.calibrate(
          Calibration.of(
              writes(spent.flushedBytes(), spent.mergedBytes() - spent.forReadsBytes()),
              model.written(0, ended.seen()),
              spentReads,
              model.read(0, ended.seen())));
    }
    Calibration known = watched.calibration(having.runs());
    double operations = ended.seen().operations();
    List<ShapeView.Option> options = new ArrayList<>();
    for (int i = 0; i < choices.size(); i++) {
      Calibration found = watched.calibration(choices.get(i).runs());
      Calibration calibration = found.orElse(known);
      TreeModel model = model(watched, measured, choices.get(i));
      double written = calibration.writes() * model.written(0, ended.seen());
      double read = calibration.reads() * model.read(0, ended.seen());
      double price = i == now ? 0 : price(version, watched.choice().runs(), choices.get(i).runs());
      options.add(
          new ShapeView.Option(
              choices.get(i).toString(), (written + read) / operations, price, found.isTold()));
    }
    return new ShapeView(
        watched.windows(),
        tree.id(),
        operations,
        watched.phases(),
        options,
        now,
        (spentWrites + spentReads) / operations,
        isSettled,
        isFree && known.isEnough());
  }

  /**
   * Whether the window tells what a tree costs: what is put in the order of keys is never merged,
   * and nothing like what comes later.
   */
  private static boolean isUsual(TreeHandle tree, Window seen) {
    return tree.work().l0Depth() > 0 || seen.writes() < FEW_WRITES * seen.operations();
  }

  /** What is merged was read before. */
  private double writes(double flushedBytes, double mergedBytes) {
    double written = tuning.options().writeWeight();
    double both = written + tuning.options().readWeight();
    return (flushedBytes * written + mergedBytes * both) / pageBytes;
  }

  /** What reads have lost by passing SSTables, with the weights of pages. */
  ReadLosses losses(Map<Long, Double> pages) {
    return new ReadLosses(
        pages, pageBytes, tuning.options().writeWeight(), tuning.options().readWeight());
  }

  /** Whether nothing stands where it may not with the runs that the tree has. */
  private static boolean isSettled(TreeHandle tree, Version version) {
    Runs runs = tree.shape().runs();
    return runs.isLeveled() ? version.tiers().isEmpty() : above(version) == 0;
  }

  /** Bytes in levels above the last. */
  private static long above(Version version) {
    long bytes = 0;
    for (int height = 1; height < version.levelCount(); height++) {
      bytes += version.atHeight(height).sizeBytes();
    }
    return bytes;
  }

  /**
   * What is rewritten, in weighted pages: tiers or levels that are to go, and the last level below
   * them.
   */
  private double price(Version version, Runs from, Runs to) {
    boolean fewer = to.isLeveled() || to.last() < from.last();
    long going = fewer ? version.tierBytes() : from.isLeveled() ? above(version) : 0;
    double bytes = going == 0 ? 0 : (double) going + version.atHeight(0).sizeBytes();
    return bytes / pageBytes * (tuning.options().writeWeight() + tuning.options().readWeight());
  }

  /**
   * Writes between two flushes of the same key; before there were any, as the tree's share of the
   * write memory lets expect.
   */
  private double round(TreeHandle tree, Popularity popularity, double entryBytes) {
    double measured = tree.work().roundWrites();
    if (measured > 0) {
      return measured;
    }
    double held = Math.min(memoryShare() / entryBytes, MOST_HELD * popularity.keys());
    return Math.max(1, popularity.sweptUniqueInverse(held));
  }

  /** Write memory that a tree has if all have as much. */
  private double memoryShare() {
    return (double) engine.gate().limitBytes() / Math.max(1, engine.catalog().trees().size());
  }

  /** What is known of a tree's sizes: bytes of an entry, its keys, writes between two flushes. */
  private record Sizes(double entryBytes, Popularity popularity, double round) {}

  /** The tree as it was measured; null if it has no last level. */
  private @Nullable Sizes sizes(WatchedTree watched, Version version) {
    TreeHandle tree = watched.tree();
    double entries = watched.lastEntries();
    if (!(entries > 0)) {
      return null;
    }
    double entryBytes = version.atHeight(0).sizeBytes() / entries;
    WriteSample sample = tree.counts().sample();
    Popularity learnt = sample == null ? null : sample.popularity(engine.log().end());
    Popularity popularity =
        learnt == null || learnt.keys() > MOST_KEYS * entries
            ? new EvenPopularity(entries)
            : learnt;
    return new Sizes(entryBytes, popularity, round(tree, popularity, entryBytes));
  }

  private TreeModel model(WatchedTree watched, Sizes measured, ShapeChoice choice) {
    double depth = watched.tree().work().l0Depth();
    double groups = depth > 0 ? depth : choice.groups(usual());
    return model(watched, measured, choice.runs(), (int) Math.max(1, Math.round(groups)));
  }

  private TreeModel model(WatchedTree watched, Sizes measured, Runs runs, int groups) {
    TreeHandle tree = watched.tree();
    MergeView view = merger.diskView(tree);
    double entryBytes = measured.entryBytes();
    double slice =
        sizes.flushed(
            engine.gate().limitBytes(), view.writeMemoryBytes(), tree.memory().isSliced());
    EngineShape.Disk disk =
        new EngineShape.Disk(slice / entryBytes, view.targetBytes() / entryBytes, 1, groups, RATIO);
    return new TreeModel(
        new TreeModel.Measured(
            disk, measured.round(), measured.popularity(), entryBytes / pageBytes),
        List.of(RunPolicy.parse(runs.toString())),
        new RunsModel.Reads(
            pageBytes / entryBytes,
            tree.settings().filterBitsPerKey(),
            tuning.shaping().filtersByLevel()),
        tree.shape().maxSpace(),
        new TreeModel.Weights(tuning.options().writeWeight(), tuning.options().readWeight()));
  }
}
