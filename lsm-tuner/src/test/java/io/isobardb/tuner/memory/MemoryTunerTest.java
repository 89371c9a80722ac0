package io.isobardb.tuner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class MemoryTunerTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_121L);
  private static final long MB = SyntheticStore.MB;
  private static final TunerOptions OPTIONS = TunerOptions.DEFAULT;
  private static final MemoryTuner TUNER = new MemoryTuner(OPTIONS);

  private static SyntheticStore store(
      long seed, int trees, double writes, boolean skewed, double start) {
    long budget = 4096 * MB;
    SyntheticStore store = new SyntheticStore(seed, budget, (long) (start * budget));
    store.writtenPerOperation = new double[trees];
    store.lastLevelBytes = 20e9 / trees;
    shift(store, writes, skewed);
    return store;
  }

  private static void shift(SyntheticStore store, double writes, boolean skewed) {
    int trees = store.writtenPerOperation.length;
    // Every tenth tree has half of the writes.
    for (int tree = 0; tree < trees; tree++) {
      boolean hot = tree % 10 == 0;
      store.writtenPerOperation[tree] = hot ? 9 : 1;
    }
    double sum = Arrays.stream(store.writtenPerOperation).sum();
    for (int tree = 0; tree < trees; tree++) {
      store.writtenPerOperation[tree] *= 1000 * writes / sum;
    }
    store.reads =
        skewed ? SyntheticStore.zipf(1 - writes, 22e9) : SyntheticStore.uniform(1 - writes, 22e9);
  }

  /** How much dearer than the best split, as a share. */
  private static double excess(SyntheticStore store) {
    return store.cost(OPTIONS) / store.cost(store.best(OPTIONS), OPTIONS) - 1;
  }

  private static long turns(List<Decision> decisions) {
    List<Long> steps = decisions.stream().map(Decision::stepBytes).filter(s -> s != 0).toList();
    long turns = 0;
    for (int i = 1; i < steps.size(); i++) {
      turns += Long.signum(steps.get(i)) != Long.signum(steps.get(i - 1)) ? 1 : 0;
    }
    return turns;
  }

  /** Largest over smallest write memory in the last cycles, less one. */
  private static double spread(TunerHistory history, int last) {
    List<Decision> decisions = history.decisions();
    var sizes =
        decisions.subList(decisions.size() - last, decisions.size()).stream()
            .mapToDouble(Decision::toBytes)
            .summaryStatistics();
    return sizes.getMax() / sizes.getMin() - 1;
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0.1",
    "1, 0.3",
    "1, 0.5",
    "1, 0.7",
    "1, 0.9",
    "10, 0.1",
    "10, 0.5",
    "10, 0.9",
    "100, 0.3",
    "1000, 0.1",
    "1000, 0.9"
  })
  void reachesTheBestSplitFromBothEnds(int trees, double writes) {
    for (boolean skewed : new boolean[] {true, false}) {
      for (double start : new double[] {1.0 / 64, 63.0 / 64}) {
        SyntheticStore store = store(SEED, trees, writes, skewed, start);
        TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 10);
        String what = "skewed " + skewed + ", from " + start;
        assertTrue(excess(store) < 0.05, () -> what + ": " + excess(store));
        history = store.tune(TUNER, history, 30);
        assertTrue(excess(store) < 0.01, what + ", at the end: " + excess(store));
        assertEquals(0, spread(history, 20), 0.0, what);
        assertTrue(turns(history.decisions()) <= 3, what);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.3, 0.6})
  void learnsFromItsStepsHowMuchWritesFollowMemory(double steeper) {
    SyntheticStore store = store(SEED, 1, 0.2, false, 1.0 / 64);
    store.steeper = steeper;
    store.tune(TUNER, TunerHistory.EMPTY, 20);
    assertTrue(excess(store) < 0.005, () -> "excess " + excess(store));
  }

  @Test
  void staysAtTheBestSplitInSpiteOfNoise() {
    System.out.println("isobar.seed=" + SEED);
    int restless = 0;
    for (long seed = SEED; seed < SEED + 20; seed++) {
      for (double writes : new double[] {0.1, 0.3, 0.6}) {
        SyntheticStore store = store(seed, 10, writes, true, 1.0 / 64);
        store.noise = 0.03;
        TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 60);
        String what = "seed " + seed + ", writes " + writes + ": ";
        assertTrue(excess(store) < 0.02, what + excess(store));
        assertTrue(turns(history.decisions()) <= 8, what + turns(history.decisions()));
        restless += spread(history, 20) < 0.05 ? 0 : 1;
      }
    }
    assertTrue(restless <= 1, restless + " of 60 runs moved more than 5 % at rest");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.02})
  void followsAShiftOfTheWorkload(double noise) {
    for (double[] shift : new double[][] {{0.5, 0.05}, {0.05, 0.5}, {0.1, 0.15}, {0.9, 0.1}}) {
      SyntheticStore store = store(SEED, 10, shift[0], true, 0.5);
      store.noise = noise;
      TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 40);
      shift(store, shift[1], true);
      store.tune(TUNER, history, 15);
      assertTrue(excess(store) < 0.05, () -> Arrays.toString(shift) + ": " + excess(store));
    }
  }

  @Test
  void followsAShiftOfTheReadsAlone() {
    SyntheticStore store = store(SEED, 1, 0.2, true, 0.5);
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 40);
    store.reads = SyntheticStore.uniform(0.8, 6e9);
    history = store.tune(TUNER, history, 15);
    assertTrue(excess(store) < 0.05, () -> "to uniform: " + excess(store));
    store.reads = SyntheticStore.zipf(0.1, 22e9);
    store.tune(TUNER, history, 15);
    assertTrue(excess(store) < 0.05, () -> "to few: " + excess(store));
  }

  @Test
  void followsAMinimumThatNeverRests() {
    SyntheticStore store = store(SEED, 10, 0.3, true, 0.5);
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 20);
    double sum = 0;
    for (int i = 0; i < 200; i++) {
      shift(store, 0.3 + 0.2 * Math.sin(i / 15.0), true);
      sum += excess(store);
      history = store.tune(TUNER, history);
    }
    double mean = sum / 200;
    assertTrue(mean < 0.05, () -> "mean excess " + mean);
  }

  @Test
  void staysWhereNothingMatters() {
    SyntheticStore store = store(SEED, 3, 0, true, 0.3);
    store.reads = cache -> 0.5;
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 10);
    assertEquals(0, turns(history.decisions()));
    assertEquals((long) (0.3 * 4096 * MB), store.writeMemoryBytes);
  }

  @Test
  void withTwoMinimaItRestsInOneAndNeverEndsDearerThanItBegan() {
    for (double start = 0.05; start < 0.95; start += 0.05) {
      SyntheticStore store = store(SEED, 1, 0.3, true, start);
      // A working set of 1.5 GB: all of it fits, or a cache is of little use.
      double cliff = 1500.0 * MB;
      store.reads = cache -> 0.6 / (1 + StrictMath.exp((cache - cliff) / (100.0 * MB)));
      double before = store.cost(OPTIONS);
      TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 60);
      String what = "from " + start;
      assertTrue(store.cost(OPTIONS) <= before * 1.001, what);
      assertTrue(spread(history, 20) < 0.05, what);
    }
  }

  @Test
  void writeMemoryThatTheLogDoesNotLetFillGoesToTheCache() {
    for (double start : new double[] {1.0 / 64, 0.5, 63.0 / 64}) {
      SyntheticStore store = store(SEED, 10, 0.6, true, start);
      store.logBytes = 1000.0 * MB;
      TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 40);
      assertTrue(store.writeMemoryBytes < 1500 * MB, () -> "" + store.writeMemoryBytes / MB);
      assertTrue(excess(store) < 0.01, () -> "" + excess(store));
      history = store.tune(TUNER, history, 40);
      assertTrue(spread(history, 20) < 0.05, "from " + start);
      assertTrue(turns(history.decisions()) <= 8, "from " + start);
    }
  }

  @Test
  void aGhostCacheThatMisleadsDoesNotCostMuch() {
    for (double bias : new double[] {0.2, 0.5, 2, 5}) {
      for (double start : new double[] {1.0 / 64, 0.4, 63.0 / 64}) {
        SyntheticStore store = store(SEED, 1, 0.1, true, start);
        store.ghostBias = bias;
        store.tune(TUNER, TunerHistory.EMPTY, 60);
        double bound = bias < 0.3 || bias > 3 ? 0.16 : 0.05;
        assertTrue(excess(store) < bound, () -> bias + ": " + excess(store));
      }
    }
  }

  @Test
  void aStepThatHurtIsTakenBackAndItsDirectionBarred() {
    SyntheticStore store = store(SEED, 1, 0.3, true, 0.2);
    long start = store.writeMemoryBytes;
    // What the ghost cache can't see: above the start, reads get dear at once.
    var reads = store.reads;
    long cliff = store.budgetBytes - start - 50 * MB;
    store.reads = cache -> reads.applyAsDouble(cache) + (cache < cliff ? 0.3 : 0);
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 3);
    List<Decision> made = history.decisions();
    assertTrue(made.get(0).stepBytes() > 0);
    assertEquals(Method.STAY, made.get(1).method(), "looks again");
    assertEquals(Method.TAKEN_BACK, made.get(2).method());
    assertEquals(
        -made.get(0).stepBytes() < made.get(2).stepBytes(), start != made.get(2).toBytes());
    assertTrue(made.get(0).foundCost() > made.get(0).pressure().cost() * 1.1);
    assertTrue(made.get(0).predictedCost() < made.get(0).pressure().cost());
    history = store.tune(TUNER, history, 37);
    long hurting =
        history.decisions().stream().filter(d -> d.fromBytes() > start + 50 * MB).count();
    assertTrue(hurting <= 14, hurting + " of 40 cycles beyond the cliff");
    assertTrue(store.writeMemoryBytes <= start + 50 * MB);
  }

  @Test
  void aCostThatRoseForAnotherReasonIsNotChargedToTheStepForLong() {
    SyntheticStore store = store(SEED, 1, 0.3, true, 0.1);
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 1);
    var reads = store.reads;
    store.reads = cache -> reads.applyAsDouble(cache) + 0.3;
    history = store.tune(TUNER, history, 12);
    assertTrue(excess(store) < 0.05, () -> "" + excess(store));
    assertEquals(0, history.decisions().get(12).after().hold().cycles());
  }

  @Test
  void aSmallerBudgetMovesTheWallAtOnce() {
    SyntheticStore store = store(SEED, 1, 0.9, true, 0.9);
    TunerHistory history = store.tune(TUNER, TunerHistory.EMPTY, 5);
    store.budgetBytes = 1024 * MB;
    history = TUNER.decide(history, store.run());
    Decision decision = history.decisions().get(5);
    assertEquals(Method.LIMITS, decision.method());
    assertEquals(1020 * MB, decision.toBytes());
  }

  @Test
  void smallBudgetsAreTunedToo() {
    for (double start : new double[] {1.0 / 64, 63.0 / 64}) {
      SyntheticStore store = store(SEED, 10, 0.1, true, start);
      store.budgetBytes = 64 * MB;
      store.writeMemoryBytes = (long) (start * 64 * MB);
      store.lastLevelBytes = 30e6;
      store.reads = SyntheticStore.zipf(0.9, 3e8);
      store.tune(TUNER, TunerHistory.EMPTY, 12);
      assertTrue(excess(store) < 0.05, () -> "" + excess(store));
    }
  }

  @Test
  void weightsMoveTheWall() {
    long plain = settled(OPTIONS);
    assertTrue(settled(OPTIONS.withWeights(3, 1)) > plain * 1.2);
    assertTrue(settled(OPTIONS.withWeights(1, 3)) < plain * 0.8);
    assertNotEquals(0, settled(OPTIONS.withWeights(0, 0)));
  }

  private static long settled(TunerOptions options) {
    SyntheticStore store = store(SEED, 1, 0.1, true, 0.3);
    store.tune(new MemoryTuner(options), TunerHistory.EMPTY, 40);
    return store.writeMemoryBytes;
  }

  @Test
  void aWorkloadThatAlternatesEveryCycleDoesNotShakeTheWall() {
    SyntheticStore store = store(SEED, 10, 0.3, true, 0.4);
    TunerHistory history = TunerHistory.EMPTY;
    for (int i = 0; i < 60; i++) {
      shift(store, i % 2 == 0 ? 0.5 : 0.05, true);
      history = store.tune(TUNER, history);
    }
    assertTrue(spread(history, 20) < 0.15, "" + spread(history, 20));
  }

  @Test
  void withoutAGhostCacheItDecidesNothing() {
    SyntheticStore store = store(SEED, 1, 0.5, true, 0.2);
    StoreCycle it = store.run();
    StoreCycle blind =
        new StoreCycle(
            1,
            it.budgetBytes(),
            it.writeMemoryBytes(),
            it.pageBytes(),
            it.operations(),
            it.queryReadPages(),
            it.mergeReadPages(),
            0,
            0,
            0,
            it.trees());
    TunerHistory history = TUNER.decide(TunerHistory.EMPTY, blind);
    assertEquals(Method.STAY, history.decisions().get(0).method());
  }
}
