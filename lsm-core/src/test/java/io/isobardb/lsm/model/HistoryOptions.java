package io.isobardb.lsm.model;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.TailOperator;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Draws the options of a {@link StoreHistory}. */
final class HistoryOptions {
  private final SplittableRandom random;
  private final int pageSize;

  private static final List<IoBandwidth> BANDWIDTHS =
      List.of(
          IoBandwidth.auto(),
          IoBandwidth.of(20 << 20),
          IoBandwidth.of(200 << 20),
          IoBandwidth.unlimited());

  /** How long writes may wait. The least budget has the first. */
  private static final List<Duration> TIMEOUTS =
      List.of(OptionLimits.FOREVER, Duration.ZERO, OptionLimits.FOREVER, Duration.ofMillis(2));

  private HistoryOptions(SplittableRandom random, int pageSize) {
    this.random = random;
    this.pageSize = pageSize;
  }

  private MergeSchedule schedule() {
    Duration duration = Duration.ofMillis(1 + random.nextInt(20));
    return switch (random.nextInt(5)) {
      case 0 -> MergeSchedule.belowThroughput(1L << random.nextInt(30), duration);
      case 1 -> MergeSchedule.afterLastWrite(duration);
      case 2 -> MergeSchedule.ADAPTIVE;
      default -> MergeSchedule.ALWAYS;
    };
  }

  /** Options of a store with pages of this size. */
  static StoreOptions some(SplittableRandom random, int pageSize) {
    return new HistoryOptions(random, pageSize).options();
  }

  private StoreOptions options() {
    long least = OptionLimits.leastBudget(pageSize);
    long budget =
        switch (random.nextInt(3)) {
          case 0 -> least;
          case 1 -> least + random.nextLong(least);
          default -> 2 * least << random.nextInt(2);
        };
    long writeMemory =
        switch (random.nextInt(6)) {
          case 0 -> (budget + 255) / 256;
          case 1 -> budget / 4 * 3;
          case 2, 3 -> budget / 2;
          default -> budget / 16 * (2 + random.nextInt(10));
        };
    // As many trees as there are eight pages for each.
    int mostTrees = (int) Math.min(3, writeMemory / (8L * pageSize));
    boolean shares = mostTrees > 0 && random.nextInt(3) == 0;
    StoreOptions.Builder drawn =
        StoreOptions.builder()
            .memoryBudget(budget)
            .writeMemory(writeMemory)
            .pageSize(pageSize)
            .logLimit(random.nextBoolean() ? 1 << 20 : 16 << 20);
    ExperimentalOptions.set(
        drawn,
        e ->
            e.flushPolicy(anyOf(FlushPolicy.values()))
                .writeMemoryAllocation(
                    shares ? WriteMemoryAllocation.STATIC : WriteMemoryAllocation.DYNAMIC)
                .staticTrees(1 + random.nextInt(Math.max(1, mostTrees)))
                .memoryComponent(anyOf(MemoryComponent.values()))
                .flushStrategy(anyOf(FlushStrategy.values()))
                .l0Structure(anyOf(L0Structure.values()))
                .l0StartGroups(1 + random.nextInt(4))
                .l0SlowdownGroups(5 + random.nextInt(4))
                .l0StopGroups(8 + random.nextInt(5))
                .mergeDebtLimit(1L << (20 + random.nextInt(8))));
    drawn.mergeSchedule(schedule());
    limit(drawn, BANDWIDTHS.get(random.nextInt(BANDWIDTHS.size())));
    ExperimentalOptions.set(
        drawn,
        e ->
            e.mergeSelection(anyOf(MergeSelection.values()))
                .levelDropFactor(1 + random.nextInt(3))
                .levelSizeRatio(random.nextInt(3) == 0 ? 2 + random.nextInt(9) : 0)
                .mergesWithinL0(random.nextInt(3) != 0)
                .filtersByLevel(random.nextInt(3) != 0)
                .flushTrigger(random.nextInt(3) == 0 ? 0.5 + random.nextInt(48) / 100.0 : 0.875)
                .processorMinimum(budget == least ? 0.01 : budget < 2 * least ? 1024 : 0.25)
                // Not drawn, so that all that is stays as it was.
                .indexLookups(budget / pageSize % 2 == 0 ? 0 : 0.25)
                .crowdedPart(budget / pageSize % 3 == 0 ? 0.125 : 0));
    drawn.levels(
        random.nextInt(3) == 0 ? Levels.fixed(64L << 10 + random.nextInt(8)) : Levels.dynamic());
    if (writeMemory == budget / 2) {
      // Not drawn, so that all that is stays as it was.
      drawn.levels(Levels.optimised());
      ExperimentalOptions.set(drawn, e -> e.levelSizeRatio(0));
    }
    return drawn
        .maxSpace(1.01 + random.nextInt(4) / 2.0)
        .memoryTuner(random.nextInt(4) != 0)
        .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
        // Not drawn, so that all that is stays as it was.
        .fileAccess(FileAccess.values()[(int) (budget / pageSize % 3)])
        .ioMode(random.nextBoolean() ? IoMode.DIRECT : IoMode.BUFFERED)
        .durability(random.nextInt(4) == 0 ? Durability.SYNC : Durability.ASYNC)
        .asyncSyncInterval(Duration.ofMillis(1 << random.nextInt(10)))
        // Not drawn, so that all that is stays as it was.
        .deleteRate(budget / pageSize % 3 == 1 ? 2 << 20 : 0)
        .writeTimeout(TIMEOUTS.get((int) (budget / pageSize % TIMEOUTS.size())))
        .backgroundThreads(1 + random.nextInt(4))
        .keyOrder(FallingOrder.FALLING)
        .mergeOperator(TailOperator.TAIL)
        .build();
  }

  private static void limit(StoreOptions.Builder options, IoBandwidth bandwidth) {
    options.ioBandwidth(bandwidth);
    if (bandwidth.kind() == IoBandwidth.Kind.GIVEN) {
      long bytes = bandwidth.bytesPerSecond();
      ExperimentalOptions.set(options, e -> e.ioMinimum(bytes / 4).ioReserve(bytes / 2));
    }
  }

  private <E> E anyOf(E[] values) {
    return values[random.nextInt(values.length)];
  }

  /**
   * The options with the memory that an opening asks for.
   *
   * @param refused what it threw; is thrown again if it asks for none
   */
  static StoreOptions withMemory(StoreOptions options, IsobarException refused) {
    Matcher told = Pattern.compile("a memoryBudget of (\\d+) bytes").matcher(refused.getMessage());
    if (!told.find()) {
      throw refused;
    }
    long budget = Long.parseLong(told.group(1));
    return options.toBuilder().memoryBudget(budget).writeMemory(0).build();
  }
}
