package io.isobardb.bench.analytic;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.LevelBounds;
import io.isobardb.tuner.model.LevelSizeOptimiser;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class WriteModelTest {
  /** Figure 9: 1 kB items, LevelDB's sizes. */
  @Test
  void levelDbCostsWhatThePaperSays() {
    assertEquals(12.9, standard(1e6).cost(KeyGroups.uniform(1e6)).total(), 0.05);
    assertEquals(25.8, standard(1e8).cost(KeyGroups.uniform(1e8)).total(), 0.05);
  }

  @Test
  void aTableOfThePopularityGivesTheSameCost() {
    for (double skew : new double[] {0, 0.5, 0.99, 1.2}) {
      KeyGroups groups = KeyGroups.zipf(1e8, skew);
      double exact = standard(1e8).cost(groups).total();
      assertEquals(exact, standard(1e8).cost(TabulatedPopularity.of(groups)).total(), exact * 1e-5);
    }
  }

  @Test
  void theWorstCaseIsAlmostTwiceTheModelAndIgnoresSkew() {
    for (double keys : new double[] {1e6, 1e7, 1e8}) {
      WorstCaseModel worst = new WorstCaseModel(standard(keys));
      KeyGroups uniform = KeyGroups.uniform(keys);
      double total = worst.cost(uniform).total();
      assertEquals(total, worst.cost(KeyGroups.zipf(keys, 0.99)).total());
      assertTrue(total > 1.8 * standard(keys).cost(uniform).total(), keys + " keys");
    }
  }

  @Test
  void moreSkewCostsLess() {
    double before = Double.POSITIVE_INFINITY;
    for (double skew = 0; skew < 1.6; skew += 0.1) {
      double cost = standard(1e7).cost(KeyGroups.zipf(1e7, skew)).total();
      assertTrue(cost < before, "skew " + skew);
      before = cost;
    }
  }

  /** Figure 12: the paper finds up to 9.4 %. */
  @ParameterizedTest
  @CsvSource({"1e6, 0", "1e7, 0", "1e8, 0", "1e6, 0.99", "1e7, 0.99", "1e8, 0.99"})
  void sizesThatDoNotGrowByOneRatioSaveSevenToTenPercent(double keys, double skew) {
    Popularity popularity = TabulatedPopularity.of(KeyGroups.zipf(keys, skew));
    LevelDbModel standard = LevelDbModel.standard(keys, 1000);
    int levels = standard.levelEntries().length;
    LevelSizeOptimiser.Plan plan =
        new LevelSizeOptimiser(
                sizes -> standard.withLevels(sizes).cost(popularity).total(),
                new LevelBounds(keys, 4194, levels, levels, 100))
            .optimise();
    double saved = 1 - plan.cost() / standard.cost(popularity).total();
    assertTrue(saved > 0.07 && saved < 0.102, "saved " + saved);
  }

  @Test
  void levelSizesAscendToTheNumberOfKeys() {
    assertArrayEquals(new double[] {10485.76, 104857.6, 1e6}, standard(1e6).levelEntries(), 1e-6);
    LevelDbModel model = standard(1e6);
    refused("ascend", () -> model.withLevels(new double[] {10, 10, 1e6}));
    refused("more than 0", () -> model.withLevels(new double[] {0, 1e6}));
    refused("levels", () -> model.withLevels(new double[0]));
    refused("the last level holds all keys", () -> model.cost(KeyGroups.uniform(2e6)));
    refused("buffer", () -> new LevelDbModel(0, 4, new double[] {1e6}));
    refused("level 0", () -> new LevelDbModel(1, 0, new double[] {1e6}));
  }

  @Test
  void stagesOfColaAndSamtAreCountedByTheirGrowth() {
    // 1000 entries a time, four times that, sixteen times, and the last for 30,000 keys.
    assertEquals(3, new ColaModel(1000, 4).stages(30_000));
    // No key twice: 1, 2 and 3 thousand entries are written in the first stage for each four.
    WriteCost cola = new ColaModel(1000, 4).cost(KeyGroups.uniform(1e12));
    assertEquals(1.5, cola.levels()[0], 1e-6);
    assertEquals(0, cola.flush());
    WriteCost samt = new SamtModel(1000, 4).cost(KeyGroups.uniform(1e12));
    assertEquals(1, samt.flush(), 1e-6);
    assertEquals(1, samt.levels()[0], 1e-6);
    refused("growth", () -> new ColaModel(1000, 1));
    refused("growth", () -> new SamtModel(1000, 1));
  }

  @Test
  void universalMergesByThreeRules() {
    UniversalModel model = new UniversalModel(10, 4, 1, 200);
    assertNull(model.choose(new double[] {100, 10, 10}, 3));
    // Newer tables have twice what the oldest has.
    assertEquals(new UniversalModel.Merge(0, 4), model.choose(new double[] {100, 90, 80, 30}, 4));
    // 10 and 10 are alike, and 20 is not more than both; 1000 is.
    assertEquals(new UniversalModel.Merge(1, 4), model.choose(new double[] {1000, 20, 10, 10}, 4));
    // The newest is much smaller than the one before it, but those two are alike.
    assertEquals(new UniversalModel.Merge(1, 3), model.choose(new double[] {1000, 30, 30, 1}, 4));
    // All grow by more than a percent: three are merged, so that two are left.
    assertEquals(
        new UniversalModel.Merge(2, 5), model.choose(new double[] {9999, 900, 90, 9, 1}, 5));
    refused("2 tables", () -> new UniversalModel(10, 1, 1, 200));
  }

  @Test
  void aReadEndsWhereItsKeyWasWrittenLast() {
    KeyGroups uniform = KeyGroups.uniform(1000);
    double infinite = Double.POSITIVE_INFINITY;
    ReadModel one = new ReadModel(new double[] {100, infinite}, new double[] {0, 1});
    assertEquals(Math.pow(0.999, 100), one.cost(uniform), 1e-9);
    // A reader of what is written most finds it earlier.
    double[] counts = {10, 990};
    double[] writes = {0.5, 0.5};
    double likeWrites = one.cost(KeyGroups.weighted(counts, writes, new double[] {50, 0.5}));
    double likeNobody = one.cost(KeyGroups.weighted(counts, writes, new double[] {0, 1}));
    assertTrue(likeWrites < likeNobody);
    double[] cost = {0, 1, 1, 1, 1};
    assertTrue(
        ReadModel.of(standard(1e6), KeyGroups.uniform(1e6), cost).cost(KeyGroups.uniform(1e6)) < 1);
    // Keys that are all alike are read as they are written.
    KeyGroups alike = KeyGroups.uniform(1e6);
    ReadModel tables = ReadModel.ofTables(standard(1e6), alike);
    assertEquals(tables.cost(alike), tables.costAsWritten(alike), 1e-2);
    // Most reads are for what was written lately.
    KeyGroups zipf = KeyGroups.zipf(1e6, 0.99);
    ReadModel skewed = ReadModel.ofTables(standard(1e6), zipf);
    assertTrue(skewed.costAsWritten(zipf) < 0.7 * skewed.cost(zipf));
    refused("must not descend", () -> new ReadModel(new double[] {2, 1}, new double[] {1, 1}));
  }

  private static LevelDbModel standard(double keys) {
    return LevelDbModel.standard(keys, 1000);
  }

  private static void refused(String part, org.junit.jupiter.api.function.Executable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message.contains(part), message);
  }
}
