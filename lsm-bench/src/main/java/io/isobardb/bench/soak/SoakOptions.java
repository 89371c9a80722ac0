package io.isobardb.bench.soak;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.TreeShape;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws the options that a soak's store is opened with, each time anew, and the shapes that its
 * trees take while it is open.
 */
final class SoakOptions {
  private static final List<IoBandwidth> BANDWIDTHS =
      List.of(
          IoBandwidth.auto(),
          IoBandwidth.auto(),
          IoBandwidth.of(100 << 20),
          IoBandwidth.unlimited());
  private static final double[] PROCESSORS = {0.01, 0.25, 0.25, 1024};

  /** Trees of a soak are small, so most of them have tiers only with much space. */
  private static final double[] SPACES = {1.25, 2, 4, 6};

  private static final int MOST_RUNS = 6;

  private SoakOptions() {}

  static StoreOptions draw(SplittableRandom random, long memoryBytes) {
    StoreOptions.Builder options =
        StoreOptions.builder()
            .memoryBudget(memoryBytes)
            .levels(random.nextBoolean() ? Levels.optimised() : Levels.dynamic())
            .mergeSchedule(schedule(random));
    ExperimentalOptions.set(
        options,
        e ->
            e.processorMinimum(PROCESSORS[random.nextInt(PROCESSORS.length)])
                .l0StartGroups(1 + random.nextInt(5))
                .l0SlowdownGroups(6 + random.nextInt(4)));
    IoBandwidth bandwidth = BANDWIDTHS.get(random.nextInt(BANDWIDTHS.size()));
    options.ioBandwidth(bandwidth);
    if (bandwidth.kind() == IoBandwidth.Kind.GIVEN) {
      ExperimentalOptions.set(
          options,
          e -> e.ioMinimum(1L << (20 + random.nextInt(6))).ioReserve(random.nextInt(20 << 20)));
    }
    return options.build();
  }

  /** A shape that any tree takes. */
  static TreeShape shape(SplittableRandom random) {
    double space = SPACES[random.nextInt(SPACES.length)];
    int runs = 2 + random.nextInt(MOST_RUNS - 1);
    return new TreeShape(
        switch (random.nextInt(TreeShape.isWideEnough(space) ? 4 : 3)) {
          case 0 -> Runs.leveled();
          case 1 -> Runs.of(runs, 2, 1);
          case 2 -> Runs.lazy(runs);
          default -> Runs.tiered(runs);
        },
        space);
  }

  private static MergeSchedule schedule(SplittableRandom random) {
    Duration pause = Duration.ofMillis(10 + random.nextInt(1000));
    return switch (random.nextInt(5)) {
      case 0 -> MergeSchedule.belowThroughput(1L << (16 + random.nextInt(8)), pause);
      case 1 -> MergeSchedule.afterLastWrite(pause);
      case 2 -> MergeSchedule.ALWAYS;
      default -> MergeSchedule.ADAPTIVE;
    };
  }
}
