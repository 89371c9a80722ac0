package io.isobardb.tuner.memory;

import java.util.List;

/**
 * What a cycle's I/O cost, and how much less it would be if either region had a byte more. Strict
 * arithmetic, so that decisions are the same on every machine.
 *
 * @param writeCost pages written per operation by flushes and merges, each tree's with its weight
 * @param readCost pages read per operation, for clients and for merges
 * @param cost omega times {@code writeCost} plus gamma times {@code readCost} (section 5.1)
 * @param write what one more byte of write memory would save, in cost, 0 or more: the negative part
 *     of cost′(x)
 * @param cache what one more byte of cache would save: the positive part of cost′(x)
 */
public record Pressure(double writeCost, double readCost, double cost, double write, double cache) {

  /** The most that is taken of a model: what is steeper is so for a short way only. */
  private static final double MOST_MODELLED = 2;

  /** Memory shares below this are taken for errors, unless there are so many trees. */
  private static final double MIN_SHARE = 0.01;

  /**
   * Estimates it from what a cycle saw; all 0 without operations.
   *
   * @param steepness how many times as much as equation 5 says more memory saves of the writes
   */
  static Pressure of(StoreCycle cycle, TunerOptions options, double steepness) {
    if (cycle.operations() == 0) {
      return new Pressure(0, 0, 0, 0, 0);
    }
    double perOperation = 1.0 / cycle.operations();
    double perPage = perOperation / cycle.pageBytes();
    double written = cycle.trees().stream().mapToDouble(TreeCycle::writtenBytes).sum();
    double writeCost = 0;
    double merged = 0;
    double fewerWrites = 0;
    double weightedFewerWrites = 0;
    double recentReads = 0;
    for (TreeCycle tree : cycle.trees()) {
      double mergedPages = tree.mergedBytes() * perPage;
      // Equation 4, without its sign.
      double fewer = steepness * mergedPages * elasticity(cycle, tree, written) / memory(cycle);
      merged += mergedPages;
      writeCost += tree.weight() * (mergedPages + tree.flushedBytes() * perPage);
      fewerWrites += fewer;
      weightedFewerWrites += tree.weight() * fewer;
      double more = share(cycle.trees(), tree, written) * tree.memoryTriggered();
      recentReads += more * tree.recentReads() * perOperation;
    }
    double mergeReads = cycle.mergeReadPages() * perOperation;
    double readCost = cycle.queryReadPages() * perOperation + mergeReads;
    double saved = ((double) cycle.queryGhostPages() + cycle.mergeGhostPages()) * perOperation;
    // Equation 6 in its two parts: reads that more cache would save, and those that merges would.
    double fewerReads = cycle.ghostBytes() > 0 ? saved / cycle.ghostBytes() : 0;
    double fewerMergeReads = merged > 0 ? fewerWrites * (mergeReads / merged) : 0;
    return new Pressure(
        writeCost,
        readCost,
        options.writeWeight() * writeCost + options.readWeight() * readCost,
        options.writeWeight() * weightedFewerWrites
            + options.readWeight() * (fewerMergeReads + recentReads),
        options.readWeight() * fewerReads);
  }

  /**
   * Equation 5, times x: by how many pages less an operation would write with e times the memory,
   * if it were right as far as there. 0 without operations.
   */
  static double fall(StoreCycle cycle) {
    double written = cycle.trees().stream().mapToDouble(TreeCycle::writtenBytes).sum();
    double bytes = 0;
    for (TreeCycle tree : cycle.trees()) {
      bytes += tree.weight() * tree.mergedBytes() * elasticity(cycle, tree, written);
    }
    return cycle.operations() == 0 ? 0 : bytes / cycle.pageBytes() / cycle.operations();
  }

  /** {@return cost′(x) of section 5.1: how the cost changes with one more byte of write memory} */
  public double slope() {
    return cache - write;
  }

  /**
   * What a step is expected to save, in cost, negative if it should lose. Writes follow equation 1,
   * so with the logarithm of write memory; reads follow the ghost cache, in a straight line.
   */
  double gain(long fromBytes, long toBytes) {
    double from = Math.max(1, fromBytes);
    return write * from * StrictMath.log(Math.max(1, toBytes) / from)
        - cache * (toBytes - fromBytes);
  }

  /**
   * The write memory at which both pressures would be equal if {@link #gain} were right. As reads
   * in truth get dearer the smaller the cache is, the best size lies between here and there.
   */
  double balancedBytes(long writeMemoryBytes) {
    return cache > 0 ? writeMemoryBytes * (write / cache) : Double.POSITIVE_INFINITY;
  }

  /**
   * Equation 5 for one tree without merge<sub>i</sub>(x) and 1/x: how many percent less is merged
   * with one percent more memory. Not more than one: twice the memory can't do more than halve what
   * is merged; near a last level as large as the memory the equation would have it without bounds.
   * 0 for a tree whose last level is no larger than its memory, of which the equation knows
   * nothing. What a model says comes before the equation, since it is nearer (docs/decisions/0052).
   */
  private static double elasticity(StoreCycle cycle, TreeCycle tree, double written) {
    if (tree.steepness() > 0) {
      return tree.memoryTriggered() * Math.min(MOST_MODELLED, tree.steepness());
    }
    double logarithm =
        StrictMath.log(
            tree.lastLevelBytes() / (share(cycle.trees(), tree, written) * memory(cycle)));
    return logarithm > 0 ? tree.memoryTriggered() / Math.max(1, logarithm) : 0;
  }

  /**
   * a<sub>i</sub>: the mean over the cycle's flushes; the share of the writes if there were none.
   * Clamped to what can be, since a tree may be caught just after a flush.
   */
  private static double share(List<TreeCycle> trees, TreeCycle tree, double written) {
    double share = 1.0 / trees.size();
    if (tree.flushes() > 0) {
      share = tree.shareSum() / tree.flushes();
    } else if (written > 0) {
      share = tree.writtenBytes() / written;
    }
    return Math.min(1, Math.max(Math.min(MIN_SHARE, 1.0 / trees.size()), share));
  }

  private static double memory(StoreCycle cycle) {
    return Math.max(cycle.pageBytes(), cycle.writeMemoryBytes());
  }
}
