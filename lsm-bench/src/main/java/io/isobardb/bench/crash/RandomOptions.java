package io.isobardb.bench.crash;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.simulation.FallingOrder;
import io.isobardb.lsm.simulation.TailOperator;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/** Options of stores and trees, drawn at random from what is small enough to be crashed often. */
final class RandomOptions {
  private static final int MIN_BUDGET_BYTES = 4 << 20;

  /** What each of the trees that share write memory has at least. */
  private static final int MIN_SHARE_PAGES = 8;

  private static final int MIN_ACTIVE_PAGES = 8;

  /** What levels are made for: as it comes, or so that they come and go when a store is opened. */
  private static final Levels[] LEVELS = {
    Levels.dynamic(), Levels.fixed(64 << 10), Levels.fixed(64 << 10), Levels.fixed(64 << 20)
  };

  private static final List<IoBandwidth> BANDWIDTHS =
      List.of(
          IoBandwidth.auto(),
          IoBandwidth.of(20 << 20),
          IoBandwidth.of(200 << 20),
          IoBandwidth.unlimited());

  private RandomOptions() {}

  /** A page size; mostly small ones, as large ones need large budgets. */
  static int pageSize(SplittableRandom random) {
    int dice = random.nextInt(20);
    return dice < 12 ? 4096 : dice < 16 ? 8192 : dice < 19 ? 16384 : 65536;
  }

  /** The smallest budget that a store of these pages works well with. */
  static long minBudgetBytes(int pageSize) {
    return pageSize == 65536 ? 6L * MIN_BUDGET_BYTES : MIN_BUDGET_BYTES;
  }

  /** The same for a store whose writes, which are not expected to be refused, wait. */
  static StoreOptions patient(StoreOptions options) {
    return options.toBuilder().writeTimeout(Duration.ofDays(365)).build();
  }

  /** Options of a store with these pages, little memory and a short log. */
  static StoreOptions store(SplittableRandom random, int pageSize) {
    long budget = minBudgetBytes(pageSize);
    // With little write memory, replay has to flush.
    long writeMemory = budget >> (1 + random.nextInt(pageSize == 65536 ? 2 : 4));
    int activeSize = MIN_ACTIVE_PAGES * pageSize;
    int mostStaticTrees = (int) (writeMemory / (MIN_SHARE_PAGES * pageSize));
    StoreOptions.Builder drawn =
        StoreOptions.builder()
            .memoryBudget(budget)
            .writeMemory(writeMemory)
            .pageSize(pageSize)
            .logLimit(random.nextInt(4) == 0 ? 4 << 20 : 1 << 20);
    ExperimentalOptions.set(
        drawn,
        e ->
            e.flushPolicy(anyOf(random, FlushPolicy.values()))
                .writeMemoryAllocation(
                    random.nextInt(3) == 0
                        ? WriteMemoryAllocation.STATIC
                        : WriteMemoryAllocation.DYNAMIC)
                .staticTrees(Math.min(1 + random.nextInt(3), mostStaticTrees))
                .activeTableSize(
                    random.nextInt(3) != 0 && activeSize <= writeMemory / 4 ? activeSize : 0)
                .memoryComponent(anyOf(random, MemoryComponent.values()))
                .flushStrategy(anyOf(random, FlushStrategy.values()))
                .l0Structure(anyOf(random, L0Structure.values()))
                .l0StartGroups(1 + random.nextInt(4))
                .l0SlowdownGroups(5 + random.nextInt(4))
                .l0StopGroups(8 + random.nextInt(5))
                .mergeDebtLimit(1L << (20 + random.nextInt(8))));
    // Not drawn, either: in half of the stores as many groups as ever, whatever is read.
    ExperimentalOptions groups = ExperimentalOptions.of(drawn.build());
    if (groups.l0StartGroups() % 2 == 0) {
      ExperimentalOptions.set(drawn, e -> e.l0MostGroups(groups.l0StopGroups()));
    }
    drawn.mergeSchedule(schedule(random));
    limit(drawn, BANDWIDTHS.get(random.nextInt(BANDWIDTHS.size())));
    drawn
        .levels(anyOf(random, LEVELS))
        // Not drawn: then each seed would draw all else anew.
        .fileAccess(FileAccess.values()[(int) ((writeMemory >> 18) % 3)])
        .ioMode(random.nextBoolean() ? IoMode.DIRECT : IoMode.BUFFERED)
        .asyncSyncInterval(Duration.ofMillis(1 + random.nextInt(20)))
        .backgroundThreads(1 + random.nextInt(3));
    ExperimentalOptions.set(
        drawn,
        e ->
            e.mergeSelection(anyOf(random, MergeSelection.values()))
                .levelDropFactor(1 + random.nextInt(3) / 2.0)
                .levelSizeRatio(random.nextInt(3) == 0 ? 2 + random.nextInt(9) : 0)
                .mergesWithinL0(random.nextInt(3) != 0)
                .filtersByLevel((writeMemory >> 17) % 3 != 1)
                .flushTrigger(random.nextInt(3) == 0 ? 0.95 : 0.875)
                .processorMinimum(writeMemory > budget / 8 ? 0.01 : 1024)
                .indexLookups((writeMemory >> 16) % 2 == 0 ? 0 : 0.25)
                .crowdedPart((writeMemory >> 16) % 3 == 0 ? 0.125 : 0));
    drawn
        .maxSpace(1.01 + random.nextInt(4) / 2.0)
        .keyOrder(FallingOrder.FALLING)
        .mergeOperator(TailOperator.TAIL);
    // Not drawn, either.
    if ((writeMemory >> 17) % 3 == 2) {
      drawn.deleteRate(1 << 20);
    }
    if ((writeMemory >> 16) % 3 == 1) {
      drawn.writeTimeout(Duration.ofMillis((writeMemory >> 18) % 2));
    }
    if (writeMemory == budget / 8) {
      drawn.durability(Durability.SYNC);
    }
    if (writeMemory == budget / 4) {
      // Not drawn, so that all that is stays as it was.
      drawn.levels(Levels.optimised());
      ExperimentalOptions.set(drawn, e -> e.levelSizeRatio(0));
    }
    return drawn.build();
  }

  private static void limit(StoreOptions.Builder options, IoBandwidth bandwidth) {
    options.ioBandwidth(bandwidth);
    if (bandwidth.kind() == IoBandwidth.Kind.GIVEN) {
      long bytes = bandwidth.bytesPerSecond();
      ExperimentalOptions.set(options, e -> e.ioMinimum(bytes / 4).ioReserve(bytes / 2));
    }
  }

  private static MergeSchedule schedule(SplittableRandom random) {
    Duration duration = Duration.ofMillis(1 + random.nextInt(20));
    return switch (random.nextInt(5)) {
      case 0 -> MergeSchedule.belowThroughput(1L << random.nextInt(30), duration);
      case 1 -> MergeSchedule.afterLastWrite(duration);
      case 2 -> MergeSchedule.ADAPTIVE;
      default -> MergeSchedule.ALWAYS;
    };
  }

  private static <E> E anyOf(SplittableRandom random, E[] values) {
    return values[random.nextInt(values.length)];
  }

  /** The same with the least write memory and log there can be, so that replay has to flush. */
  static StoreOptions shortOfMemory(SplittableRandom random, int pageSize) {
    long budget = minBudgetBytes(pageSize);
    return StoreOptions.builder()
        .memoryBudget(budget)
        .writeMemory(budget / 16)
        .pageSize(pageSize)
        .logLimit(1 << 20)
        .backgroundThreads(1 + random.nextInt(3))
        .keyOrder(FallingOrder.FALLING)
        .mergeOperator(TailOperator.TAIL)
        .build();
  }

  /** How a tree's pages are stored. */
  static Compression compression(SplittableRandom random) {
    return switch (random.nextInt(9)) {
      case 0 -> Compression.LZ4;
      case 1 -> Compression.LZ4.last("ZSTD");
      case 2 -> Compression.of("ZSTD");
      case 3 -> Compression.NONE.last("ZSTD");
      default -> Compression.NONE;
    };
  }

  /** Options of a tree. */
  static TreeOptions tree(SplittableRandom random) {
    TreeOptions.Builder options =
        TreeOptions.builder()
            .keyOrder(random.nextInt(4) == 0 ? FallingOrder.FALLING : KeyOrder.BYTES)
            .logged(random.nextInt(4) != 0)
            .compression(compression(random))
            .filterBitsPerKey(random.nextInt(5) == 0 ? 0 : 10);
    if (random.nextInt(3) == 0) {
      options.mergeOperator(TailOperator.TAIL);
    }
    return options.build();
  }
}
