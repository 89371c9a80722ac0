package io.isobardb.tuner.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;

/**
 * A store of formulas, whose best memory split is known: writes cost what equation 1 says, reads
 * what a curve over the size of the cache says, and each number that the tuner gets may be noisy.
 */
final class SyntheticStore {
  static final long MB = 1 << 20;
  static final int PAGE = 8192;
  private static final long OPERATIONS = 10_000_000;
  private static final double SIZE_RATIO = 10;

  long budgetBytes;
  long writeMemoryBytes;

  /** One of equally large trees writes so many bytes per operation of the store. */
  double[] writtenPerOperation;

  double lastLevelBytes;

  /** Query pages read per operation over the bytes of cache. */
  DoubleUnaryOperator reads;

  /** The part of the pages that merges read which the cache does not have. */
  double mergeMisses = 0.3;

  /** With e times the memory e to so much times less is merged than equation 1 says. */
  double steeper;

  /** Write memory that the log lets the trees fill, in bytes. */
  double logBytes = Double.POSITIVE_INFINITY;

  /** Standard deviation of what the tuner sees, as a share. */
  double noise;

  /** Times what the ghost cache should have seen. */
  double ghostBias = 1;

  private final SplittableRandom random;
  private long cycles;

  SyntheticStore(long seed, long budgetBytes, long writeMemoryBytes) {
    this.random = new SplittableRandom(seed);
    this.budgetBytes = budgetBytes;
    this.writeMemoryBytes = writeMemoryBytes;
  }

  /** Reads of keys that are all as likely, from so many bytes of data. */
  static DoubleUnaryOperator uniform(double readsPerOperation, double dataBytes) {
    return cache -> readsPerOperation * Math.max(0, 1 - cache / dataBytes);
  }

  /** Reads of pages of which few are asked for often. */
  static DoubleUnaryOperator zipf(double readsPerOperation, double dataBytes) {
    double hot = dataBytes / 1e4;
    return cache ->
        readsPerOperation
            * Math.max(0, 1 - StrictMath.log1p(cache / hot) / StrictMath.log1p(dataBytes / hot));
  }

  /**
   * Pages merged for one tree, per operation, with so much write memory in the store: equation 1,
   * and where there is less than a level, in proportion to how much a flush overlaps.
   */
  private double merges(int tree, double total, double x) {
    double share = writtenPerOperation[tree] / total;
    double ratio = lastLevelBytes / (share * Math.min(x, logBytes));
    double folds = ratio > Math.E ? StrictMath.log(ratio) : ratio / Math.E;
    double overlaps = StrictMath.pow(budgetBytes / x, steeper) / StrictMath.log(SIZE_RATIO);
    return writtenPerOperation[tree] / PAGE * (SIZE_RATIO + 1) * folds * overlaps;
  }

  private double total() {
    return Math.max(1e-9, Arrays.stream(writtenPerOperation).sum());
  }

  /** The true cost per operation. */
  double cost(double x, TunerOptions options) {
    double total = total();
    double writes = total / PAGE;
    double merged = 0;
    for (int tree = 0; tree < writtenPerOperation.length; tree++) {
      merged += merges(tree, total, x);
    }
    double read = reads.applyAsDouble(budgetBytes - x) + merged * mergeMisses;
    return options.writeWeight() * (writes + merged) + options.readWeight() * read;
  }

  double cost(TunerOptions options) {
    return cost(writeMemoryBytes, options);
  }

  /** The write memory with the lowest cost, by trying. */
  long best(TunerOptions options) {
    long best = budgetBytes / 64;
    for (long x = best; x <= budgetBytes - budgetBytes / 64; x += budgetBytes / 256) {
      if (cost(x, options) < cost(best, options)) {
        best = x;
      }
    }
    return best;
  }

  /** Runs a cycle and tells its statistics. */
  StoreCycle run() {
    List<TreeCycle> trees = new ArrayList<>();
    double mergeReads = 0;
    double total = total();
    double x = writeMemoryBytes;
    double byMemory = x < 0.9 * logBytes ? 1 : Math.max(0, Math.min(1, (logBytes / x - 0.9) * 5));
    for (int tree = 0; tree < writtenPerOperation.length; tree++) {
      double merged = merges(tree, total, x) * OPERATIONS;
      double written = writtenPerOperation[tree] * OPERATIONS;
      mergeReads += merged * mergeMisses;
      trees.add(
          new TreeCycle(
              tree,
              (long) written,
              noisy(merged * PAGE),
              (long) (written * byMemory),
              (long) (written * (1 - byMemory)),
              4,
              4 * writtenPerOperation[tree] / total,
              0,
              (long) lastLevelBytes,
              0,
              1,
              0));
    }
    double cache = budgetBytes - x;
    long ghost = budgetBytes / 32;
    double read = reads.applyAsDouble(cache);
    double saved = (read - reads.applyAsDouble(cache + ghost)) * ghostBias;
    return new StoreCycle(
        ++cycles,
        budgetBytes,
        writeMemoryBytes,
        PAGE,
        OPERATIONS,
        noisy(read * OPERATIONS),
        noisy(mergeReads),
        noisy(saved * OPERATIONS),
        0,
        ghost,
        trees);
  }

  /** Runs a cycle, lets the tuner decide, and does as it says. */
  TunerHistory tune(MemoryTuner tuner, TunerHistory history) {
    TunerHistory next = tuner.decide(history, run());
    writeMemoryBytes = next.decisions().get(next.decisions().size() - 1).toBytes();
    return next;
  }

  TunerHistory tune(MemoryTuner tuner, TunerHistory history, int count) {
    TunerHistory next = history;
    for (int i = 0; i < count; i++) {
      next = tune(tuner, next);
    }
    return next;
  }

  private long noisy(double value) {
    double sum = 0;
    for (int i = 0; i < 12; i++) {
      sum += random.nextDouble();
    }
    return Math.round(value * Math.max(0.01, 1 + noise * (sum - 6)));
  }
}
