package io.isobardb.lsm.model;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Options for the small stores that scripts run on. */
final class ScriptOptions {
  private static final int DRAWN_SETS = 12;
  private static final long OTHERS = 0x9E3779B97F4A7C15L;

  private ScriptOptions() {}

  /** Those that a number stands for, whatever a script does between two openings. */
  static StoreOptions drawn(int number) {
    SplittableRandom random = new SplittableRandom(number);
    // What was not drawn when the first scripts were saved has numbers of its own.
    SplittableRandom others = new SplittableRandom(number * OTHERS);
    StoreOptions.Builder drawn =
        StoreOptions.builder()
            .memoryBudget((4L + random.nextInt(3) * 2) << 20)
            .pageSize(4096)
            .logLimit(random.nextBoolean() ? 1 << 20 : 4 << 20);
    ExperimentalOptions.set(
        drawn,
        e ->
            e.flushPolicy(any(random, FlushPolicy.values()))
                .flushStrategy(any(random, FlushStrategy.values()))
                .memoryComponent(any(random, MemoryComponent.values()))
                .l0Structure(any(others, L0Structure.values()))
                .mergeSelection(any(others, MergeSelection.values()))
                .levelDropFactor(1 + others.nextInt(3)));
    drawn
        .backgroundThreads(1 + random.nextInt(3))
        .levels(
            others.nextInt(3) == 0
                ? Levels.fixed(64L << 10 + others.nextInt(6))
                : Levels.dynamic());
    ExperimentalOptions.set(
        drawn,
        e ->
            e.writeMemoryAllocation(
                    others.nextInt(3) == 0
                        ? WriteMemoryAllocation.STATIC
                        : WriteMemoryAllocation.DYNAMIC)
                .staticTrees(1 + others.nextInt(3))
                .activeTableSize(others.nextInt(3) == 0 ? 32 << 10 : 0));
    drawn
        .memoryTuner(others.nextBoolean())
        .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
        .ioMode(any(others, IoMode.values()));
    if (others.nextInt(3) == 0) {
      drawn.levels(Levels.optimised());
    }
    return drawn.build();
  }

  /** Sets under which the same history must end the same: each choice once, and some mixtures. */
  static List<StoreOptions> sets() {
    List<StoreOptions.Builder> sets = new ArrayList<>();
    for (FlushPolicy policy : FlushPolicy.values()) {
      sets.add(ExperimentalOptions.set(small(), e -> e.flushPolicy(policy)));
    }
    for (FlushStrategy strategy : FlushStrategy.values()) {
      sets.add(ExperimentalOptions.set(small(), e -> e.flushStrategy(strategy)));
    }
    for (MemoryComponent component : MemoryComponent.values()) {
      sets.add(ExperimentalOptions.set(small(), e -> e.memoryComponent(component)));
      sets.add(
          ExperimentalOptions.set(small(), e -> e.memoryComponent(component))
              .writeMemory(256 << 10)
              .logLimit(1 << 20));
    }
    for (L0Structure structure : L0Structure.values()) {
      sets.add(ExperimentalOptions.set(small(), e -> e.l0Structure(structure)));
    }
    for (int trees : new int[] {1, 2, 8}) {
      sets.add(
          ExperimentalOptions.set(
              small(),
              e -> e.writeMemoryAllocation(WriteMemoryAllocation.STATIC).staticTrees(trees)));
    }
    sets.add(ExperimentalOptions.set(small(), e -> e.mergeSelection(MergeSelection.OLDEST)));
    sets.add(ExperimentalOptions.set(small(), e -> e.levelDropFactor(1)));
    sets.add(ExperimentalOptions.set(small(), e -> e.levelDropFactor(100)));
    sets.add(small().levels(Levels.fixed(64 << 10)));
    sets.add(small().levels(Levels.fixed(1 << 30)));
    sets.add(small().levels(Levels.optimised()));
    sets.add(small().memoryTuner(false).levels(Levels.optimised()));
    sets.add(ExperimentalOptions.set(small(), e -> e.activeTableSize(32 << 10)));
    sets.add(ExperimentalOptions.set(small(), e -> e.activeTableSize(512 << 10)));
    sets.add(ExperimentalOptions.set(small(), e -> e.diskTableSize(32 << 10)));
    sets.add(ExperimentalOptions.set(small(), e -> e.diskTableSize(4 << 20)));
    sets.add(small().writeMemory(3 << 20));
    sets.add(small().memoryTuner(false));
    sets.add(small().ioMode(IoMode.BUFFERED));
    sets.add(small().backgroundThreads(8));
    sets.add(small().durability(Durability.SYNC));
    for (int pageSize : new int[] {8192, 16384, 32768, 65536}) {
      sets.add(StoreOptions.builder().memoryBudget(24 << 20).pageSize(pageSize));
    }
    List<StoreOptions> all = new ArrayList<>();
    sets.forEach(set -> all.add(set.build()));
    for (int i = 0; i < DRAWN_SETS; i++) {
      all.add(drawn(-1 - i));
    }
    return all;
  }

  private static StoreOptions.Builder small() {
    return StoreOptions.builder().memoryBudget(4 << 20).pageSize(4096);
  }

  private static <E> E any(SplittableRandom random, E[] values) {
    return values[random.nextInt(values.length)];
  }
}
