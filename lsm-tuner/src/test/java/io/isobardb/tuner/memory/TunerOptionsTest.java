package io.isobardb.tuner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class TunerOptionsTest {
  private static final long MB = SyntheticStore.MB;

  private static StoreCycle cycle(long budgetBytes, long... floors) {
    List<TreeCycle> trees =
        java.util.Arrays.stream(floors)
            .mapToObj(floor -> new TreeCycle(1, 0, 0, 0, 0, 0, 0, 0, 0, floor, 1, 0))
            .toList();
    return new StoreCycle(1, budgetBytes, 0, 1024, 0, 0, 0, 0, 0, 0, trees);
  }

  @Test
  void eitherRegionKeepsAShareOfTheBudget() {
    assertEquals(5 * MB, TunerOptions.DEFAULT.minWriteBytes(cycle(1280 * MB)));
    assertEquals(1275 * MB, TunerOptions.DEFAULT.maxWriteBytes(cycle(1280 * MB)));
  }

  @Test
  void floorsOfRegionsRaiseItAndThoseOfTreesAreAPartOfThem() {
    TunerOptions options = TunerOptions.DEFAULT.withFloors(20 * MB, 100 * MB);
    assertEquals(20 * MB, options.minWriteBytes(cycle(640 * MB, 5 * MB, 28 * MB)));
    assertEquals(540 * MB, options.maxWriteBytes(cycle(640 * MB)));
  }

  @Test
  void floorsThatDoNotFitAreCutInProportion() {
    TunerOptions options = TunerOptions.DEFAULT.withFloors(300 * MB, 100 * MB);
    assertEquals(75 * MB, options.minWriteBytes(cycle(100 * MB)));
    assertEquals(75 * MB, options.maxWriteBytes(cycle(100 * MB)));
    assertEquals(0, options.minWriteBytes(cycle(0)));
    assertEquals(0, options.maxWriteBytes(cycle(0)));
  }

  @Test
  void theShortestStepIsThePapersOnlyWithItsBudgets() {
    assertEquals(32 * MB, TunerOptions.DEFAULT.minStepBytes(cycle(20_480 * MB), 10_240 * MB));
    assertEquals(MB / 4, TunerOptions.DEFAULT.minStepBytes(cycle(100 * MB), 50 * MB));
    assertEquals(2 * MB, TunerOptions.DEFAULT.minStepBytes(cycle(20_480 * MB), 100 * MB), 1);
    assertEquals(1, TunerOptions.DEFAULT.minStepBytes(cycle(0), 0));
  }

  @Test
  void numbersThatCannotBeAreRefusedByName() {
    refused("readWeight", () -> TunerOptions.DEFAULT.withWeights(1, Double.NaN));
    refused("writeWeight", () -> TunerOptions.DEFAULT.withWeights(-1, 1));
    refused("maxStep", () -> TunerOptions.DEFAULT.withSteps(0.1, 1.1, 1));
    refused("boldness", () -> TunerOptions.DEFAULT.withSteps(0.1, 0.2, 6));
    refused("cacheFloorBytes", () -> TunerOptions.DEFAULT.withFloors(0, -1));
    refused("samples", () -> new TunerOptions(1, 1, 1, 0.1, 0.1, 1, 1, 0.1, 0, 0, 0));
    refused("budgetBytes", () -> cycle(-1));
    refused("floorBytes", () -> cycle(1, -1));
    refused(
        "weight", () -> new TreeCycle(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, Double.POSITIVE_INFINITY, 0));
    refused("recentReads", () -> new TreeCycle(1, 0, 0, 0, 0, 0, 0, 1e200, 0, 0, 1, 0));
    refused("shareSum", () -> new TreeCycle(1, 0, 0, 0, 0, 0, Double.NaN, 0, 0, 0, 1, 0));
  }

  private static void refused(String name, Runnable make) {
    var e = assertThrows(IllegalArgumentException.class, make::run);
    assertTrue(e.getMessage().startsWith(name + " is "), e.getMessage());
  }
}
