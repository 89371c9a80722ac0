package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.model.EvenPopularity;
import io.isobardb.tuner.model.LevelMerges;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.TierMerges;
import io.isobardb.tuner.workload.LevelShares;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How large the levels of a tree should be, and whether L1 should come or go. The last level is
 * taken as full and sets the others, by a {@link LevelPlan} for the batches that L0 delivers.
 *
 * <p>After an opening no batches are known until L0 delivers one. The levels of a large tree are
 * what earlier batches made them, and stay so until then.
 *
 * <p>If sizes don't go by batches, or T is given, the rule is the paper's: a level at height h may
 * hold a T<sup>h</sup>th of the last one. L1 is added when write memory times T is less than L1's
 * target, dropped when it exceeds f times L2's. Just after either, the write memory must change by
 * the factor f, or T, before the other. How many levels a small tree has is decided so in any case.
 *
 * <p>A plan from elsewhere comes before both. It says how many levels there are, and what they
 * hold.
 */
final class LevelTargets {
  /**
   * A tree that is smaller, by write memories, gets no further level for what its batches are: with
   * uniform keys one level is cheaper there than a plan believes (decision 0034).
   */
  private static final int LARGE = 8;

  /** More of the last level is not taken to come at a time. */
  private static final double MOST_DELIVERED = 0.9;

  /** A tree has tiers where they may hold so many batches of L0. */
  private static final int WORTH_TIERS = 2;

  /** While merges lag, a tree may hold by so much more than its space. */
  private static final double BEYOND_SPACE = 1 / 64.0;

  private final LevelingOptions options;
  private final Version version;
  private final TreeShape shape;
  private final long targetBytes;
  private final long lastBytes;
  private final int levels;
  private final long writeMemoryBytes;

  private final long tierBytes;

  /** What L0 delivers at a time, or about that. */
  private final long deliveredBytes;

  /** What L0 delivers at a time; 0 if sizes don't go by that. */
  private final long batchBytes;

  /** Whether the number of levels goes by that, too. */
  private final boolean large;

  /** Whether levels may stay as they are, since L0 has not told yet what it delivers. */
  private final boolean stay;

  private final double ratio;
  private final @Nullable LevelShares plan;

  LevelTargets(LevelingOptions options, MergeView view) {
    Version version = view.version();
    long followed =
        options.fixedWriteMemoryBytes() > 0
            ? options.fixedWriteMemoryBytes()
            : view.writeMemoryBytes();
    this.options = options;
    this.version = version;
    this.shape = view.shape();
    this.targetBytes = view.targetBytes();
    this.lastBytes = version.atHeight(0).sizeBytes();
    this.levels = version.levelCount();
    // A flush writes an SSTable at least, so less memory needs no further level.
    this.writeMemoryBytes = Math.max(followed, targetBytes);
    this.deliveredBytes = Math.max(1, view.batchBytes() > 0 ? view.batchBytes() : writeMemoryBytes);
    this.tierBytes = tierBytes(view);
    boolean fixed = options.sizeRatio() > 0 || options.fixedWriteMemoryBytes() > 0;
    this.plan = tierBytes > 0 ? null : view.plan();
    boolean byBatches = tierBytes == 0 && plan == null && !fixed;
    this.batchBytes = byBatches ? Math.max(0, view.batchBytes()) : 0;
    boolean isLarge = lastBytes >= LARGE * writeMemoryBytes;
    this.large = batchBytes > 0 && isLarge;
    this.stay = byBatches && view.batchBytes() == MergeView.UNTOLD && levels > 1 && isLarge;
    if (tierBytes > 0) {
      this.ratio = LevelPlan.leastRatio(levelsBelowTiers(), shape.maxSpace() - 1);
    } else {
      this.ratio =
          batchBytes > 0
              ? LevelPlan.of(levels, lastBytes, batchBytes, shape.maxSpace()).ratio()
              : options.usualRatio();
    }
  }

  /**
   * Tiers are as one level more on top of the levels, and as large as space allows: the more they
   * hold, the less of the levels is rewritten for each byte that leaves them. Where the last level
   * has one run, they hold no more than it does.
   */
  private long tierBytes(MergeView view) {
    Runs runs = shape.runs();
    if (runs.isLeveled()) {
      return 0;
    }
    int below = levelsBelowTiers();
    double share =
        runs.last() > 1
            ? Math.min(shape.maxSpace() - 1, runs.last())
            : Math.pow(LevelPlan.leastRatio(below, shape.maxSpace() - 1), -below);
    long bytes = (long) (share * lastBytes);
    long least = Math.max(targetBytes, deliveredBytes);
    return bytes >= (view.version().tiers().isEmpty() ? WORTH_TIERS * least : least) ? bytes : 0;
  }

  private int levelsBelowTiers() {
    return Math.max(1, shape.runs().single());
  }

  /** What all tiers may hold together, in bytes; 0 if there are to be none. */
  long tierBytes() {
    return tierBytes;
  }

  /** What space leaves for all above the last level, in bytes. */
  long spaceAboveLast() {
    return (long) (lastBytes * (shape.maxSpace() - 1));
  }

  /** What all above the last level are to hold together, in bytes. */
  long aboveLast() {
    long bytes = tierBytes;
    for (int height = 1; height < (wantsNoL1() ? levels - 1 : levels); height++) {
      bytes += targetBytes(height);
    }
    return bytes;
  }

  /**
   * The most that all above the last level may hold, in bytes: a little beyond space, so that there
   * is room while merges make some. In a small tree that is an SSTable at least.
   */
  long mostAboveLast() {
    double space = lastBytes * (shape.maxSpace() * (1 + BEYOND_SPACE) - 1);
    return Math.max((long) space, aboveLast() + targetBytes);
  }

  /**
   * How many runs of one size tiers may have: no more than what L0 delivers fits into them. Thinner
   * ones would lie over too much of the level below, and columns of them would be too wide.
   */
  Runs tierRuns() {
    int fitting = (int) Math.max(2, tierBytes / deliveredBytes);
    Runs runs = shape.runs();
    return runs.perLevel().get(0) <= fitting
        ? runs
        : new Runs(runs.perLevel().stream().map(most -> Math.min(most, fitting)).toList());
  }

  /** The write memory that levels are made for, in bytes. */
  long writeMemoryBytes() {
    return writeMemoryBytes;
  }

  /** What L0 delivers at a time, in a large tree whose number of levels goes by that; else 0. */
  long batchBytesIfLarge() {
    return large ? batchBytes : 0;
  }

  /** What a level should hold at most, in bytes; the last one has no target. */
  long targetBytes(int height) {
    long held = stay ? version.atHeight(height).sizeBytes() : 0;
    return Math.max(held + targetBytes, (long) share(height));
  }

  /** What the levels are to hold, the one that is about to come included. */
  LevelShares shares() {
    int count = plan != null ? plan.count() : wantsLevel() ? levels + 1 : levels;
    double grown =
        batchBytes > 0
            ? LevelPlan.of(count, lastBytes, batchBytes, shape.maxSpace()).ratio()
            : ratio;
    List<Double> shares = new ArrayList<>(List.of(1.0));
    for (int height = 1; height < count; height++) {
      double wanted = plan != null ? plan.share(height) : Math.pow(grown, -height);
      double least = (double) targetBytes / Math.max(1, lastBytes);
      shares.add(Math.min(shares.get(height - 1), Math.max(wanted, least)));
    }
    return new LevelShares(shares);
  }

  /**
   * What these sizes cost, each level and all tiers being full, if all keys are equally popular:
   * {@link LevelMerges} for what a column of L0 holds when it is merged, or for what {@link
   * TierMerges} makes of that. L0 then has as many groups as begin a merge. It delivers less at a
   * time in the mean, since half of the younger groups stay. Nothing while the last level is empty.
   */
  LevelCosts costs() {
    if (lastBytes == 0) {
      return new LevelCosts(0, 0);
    }
    double last = lastBytes;
    double[] sizes = new double[levels];
    double space = tierBytes / last;
    for (int height = 0; height < levels; height++) {
      sizes[levels - 1 - height] = height == 0 ? last : Math.min(last, targetBytes(height));
      space += sizes[levels - 1 - height] / last;
    }
    Popularity keys = new EvenPopularity(last);
    double start = options.l0Limits().startingAt(shape.l0Start()).start();
    double column = Math.min(deliveredBytes * 2 * start / (start + 1), MOST_DELIVERED * last);
    double first = keys.uniqueInverse(column);
    double written = 0;
    double interval = first;
    double columns = column / start / targetBytes;
    if (tierBytes > 0) {
      TierMerges tiers = new TierMerges(first, tierBytes, tierRuns().perLevel().get(0));
      written = Arrays.stream(tiers.written(keys)).sum();
      interval = tiers.interval(keys);
      columns = 1;
    }
    written += new LevelMerges(interval, targetBytes, columns, false).cost(keys, sizes);
    return new LevelCosts(written * first / column, space);
  }

  /** Whether L1 is too large for what comes from memory. */
  boolean wantsLevel() {
    if (tierBytes > 0) {
      return levels < levelsBelowTiers();
    }
    if (plan != null) {
      return levels < plan.count();
    }
    return levels < Place.MAX_LEVELS
        && !stay
        && (large ? wanted(batchBytes) > levels : reach() < share(levels - 1));
  }

  /** Whether L1 is of no use, memory being so large. */
  boolean wantsNoL1() {
    if (tierBytes > 0) {
      return levels > levelsBelowTiers();
    }
    if (plan != null) {
      return levels > plan.count();
    }
    return levels > 1
        && !stay
        && (large
            ? wanted(batchBytes / options.dropFactor()) < levels
            : reach() > options.dropFactor() * share(levels - 2));
  }

  private int wanted(double batch) {
    return LevelPlan.cheapest(lastBytes, batch, shape.maxSpace()).levels();
  }

  /** Write memory times T. */
  private double reach() {
    return writeMemoryBytes * options.usualRatio();
  }

  private double share(int height) {
    return plan != null ? lastBytes * plan.share(height) : lastBytes / Math.pow(ratio, height);
  }
}
