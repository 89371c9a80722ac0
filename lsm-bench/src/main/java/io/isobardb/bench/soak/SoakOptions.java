package io.isobardb.bench.soak;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Draws the options that a soak's store is opened with, each time anew. */
final class SoakOptions {
  private static final List<IoBandwidth> BANDWIDTHS =
      List.of(
          IoBandwidth.auto(),
          IoBandwidth.auto(),
          IoBandwidth.of(100 << 20),
          IoBandwidth.unlimited());
  private static final double[] PROCESSORS = {0.01, 0.25, 0.25, 1024};

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
