package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.MergeView;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.merge.ReadLosses;
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
   * whatever runs a tree is to have (decision 0085), and near that a tree writes as much with them
   * as without. The model does not know how large batches are.
   */
  private static final double WORTH_TIERS = 2.5;

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

  /** What the tree may have; several runs only where tiers would hold enough batches of L0. */
  private List<Runs> worthwhile(WatchedTree watched, Version version) {
    TreeHandle tree = watched.tree();
    double share = Math.min(tree.shape().maxSpace() - 1, 1);
    long batch = tree.work().batchBytes();
    boolean several = share * version.atHeight(0).sizeBytes() >= WORTH_TIERS * batch;
    return choices(tree).stream()
        .filter(runs -> several || runs.isLeveled() || runs.equals(watched.runs()))
        .toList();
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
    List<Runs> choices = worthwhile(watched, version);
    int now = choices.indexOf(watched.runs());
    TreeModel model = model(watched, version, choices);
    if (model == null || now < 0 || ended.seen().operations() < 1) {
      return null;
    }
    WatchedTree.Spent spent = ended.spent();
    double spentWrites = writes(spent.flushedBytes(), spent.mergedBytes());
    double spentReads = spent.pagesRead() * tuning.options().readWeight();
    boolean isSettled = isSettled(tree, version);
    Runs having = tree.shape().runs();
    if (watched.progress().stage() != Stage.SETTLING && isSettled && isUsual(tree, ended.seen())) {
      int real = choices.indexOf(having);
      watched.calibrate(
          Calibration.of(
              writes(spent.flushedBytes(), spent.mergedBytes() - spent.forReadsBytes()),
              model.written(real, ended.seen()),
              spentReads,
              model.read(real, ended.seen())));
    }
    Calibration known = watched.calibration(having);
    double operations = ended.seen().operations();
    List<ShapeView.Option> options = new ArrayList<>();
    for (int i = 0; i < choices.size(); i++) {
      Calibration found = watched.calibration(choices.get(i));
      Calibration calibration = found.orElse(known);
      double written = calibration.writes() * model.written(i, ended.seen());
      double read = calibration.reads() * model.read(i, ended.seen());
      double price = i == now ? 0 : price(version, watched.runs(), choices.get(i));
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
