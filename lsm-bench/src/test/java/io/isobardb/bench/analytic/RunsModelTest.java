package io.isobardb.bench.analytic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.EngineModel;
import io.isobardb.tuner.model.EngineShape;
import io.isobardb.tuner.model.EngineShape.Disk;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.RunPolicy;
import io.isobardb.tuner.model.RunsModel;
import io.isobardb.tuner.model.RunsModel.Costs;
import io.isobardb.tuner.model.RunsModel.Reads;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Special cases, bounds and orders of what {@link RunsModel} tells. */
@Tag("any-jdk")
class RunsModelTest {
  private static final double KEYS = 1e6;
  private static final Reads READS = new Reads(8, 10, true);

  /** Larger than any run, so that nothing is rewritten for where SSTables end. */
  private static final double ONE_TABLE = 1e9;

  private static Popularity keys(double skew) {
    return TabulatedPopularity.of(KeyGroups.zipf(KEYS, skew));
  }

  /** A store that flushes all of its one tree every so many requests. */
  private static EngineShape whole(Popularity keys, double requests, int groups) {
    Disk disk = new Disk(ONE_TABLE, ONE_TABLE, 1, groups, 10);
    return new EngineShape(1, true, keys.unique(requests), requests, 1e12, disk);
  }

  private static EngineShape sliced() {
    return new EngineShape(1, false, 12_000, 1_700, 1e12, new Disk(2_500, 7_800, 1, 4, 10));
  }

  private static Costs costs(RunPolicy policy, double maxSpace, double skew) {
    return new RunsModel(sliced(), policy, READS, maxSpace).costs(keys(skew));
  }

  /**
   * SAMT's stages are tiers of r runs, the first of them the groups of L0, and a run of all keys
   * that counts as one of the last stage's. Only how a round is solved for is not exact.
   */
  @ParameterizedTest
  @CsvSource({"0, 4", "0.99, 4", "0, 8", "0.99, 8"})
  void runsInEachLevelAreSamt(double skew, int growth) {
    Popularity keys = keys(skew);
    double buffer = 4_000;
    SamtModel samt = new SamtModel(buffer, growth);
    Integer[] runs = new Integer[samt.stages(KEYS) - 1];
    Arrays.fill(runs, growth);
    RunsModel model =
        new RunsModel(
            whole(keys, buffer, growth), RunPolicy.of(runs), READS, Double.POSITIVE_INFINITY);
    WriteCost expected = samt.cost(keys);
    WriteCost cost = model.cost(keys);
    assertEquals(expected.flush(), cost.flush(), 1e-4 * expected.flush());
    assertEquals(expected.levels().length, cost.levels().length);
    for (int l = 0; l < cost.levels().length; l++) {
      assertEquals(expected.levels()[l], cost.levels()[l], 1e-4 * expected.levels()[l], "" + l);
    }
  }

  /**
   * Universal merging that puts all tables together as soon as there are k beside the oldest is a
   * level of one run below an L0 of k groups. It runs for a number of requests that need not be a
   * multiple of a merge's, hence one percent.
   */
  @ParameterizedTest
  @CsvSource({"0, 4", "0.99, 4", "0, 12"})
  void oneRunIsUniversalMergingOfAll(double skew, int tables) {
    Popularity keys = keys(skew);
    double buffer = 5_000;
    WriteCost universal = new UniversalModel(buffer, tables + 1, 1, 1e-6).cost(keys);
    RunsModel model = new RunsModel(whole(keys, buffer, tables), RunPolicy.of(1), READS, 2);
    assertEquals(universal.total(), model.cost(keys).total(), 0.01 * universal.total());
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.99})
  void moreRunsWriteLessAndScansAskMore(double skew) {
    for (double space : new double[] {1.25, 1.6, 2}) {
      Costs leveled = costs(RunPolicy.leveled(), space, skew);
      Costs before = leveled;
      for (int runs : new int[] {2, 4, 8}) {
        Costs lazy = costs(RunPolicy.lazy(runs), space, skew);
        double most = runs == 8 ? 1.05 * before.written() : before.written();
        assertTrue(lazy.written() < most, runs + " runs");
        assertTrue(lazy.runs() > before.runs() || runs == 2, runs + " runs");
        before = lazy;
      }
      assertTrue(before.scan(10) > leveled.scan(10));
      assertTrue(before.scan(1000) / leveled.scan(1000) < before.scan(10) / leveled.scan(10));
    }
  }

  @Test
  void spaceIsKeptButForYoungGroups() {
    for (double skew : new double[] {0, 0.99}) {
      for (double space : new double[] {1.1, 1.25, 1.6, 2, 3}) {
        List<RunPolicy> policies = new ArrayList<>(List.of(RunPolicy.leveled()));
        for (int runs : new int[] {2, 4, 8, 32}) {
          policies.add(RunPolicy.lazy(runs));
          policies.add(RunPolicy.tiered(runs));
          policies.add(RunPolicy.of(runs, runs, 1));
          policies.add(RunPolicy.of(runs, 1, 1));
        }
        Popularity keys = keys(skew);
        double round = new EngineModel(sliced()).roundRequests(keys);
        double young = 1.5 * keys.unique(round) / KEYS;
        for (RunPolicy policy : policies) {
          double taken = costs(policy, space, skew).space() - young;
          assertTrue(taken < space * 1.001, policy + " takes " + taken + " of " + space);
        }
      }
    }
  }

  @Test
  void filtersByLevelSpareAbsentKeysPagesAndCostOthersNone() {
    for (RunPolicy policy : List.of(RunPolicy.leveled(), RunPolicy.lazy(4), RunPolicy.tiered(8))) {
      for (double skew : new double[] {0, 0.99}) {
        Costs alike =
            new RunsModel(sliced(), policy, new Reads(8, 10, false), 1.6).costs(keys(skew));
        Costs byLevel = costs(policy, 1.6, skew);
        assertTrue(byLevel.absent() < 0.67 * alike.absent(), policy + ": " + byLevel.absent());
        assertTrue(byLevel.found() <= alike.found(), policy.toString());
        assertEquals(alike.written(), byLevel.written());
      }
    }
  }

  @Test
  void aScanReadsAPageOfEachRunAndAllEntriesThere() {
    Costs costs = costs(RunPolicy.lazy(4), 1.25, 0);
    assertEquals(costs.runs() + 1000 * costs.space() / 8, costs.scan(1000), 1e-9);
    // Three groups of L0 at most, half of them in the mean, before tiers and the last run.
    assertTrue(costs.runs() > 2.5);
  }

  @Test
  void aListHasTheLevelsThatItNames() {
    Costs costs = costs(RunPolicy.parse("4,4,1"), Double.POSITIVE_INFINITY, 0);
    assertEquals(2, costs.tiers());
    assertEquals(1, costs.levels());
    costs = costs(RunPolicy.parse("4,1,1"), Double.POSITIVE_INFINITY, 0);
    assertEquals(1, costs.tiers());
    assertEquals(2, costs.levels());
    // With a bound, runs are of as many sizes as there is room for.
    costs = costs(RunPolicy.parse("4,1,1"), 2, 0);
    assertEquals(3, costs.tiers());
    assertEquals(2, costs.levels());
    costs = costs(RunPolicy.parse("1,1,1"), 1.25, 0);
    assertEquals(0, costs.tiers());
    assertEquals(3, costs.levels());
  }

  @Test
  void policiesAreReadAsTheyAreWritten() {
    for (String text : List.of("LEVELED", "LAZY(2)", "TIERED(32)", "4,4,1", "1")) {
      assertEquals(text, RunPolicy.parse(text).toString());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'1,4', 'runs may not rise with depth, but 4 follows 1'",
    "'33,1', 'a level may have 1 to 32 runs, not 33'",
    "'0', 'a level may have 1 to 32 runs, not 0'",
    "LAZY(1), 'a level may have 2 to 32 runs, not 1'",
    "TIERED(x), 'runs are LEVELED, LAZY(4), TIERED(4) or a list such as 4,4,1, not ''TIERED(x)'''",
    "'4,,1', 'runs are LEVELED, LAZY(4), TIERED(4) or a list such as 4,4,1, not ''4,,1'''",
    "MANY(4), 'runs are LEVELED, LAZY(4), TIERED(4) or a list such as 4,4,1, not ''MANY(4)'''"
  })
  void badRunsAreRefused(String text, String message) {
    assertEquals(
        message,
        assertThrows(IllegalArgumentException.class, () -> RunPolicy.parse(text)).getMessage());
  }

  @Test
  void badNumbersAreRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> new RunsModel(sliced(), RunPolicy.leveled(), READS, 1));
    assertThrows(IllegalArgumentException.class, () -> new Reads(0, 10, true));
    assertThrows(IllegalArgumentException.class, () -> new Reads(8, 25, true));
  }
}
