package io.isobardb.tuner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds of every decision, whatever the statistics. */
@Tag("any-jdk")
class TunerPropertiesTest {
  private static final long SEED = Long.getLong("isobar.seed", 20_261_122L);
  private static final int RUNS = 300;
  private static final int CYCLES = 40;

  private static long number(SplittableRandom random) {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> 1;
      case 2 -> Long.MAX_VALUE;
      default -> random.nextLong(1L << random.nextInt(1, 62));
    };
  }

  private static TreeCycle tree(SplittableRandom random, long id) {
    return new TreeCycle(
        id,
        number(random),
        number(random),
        number(random),
        number(random),
        random.nextInt(5),
        random.nextDouble() * random.nextInt(10),
        random.nextInt(3) == 0 ? 0 : random.nextDouble() / (1.0 + number(random)),
        number(random),
        random.nextInt(5) == 0 ? random.nextLong(1 << 20) : 0,
        random.nextInt(9) == 0 ? 1e6 : random.nextDouble() * 3,
        random.nextBoolean() ? 0 : random.nextInt(9) == 0 ? 1e6 : random.nextDouble() * 3);
  }

  private static TunerOptions options(SplittableRandom random) {
    return new TunerOptions(
        random.nextInt(4) * 0.5,
        random.nextInt(9) == 0 ? 1e6 : random.nextInt(4) * 0.5,
        2 + random.nextInt(4),
        random.nextDouble() * 0.2,
        random.nextDouble() * 0.3,
        1 + random.nextDouble() * 2,
        random.nextLong(1L << 26),
        random.nextDouble() * 0.01,
        random.nextLong(1L << 26),
        random.nextLong(1L << 26),
        random.nextInt(3) * 0.01);
  }

  private interface Property {
    void check(Decision decision, TunerHistory history);
  }

  /** Runs of cycles that know no physics; budgets change, and walls stand where nobody put them. */
  private static void forAll(Property property) {
    System.out.println("isobar.seed=" + SEED);
    for (long seed = SEED; seed < SEED + RUNS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      MemoryTuner tuner = new MemoryTuner(options(random));
      TunerHistory history = TunerHistory.EMPTY;
      long budget = random.nextLong(1L << random.nextInt(20, 40));
      long x = random.nextLong(budget + 1);
      int trees = random.nextInt(4);
      for (int i = 1; i <= CYCLES; i++) {
        if (random.nextInt(12) == 0) {
          budget = random.nextLong(1L << random.nextInt(20, 40));
        }
        if (random.nextInt(12) == 0) {
          x = random.nextLong(1 << 30);
        }
        List<TreeCycle> all = new ArrayList<>();
        for (int tree = 0; tree < trees; tree++) {
          all.add(tree(random, tree));
        }
        StoreCycle cycle =
            new StoreCycle(
                i,
                budget,
                x,
                1 << random.nextInt(10, 16),
                number(random),
                number(random),
                number(random),
                number(random),
                number(random),
                number(random),
                all);
        history = tuner.decide(history, cycle);
        Decision decision = history.decisions().get(i - 1);
        try {
          property.check(decision, history);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError("seed " + seed + ": " + DecisionText.write(decision), e);
        }
        x = decision.toBytes();
      }
    }
  }

  @Test
  void theWallStaysWithinBothFloors() {
    forAll(
        (decision, history) -> {
          long min = decision.options().minWriteBytes(decision.seen());
          long max = decision.options().maxWriteBytes(decision.seen());
          assertTrue(0 <= min && min <= max && max <= decision.seen().budgetBytes());
          assertTrue(min <= decision.toBytes() && decision.toBytes() <= max, min + " " + max);
        });
  }

  @Test
  void noStepIsLongerThanTheCap() {
    forAll(
        (decision, history) -> {
          if (decision.method() == Method.LIMITS) {
            return;
          }
          TunerOptions options = decision.options();
          long giving =
              decision.stepBytes() > 0 ? decision.seen().cacheBytes() : decision.fromBytes();
          double bold = 1;
          if (decision.method() == Method.TAKEN_BACK || decision.after().trust() > 1) {
            bold = options.boldness();
          }
          double cap = options.maxStep() * bold * giving;
          assertTrue(Math.abs(decision.stepBytes()) <= cap, cap + " for " + giving);
        });
  }

  @Test
  void stepsGoWhereTheSlopeSaysAndPromiseToSave() {
    forAll(
        (decision, history) -> {
          if (decision.method() == Method.NEWTON || decision.method() == Method.FIXED_STEP) {
            double slope = decision.pressure().slope();
            assertEquals(-Math.signum(slope), Math.signum(decision.stepBytes()));
            assertTrue(decision.predictedCost() < decision.pressure().cost());
            assertTrue(decision.predictedGain() >= decision.options().minGain() * 0.999);
          } else if (decision.method() == Method.STAY) {
            assertEquals(0, decision.stepBytes());
          }
        });
  }

  @Test
  void noNumberIsEverNotANumber() {
    forAll(
        (decision, history) -> {
          Progress after = decision.after();
          assertTrue(Double.isFinite(after.noise()) && after.noise() > 0);
          assertTrue(after.trust() > 0 && after.trust() <= decision.options().boldness());
          assertTrue(after.samples().size() <= decision.options().samples());
          after.samples().forEach(s -> assertTrue(Double.isFinite(s.slope())));
          assertTrue(!Double.isNaN(decision.predictedCost()));
          assertTrue(!decision.reason().isBlank());
        });
  }

  @Test
  void noTwoSamplesAreOfOneMemorySize() {
    forAll(
        (decision, history) -> {
          List<Progress.Sample> samples = decision.after().samples();
          long sizes = samples.stream().map(Progress.Sample::writeBytes).distinct().count();
          assertEquals(samples.size(), sizes);
        });
  }

  @Test
  void aLineOfTextHoldsAllOfADecision() {
    forAll(
        (decision, history) -> {
          String line = DecisionText.write(decision);
          assertEquals(1, line.lines().count());
          assertEquals(decision, DecisionText.parse(line));
        });
  }

  @Test
  void recordedDecisionsAreDecidedAgainTheSameWay() {
    forAll(
        (decision, history) -> {
          if (history.decisions().size() < CYCLES) {
            return;
          }
          List<Decision> recorded =
              history.decisions().stream()
                  .map(DecisionText::write)
                  .map(DecisionText::parse)
                  .toList();
          assertEquals(List.of(), Replay.differences(recorded, true));
          assertEquals(List.of(), Replay.differences(recorded.subList(7, CYCLES), false));
          assertEquals(history, TunerHistory.of(recorded));
        });
  }
}
