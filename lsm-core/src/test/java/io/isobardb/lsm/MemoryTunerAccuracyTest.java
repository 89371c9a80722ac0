package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.SimulatedStorage;
import java.time.Duration;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * How near the memory tuner comes to the best of some fixed splits, in pages written and read per
 * operation. Takes a minute or two a mix, so that it only runs when asked to: {@code
 * -Disobar.tuner.writes=50} for 50 % writes; {@code -Disobar.tuner.trees=10} for more trees than
 * one, {@code -Disobar.seed} for another seed.
 */
@EnabledIfSystemProperty(named = "isobar.tuner.writes", matches = "\\d+")
class MemoryTunerAccuracyTest {
  private static final long SEED = Long.getLong("isobar.seed", 11);
  private static final int TREES = Integer.getInteger("isobar.tuner.trees", 1);
  private static final int WARM_UP = Integer.getInteger("isobar.tuner.warmup", 60_000);
  private static final int MEASURED = Integer.getInteger("isobar.tuner.measured", 120_000);
  private static final int ROUNDS = Integer.getInteger("isobar.tuner.rounds", 8);

  /** Whose mean counts: in a single one there is a merge of L0 more or less. */
  private static final int LAST_ROUNDS = 3;

  private static final long BUDGET = 16 << 20;
  private static final int RECORDS = 60_000;

  private static StoreOptions options(int sixteenths, boolean tuner) {
    return StoreOptions.builder()
        .memoryBudget(BUDGET)
        .writeMemory(BUDGET / 16 * sixteenths)
        .pageSize(4096)
        .logLimit(40 << 20)
        .memoryTuner(tuner)
        .memoryTunerInterval(Duration.ofSeconds(6))
        .build();
  }

  @Test
  void theTunersEndIsNearTheBestFixedSplit() {
    TunedStore.Mix mix = TunedStore.Mix.writes(Integer.getInteger("isobar.tuner.writes", 50));
    TunedStore first = new TunedStore(SEED, options(4, false), TREES, RECORDS, 1000);
    try (first) {
      first.load();
    }
    SimulatedStorage disk = first.world().storage();
    double best = Double.MAX_VALUE;
    for (int sixteenths : new int[] {1, 3, 6, 9, 12}) {
      try (TunedStore store =
          new TunedStore(disk.copy(), SEED, options(sixteenths, false), TREES, RECORDS, 1000)) {
        store.run(mix, WARM_UP);
        double cost = store.measure(mix, MEASURED).perOperation();
        best = Math.min(best, cost);
        print("%s, write memory %2d/16: %.4f", mix, sixteenths, cost);
      }
    }
    double worst = 0;
    for (int sixteenths : new int[] {1, 12}) {
      try (TunedStore store =
          new TunedStore(disk.copy(), SEED, options(sixteenths, true), TREES, RECORDS, 1000)) {
        store.run(mix, WARM_UP);
        double last = 0;
        for (int round = 1; round <= ROUNDS; round++) {
          double cost = store.measure(mix, MEASURED).perOperation();
          last += round > ROUNDS - LAST_ROUNDS ? cost / LAST_ROUNDS : 0;
          print(
              "%s, tuner from %2d/16, round %d: %.4f, write memory %.1f/16 after %d decisions",
              mix, sixteenths, round, cost, 16.0 * store.target() / BUDGET, store.decisions.size());
        }
        print("%s", store.text());
        worst = Math.max(worst, last);
      }
    }
    assertTrue(worst <= 1.15 * best, worst + " per operation, and the best split has " + best);
  }

  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
