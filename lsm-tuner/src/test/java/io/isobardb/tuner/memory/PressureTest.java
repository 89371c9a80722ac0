package io.isobardb.tuner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PressureTest {
  private static final long MB = SyntheticStore.MB;
  private static final TunerOptions PLAIN = TunerOptions.DEFAULT;

  /** 100 MB of write memory, a million operations, pages of 1 KB. */
  private static StoreCycle cycle(
      long queryReads, long mergeReads, long queryGhosts, long mergeGhosts, TreeCycle... trees) {
    return new StoreCycle(
        1,
        1000 * MB,
        100 * MB,
        1024,
        1_000_000,
        queryReads,
        mergeReads,
        queryGhosts,
        mergeGhosts,
        50 * MB,
        List.of(trees));
  }

  /** Half a page merged and a quarter flushed per operation. */
  private static TreeCycle tree(double share, long logPercent, long lastLevelBytes, double weight) {
    long flushed = 1024L * 250_000;
    return new TreeCycle(
        7,
        1,
        1024L * 500_000,
        flushed * (100 - logPercent) / 100,
        flushed * logPercent / 100,
        10,
        10 * share,
        0,
        lastLevelBytes,
        0,
        weight,
        0);
  }

  private static Pressure of(TreeCycle... trees) {
    return Pressure.of(cycle(0, 0, 0, 0, trees), PLAIN, 1);
  }

  @Test
  void whatAModelSaysComesBeforeEquationFive() {
    TreeCycle equation = tree(0.5, 25, 5000 * MB, 1);
    // 0.5 pages merged per operation, three quarters of the flushes for memory's sake.
    for (double[] modelled : new double[][] {{0.8, 0.8}, {2, 2}, {70, 2}}) {
      Pressure pressure = of(modelled(equation, modelled[0]));
      assertEquals(0.5 * 0.75 * modelled[1] / (100.0 * MB), pressure.write(), 1e-18);
    }
    assertEquals(of(equation), of(modelled(equation, 0)));
  }

  private static TreeCycle modelled(TreeCycle it, double steepness) {
    return changed(it, it.recentReads(), steepness);
  }

  private static TreeCycle changed(TreeCycle it, double reads, double steepness) {
    return new TreeCycle(
        it.tree(),
        it.writtenBytes(),
        it.mergedBytes(),
        it.memoryFlushedBytes(),
        it.logFlushedBytes(),
        it.flushes(),
        it.shareSum(),
        reads,
        it.lastLevelBytes(),
        it.floorBytes(),
        it.weight(),
        steepness);
  }

  @Test
  void oneTreeFollowsEquationFour() {
    Pressure pressure = of(tree(0.5, 0, 5000 * MB, 1));
    assertEquals(0.5 / (100.0 * MB * Math.log(5000 / 50.0)), pressure.write(), 1e-18);
    assertEquals(0.75, pressure.writeCost(), 1e-9);
    assertEquals(0.75, pressure.cost(), 1e-9);
    assertEquals(0, pressure.cache());
  }

  /**
   * The paper's example: x = 128 MiB; tree 1 with a = 0.8, a last level of 100 GiB and 1 page
   * merged per operation, tree 2 with 0.2, 50 GiB and 0.8 pages. So a x is 102.4 and 25.6 MiB, and
   * the logarithms are those of 1000 and 2000.
   */
  @Test
  void twoTreesWorkedOutByHandFollowEquationsFourAndFive() {
    Pressure pressure = Pressure.of(example(0, 0, 0), PLAIN, 1);
    // (1 / 6.907755 + 0.8 / 7.600902) / 134217728
    assertEquals(1.862761e-9, pressure.write(), 1e-15);
    assertEquals(1.8, pressure.writeCost(), 1e-9);
    assertEquals(0, pressure.cache());
  }

  /**
   * The same with a ghost cache of 32 MiB that would have saved 0.01 pages per operation of queries
   * and 0.008 of merges, which read 2.4.
   */
  @Test
  void itsReadsWorkedOutByHandFollowEquationSix() {
    Pressure pressure = Pressure.of(example(2_400_000, 10_000, 8_000), PLAIN, 1);
    // 0.018 / 33554432, and 2.4 / 1.8 times what is saved of the writes
    assertEquals(5.364418e-10, pressure.cache(), 1e-16);
    assertEquals(1.862761e-9 + 2.483682e-9, pressure.write(), 1e-14);
    assertEquals(5.364418e-10 - 4.346443e-9, pressure.slope(), 1e-14);
  }

  private static StoreCycle example(long mergeReads, long queryGhosts, long mergeGhosts) {
    long gigabyte = 1024 * MB;
    return new StoreCycle(
        1,
        20 * gigabyte,
        128 * MB,
        16384,
        1_000_000,
        0,
        mergeReads,
        queryGhosts,
        mergeGhosts,
        32 * MB,
        List.of(
            exampleTree(1_000_000, 0.8, 100 * gigabyte), exampleTree(800_000, 0.2, 50 * gigabyte)));
  }

  private static TreeCycle exampleTree(long mergedPages, double share, long lastLevelBytes) {
    return new TreeCycle(
        1, 1, 16384 * mergedPages, 0, 0, 10, 10 * share, 0, lastLevelBytes, 0, 1, 0);
  }

  @Test
  void flushesForTheLogScaleItDownAndTreesAddUpAsInEquationFive() {
    double half = of(tree(0.5, 50, 5000 * MB, 1)).write();
    double whole = of(tree(0.5, 0, 5000 * MB, 1)).write();
    assertEquals(0.5 * whole, half, 1e-18);
    assertEquals(0, of(tree(0.5, 100, 5000 * MB, 1)).write());
    Pressure both = of(tree(0.5, 50, 5000 * MB, 1), tree(0.5, 0, 5000 * MB, 1));
    assertEquals(1.5 * whole, both.write(), 1e-18);
  }

  @Test
  void readsFollowEquationSix() {
    TreeCycle tree = tree(0.5, 0, 5000 * MB, 1);
    double write = of(tree).write();
    Pressure pressure = Pressure.of(cycle(800_000, 200_000, 30_000, 10_000, tree), PLAIN, 1);
    assertEquals(0.04 / (50.0 * MB), pressure.cache(), 1e-18);
    assertEquals(write + write * 0.2 / 0.5, pressure.write(), 1e-18);
    assertEquals(1.0, pressure.readCost(), 1e-12);
    assertEquals(pressure.cache() - pressure.write(), pressure.slope());
  }

  @Test
  void readsThatALittleMoreMemoryWouldHaveAnsweredAreToItsCredit() {
    TreeCycle half = recentlyRead(0.5, 0, 0.25);
    double reads = 0.25 * 0.5 / 1_000_000;
    double without = of(recentlyRead(0.5, 0, 0)).write();
    assertEquals(without + reads, of(half).write(), 1e-18);
    Pressure weighted = Pressure.of(cycle(0, 0, 0, 0, half), PLAIN.withWeights(0, 3), 1);
    assertEquals(3 * reads, weighted.write(), 1e-18);
    double all = of(recentlyRead(0.5, 0, 0.25), recentlyRead(0.25, 0, 1)).write();
    double none = of(recentlyRead(0.5, 0, 0), recentlyRead(0.25, 0, 0)).write();
    assertEquals(none + reads + 0.25 / 1_000_000, all, 1e-18);
    assertEquals(0, of(recentlyRead(0.5, 100, 0.25)).write(), "the log triggers the flushes");
  }

  private static TreeCycle recentlyRead(double share, long logPercent, double reads) {
    return changed(tree(share, logPercent, 5000 * MB, 1), reads, 0);
  }

  @Test
  void weightsCountWritesAndReads() {
    TreeCycle tree = tree(0.5, 0, 5000 * MB, 3);
    double write = of(tree(0.5, 0, 5000 * MB, 1)).write();
    StoreCycle cycle = cycle(800_000, 200_000, 30_000, 10_000, tree);
    Pressure pressure = Pressure.of(cycle, PLAIN.withWeights(2, 0.5), 1);
    assertEquals(2 * 3 * 0.75 + 0.5 * 1.0, pressure.cost(), 1e-9);
    assertEquals(2 * 3 * write + 0.5 * write * 0.4, pressure.write(), 1e-17);
    assertEquals(0.5 * 0.04 / (50.0 * MB), pressure.cache(), 1e-18);
  }

  @Test
  void treesWithoutALargerLastLevelAreLeftOut() {
    assertEquals(0, of(tree(0.5, 0, 50 * MB, 1)).write());
    assertEquals(0, of(tree(0.5, 0, 10 * MB, 1)).write());
    assertEquals(0, of(tree(0.5, 0, 0, 1)).write());
  }

  @Test
  void twiceTheMemoryNeverPromisesLessThanHalfTheMerges() {
    double most = 0.5 / (100.0 * MB);
    assertEquals(most, of(tree(0.5, 0, 51 * MB, 1)).write(), 1e-18);
    assertEquals(most, of(tree(0.5, 0, 100 * MB, 1)).write(), 1e-18);
  }

  @Test
  void sharesOfMemoryAreClampedButNotThoseOfAThousandTrees() {
    double hundredth = of(tree(0.01, 0, 5000 * MB, 1)).write();
    assertEquals(of(tree(1, 0, 5000 * MB, 1)).write(), of(tree(9, 0, 5000 * MB, 1)).write());
    TreeCycle[] trees = new TreeCycle[100];
    java.util.Arrays.fill(trees, tree(1e-9, 0, 5000 * MB, 1));
    assertEquals(100 * hundredth, of(trees).write(), 1e-15);
    TreeCycle[] many = new TreeCycle[1000];
    java.util.Arrays.fill(many, tree(0.001, 0, MB / 2, 1));
    assertTrue(of(many).write() > 0, "0.1 MB each, and a last level of 0.5 MB");
  }

  @Test
  void withoutFlushesTheShareIsThatOfTheWrites() {
    TreeCycle quarter = new TreeCycle(1, 25, 1024L * 500_000, 0, 0, 0, 0, 0, 5000 * MB, 0, 1, 0);
    TreeCycle rest = new TreeCycle(2, 75, 0, 0, 0, 0, 0, 0, 5000 * MB, 0, 1, 0);
    double expected = 0.5 / (100.0 * MB * Math.log(5000 / 25.0));
    assertEquals(expected, of(quarter, rest).write(), 1e-18);
  }

  @Test
  void nothingIsDividedByZero() {
    TreeCycle idle = new TreeCycle(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0);
    for (long zeros : LongStream.range(0, 32).toArray()) {
      StoreCycle cycle =
          new StoreCycle(
              1,
              1000 * MB,
              (zeros & 1) * MB,
              1024,
              (zeros >> 1 & 1) * 100,
              10,
              (zeros >> 2 & 1) * 10,
              5,
              5,
              (zeros >> 3 & 1) * MB,
              (zeros >> 4 & 1) == 0 ? List.of() : List.of(idle, tree(0.5, 0, 5000 * MB, 1)));
      Pressure pressure = Pressure.of(cycle, PLAIN, 1);
      assertTrue(Double.isFinite(pressure.cost()) && pressure.cost() >= 0, () -> "" + cycle);
      assertTrue(Double.isFinite(pressure.slope()), () -> "" + cycle);
      assertTrue(pressure.write() >= 0 && pressure.cache() >= 0, () -> "" + cycle);
    }
  }

  @Test
  void theSlopeIsThatOfTheCost() {
    SyntheticStore store = new SyntheticStore(1, 4096 * MB, 512 * MB);
    store.writtenPerOperation = new double[] {300, 50, 1};
    store.lastLevelBytes = 20e9;
    store.reads = SyntheticStore.zipf(0.7, 20e9);
    store.mergeMisses = 0;
    Pressure pressure = Pressure.of(store.run(), PLAIN, 1);
    double step = 8.0 * MB;
    double slope = (store.cost(512 * MB + step, PLAIN) - store.cost(512 * MB - step, PLAIN)) / 2;
    assertEquals(slope / step, pressure.slope(), Math.abs(slope / step) * 0.03);
  }
}
