package io.isobardb.tuner.shape;

import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.List;

/**
 * What operations on a tree cost by the runs of its levels, as {@link RunsModel} says, in pages
 * written and read, each with its weight. Immutable.
 */
public final class TreeModel {
  private final double entryPages;
  private final Weights weights;
  private final List<RunsCosts> options;

  /**
   * What pages count.
   *
   * @param written a page that is written
   * @param read a page that is read
   */
  public record Weights(double written, double read) {}

  /**
   * A tree as it was measured.
   *
   * @param disk its SSTables and L0
   * @param round writes to it between two flushes of the same key
   * @param popularity of its keys
   * @param entryPages pages that an entry takes
   */
  public record Measured(
      EngineShape.Disk disk, double round, Popularity popularity, double entryPages) {}

  /** Costs by one policy: entries that are flushed and merged for one put, and pages of reads. */
  private record RunsCosts(double flushed, double merged, RunsModel.Costs reads) {}

  /**
   * The costs of a tree.
   *
   * @param tree as it was measured
   * @param runs what the tree may have
   * @param reads what lookups and scans depend on
   * @param maxSpace entries in tiers and levels together for each key, above 1; may be infinite
   * @param weights what pages count
   */
  public TreeModel(
      Measured tree,
      List<RunPolicy> runs,
      RunsModel.Reads reads,
      double maxSpace,
      Weights weights) {
    this.entryPages = tree.entryPages;
    this.weights = weights;
    List<RunsCosts> all = new ArrayList<>();
    for (RunPolicy policy : runs) {
      RunsModel model = new RunsModel(tree.disk, tree.round, policy, reads, maxSpace);
      WriteCost cost = model.cost(tree.popularity);
      RunsModel.Costs costs = model.costs(tree.popularity);
      all.add(new RunsCosts(cost.flush(), costs.written() - cost.flush(), costs));
    }
    this.options = List.copyOf(all);
  }

  /**
   * {@return what writes of a window cost with one of the options: what is merged was read before}
   *
   * @param option which of the runs, from 0
   * @param window what was done
   */
  public double written(int option, Window window) {
    RunsCosts costs = options.get(option);
    double both = weights.written() + weights.read();
    return window.writes()
        * entryPages
        * (costs.flushed() * weights.written() + costs.merged() * both);
  }

  /**
   * {@return what lookups and scans of a window cost with one of the options, without a cache}
   *
   * @param option which of the runs, from 0
   * @param window what was done
   */
  public double read(int option, Window window) {
    RunsModel.Costs costs = options.get(option).reads();
    return weights.read()
        * (window.lookups() * costs.found()
            + window.absent() * costs.absent()
            + window.scans() * costs.scan(window.scanLength()));
  }
}
