package io.isobardb.bench.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.search.Chooser.Plan;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Searches on surfaces whose best settings are known. */
class SearchTest {
  private static final int SEEDS = 20;
  private static final int GRID = 10;
  private static final double NOISE = 0.03;
  private static final List<Knob> TWO =
      Knob.parseAll("writeMemory=1MB..64MB:log,experiment.flushTrigger=0.5..0.98");

  /** Surfaces on places of two knobs, lower is better. */
  enum Truth {
    BOWL(p -> 100 * (1 + 3 * square(p[0] - 0.3) + 2 * square(p[1] - 0.7))),
    /** The best place of one knob depends on the other: one by one stops beside it. */
    VALLEY(p -> 100 * (1 + 8 * square(p[0] - p[1]) + 0.8 * square(p[0] + p[1] - 1.7))),
    CLIFF(p -> 100 * (p[0] > 0.8 ? 3 : 1 + 1.5 * (0.8 - p[0]) + 0.5 * Math.abs(p[1] - 0.5))),
    /** Two hollows, of which the narrow one is deeper. */
    HOLLOWS(
        p ->
            100
                * (2
                    - 0.6 * Math.exp(-8 * (square(p[0] - 0.25) + square(p[1] - 0.25)))
                    - Math.exp(-20 * (square(p[0] - 0.75) + square(p[1] - 0.7)))));

    private final ToDoubleFunction<double[]> of;

    Truth(ToDoubleFunction<double[]> of) {
      this.of = of;
    }

    Surface surface(double noise) {
      return new Surface(TWO, noise).with(Metric.WRITTEN, of);
    }
  }

  private static double square(double x) {
    return x * x;
  }

  private static Plan plan(Method method, int evaluations, boolean oneByOne, long seed) {
    return new Plan(
        new Goal(Metric.WRITTEN, List.of()), method, evaluations, oneByOne, seed);
  }

  private static Findings search(Surface surface, Plan plan) throws Exception {
    Space space = surface.space();
    return new Search(surface, space, plan, Journal.inMemory(space), 10_000, trial -> {}).run(0);
  }

  /** By how much what is found is worse than the best of the whole grid, in the median of seeds. */
  private static double median(Truth truth, Method method, boolean oneByOne) throws Exception {
    Surface surface = truth.surface(NOISE);
    double best =
        surface.space().grid(GRID * GRID).stream()
            .mapToDouble(each -> surface.truth(Metric.WRITTEN, each))
            .min()
            .getAsDouble();
    double[] found = new double[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
      Plan plan = plan(method, GRID * GRID / 4, oneByOne, seed);
      found[seed] = surface.truth(Metric.WRITTEN, search(surface, plan).best()) / best - 1;
    }
    Arrays.sort(found);
    System.out.printf("%s %s %b: %.4f %.4f worst %.4f%n", truth, method, oneByOne, found[9], found[10], found[19]);
    return (found[SEEDS / 2 - 1] + found[SEEDS / 2]) / 2;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLIFF")
  void aQuarterOfAGridFindsItsBestAndJointIsNoWorseThanOneByOne(Truth truth) throws Exception {
    double joint = median(truth, Method.GP, false);
    assertTrue(joint <= 0.05, () -> "" + joint);
    double oneByOne = median(truth, Method.GP, true);
    assertTrue(joint <= oneByOne + 0.02, () -> joint + " and " + oneByOne);
  }

  @Test
  void aForestFindsTheEdgeOfACliff() throws Exception {
    double found = median(Truth.CLIFF, Method.FOREST, false);
    assertTrue(found <= 0.05, () -> "" + found);
  }

  @Test
  void aSearchTakesAsManyRunsAsItMay() throws Exception {
    Surface surface = Truth.BOWL.surface(NOISE);
    search(surface, plan(Method.GP, 25, false, 1));
    assertEquals(25 + 2, surface.runs, "and one without each knob");
  }
}
