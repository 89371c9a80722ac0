package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.MergeView;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.TableSizes;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.WriteSample;
import io.isobardb.lsm.version.L0Limits;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.EvenPopularity;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.shape.Calibration;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import io.isobardb.tuner.shape.ShapeView;
import io.isobardb.tuner.shape.TreeModel;
import io.isobardb.tuner.shape.Window;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes of a tree what {@link io.isobardb.tuner.shape.RunsTuner} looks at.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ShapeViews {
  /** What a tree may have, if its {@code maxSpace} allows it. */
  private static final List<Runs> CHOICES =
      List.of(Runs.leveled(), Runs.lazy(2), Runs.lazy(4), Runs.lazy(8), Runs.tiered(8));

  /** What the model takes for the ratio of levels where it is not told by what comes from L0. */
  private static final double RATIO = 10;

  /** Memory is not taken to hold more of the keys. */
  private static final double MOST_HELD = 0.9;

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

  private static List<Runs> choices(TreeHandle tree) {
    boolean wide = TreeShape.isWideEnough(tree.shape().maxSpace());
    return CHOICES.stream().filter(runs -> wide || runs.last() == 1).toList();
  }

  /** The runs of that name if the tree may have them; else null. */
  static @Nullable Runs allowed(TreeHandle tree, String name) {
    for (Runs runs : choices(tree)) {
      if (runs.toString().equals(name)) {
        return runs;
      }
    }
    return null;
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
    List<Runs> choices = choices(tree);
    int now = choices.indexOf(watched.runs());
    TreeModel model = model(watched, version, choices);
    if (model == null || now < 0 || ended.seen().operations() < 1) {
      return null;
    }
    double spentWrites = writes(ended.spent());
    double spentReads = ended.spent().pagesRead() * tuning.options().readWeight();
    boolean isSettled = isSettled(tree, version);
    Calibration calibration = watched.calibration();
    if (watched.progress().stage() == Stage.RESTING && isSettled && isUsual(tree, ended.seen())) {
      int real = choices.indexOf(tree.shape().runs());
      calibration =
          calibration.after(
              Calibration.of(
                  spentWrites,
                  model.written(real, ended.seen()),
                  spentReads,
                  model.read(real, ended.seen())));
      watched.setCalibration(calibration);
    }
    double operations = ended.seen().operations();
    List<ShapeView.Option> options = new ArrayList<>();
    for (int i = 0; i < choices.size(); i++) {
      double written = calibration.writes() * model.written(i, ended.seen());
      double read = calibration.reads() * model.read(i, ended.seen());
      double price = i == now ? 0 : price(version, watched.runs(), choices.get(i));
      options.add(
          new ShapeView.Option(choices.get(i).toString(), (written + read) / operations, price));
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
        isFree && calibration.isEnough());
  }

  /**
   * Whether the window tells what a tree costs: what is put in the order of keys is never merged,
   * and nothing like what comes later.
   */
  private static boolean isUsual(TreeHandle tree, Window seen) {
    return tree.work().l0Depth() > 0 || seen.writes() < FEW_WRITES * seen.operations();
  }

  /** What is merged was read before. */
  private double writes(WatchedTree.Spent spent) {
    double written = tuning.options().writeWeight();
    double both = written + tuning.options().readWeight();
    return (spent.flushedBytes() * written + spent.mergedBytes() * both) / pageBytes;
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
    double share = (double) engine.gate().limitBytes() / engine.catalog().trees().size();
    double held = Math.min(share / entryBytes, MOST_HELD * popularity.keys());
    return Math.max(1, popularity.sweptUniqueInverse(held));
  }

  private @Nullable TreeModel model(WatchedTree watched, Version version, List<Runs> choices) {
    TreeHandle tree = watched.tree();
    double entries = watched.lastEntries();
    if (!(entries > 0)) {
      return null;
    }
    MergeView view = merger.diskView(tree);
    double entryBytes = version.atHeight(0).sizeBytes() / entries;
    double slice =
        sizes.flushed(
            engine.gate().limitBytes(), view.writeMemoryBytes(), tree.memory().isSliced());
    double depth = tree.work().l0Depth();
    EngineShape.Disk disk =
        new EngineShape.Disk(
            slice / entryBytes,
            view.targetBytes() / entryBytes,
            1,
            (int) Math.max(1, Math.round(depth > 0 ? depth : L0Limits.DEFAULT.start())),
            RATIO);
    WriteSample sample = tree.counts().sample();
    Popularity learnt = sample == null ? null : sample.popularity(engine.log().end());
    Popularity popularity = learnt == null ? new EvenPopularity(entries) : learnt;
    return new TreeModel(
        new TreeModel.Measured(
            disk, round(tree, popularity, entryBytes), popularity, entryBytes / pageBytes),
        choices.stream().map(runs -> RunPolicy.parse(runs.toString())).toList(),
        new RunsModel.Reads(
            pageBytes / entryBytes,
            tree.settings().filterBitsPerKey(),
            tuning.shaping().filtersByLevel()),
        tree.shape().maxSpace(),
        new TreeModel.Weights(tuning.options().writeWeight(), tuning.options().readWeight()));
  }
}
