package io.isobardb.tuner.shape;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tuner.shape.ShapeDecision.Action;
import io.isobardb.tuner.shape.ShapeProgress.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class RunsTunerTest {
  private static final double OPERATIONS = 100;
  private static final String[] NAMES = {"LEVELED", "LAZY(8)"};

  /** A tree with two shapes, whose costs come window by window. */
  private static final class World {
    ShapeProgress progress = ShapeProgress.START;
    Phases phases = Phases.NONE;
    int current;
    long window;
    double paid;
    final double[] prices;
    final List<ShapeDecision> decisions = new ArrayList<>();

    /** What the tree costs beside what the model says. */
    double[] truth = {1, 1};

    boolean isFree = true;
    boolean isTried = true;

    World(double toFirst, double toSecond) {
      prices = new double[] {toFirst, toSecond};
    }

    /** A window in which an operation costs so much with each shape. */
    ShapeDecision step(Window seen, double first, double second) {
      double[] costs = {first, second};
      phases = phases.after(seen);
      paid += costs[current] * truth[current] * OPERATIONS;
      List<ShapeView.Option> options = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        options.add(
            new ShapeView.Option(NAMES[i], costs[i], i == current ? 0 : prices[i], isTried));
      }
      double found = costs[current] * truth[current];
      ShapeDecision decision =
          RunsTuner.choose(
              progress,
              new ShapeView(
                  ++window, 1, OPERATIONS, phases, options, current, found, true, isFree));
      progress = decision.after();
      if (decision.action() != Action.WAIT) {
        decisions.add(decision);
      }
      int to = decision.to().equals(NAMES[0]) ? 0 : 1;
      if (to != current) {
        paid += prices[to];
        current = to;
      }
      return decision;
    }

    ShapeDecision step(double first, double second) {
      return step(SAME, first, second);
    }

    List<Action> actions() {
      return decisions.stream().map(ShapeDecision::action).toList();
    }
  }

  private static final Window SAME = new Window(0, 50, 0, 50, 0, 0, 0);
  private static final Window WRITES = new Window(0, 95, 0, 5, 0, 0, 0);
  private static final Window SCANS = new Window(0, 5, 0, 0, 0, 95, 1_900);

  @Test
  void aChangeThatSavesLittleIsNotMade() {
    World world = new World(0, 0);
    for (int i = 0; i < 100; i++) {
      world.step(1, 0.97);
    }
    assertEquals(List.of(), world.decisions);
  }

  @Test
  void aChangeThatCostsNothingIsMadeWhenTwoWindowsCallForIt() {
    World world = new World(0, 0);
    assertEquals(Action.WAIT, world.step(1, 0.5).action());
    assertEquals(Action.CHANGE, world.step(1, 0.5).action());
    assertEquals(1, world.current);
  }

  @Test
  void oneIsMadeOnceWaitingHasCostItsPrice() {
    World world = new World(0, 500);
    for (int i = 0; i < 9; i++) {
      assertEquals(Action.WAIT, world.step(1, 0.5).action());
    }
    assertEquals(Action.CHANGE, world.step(1, 0.5).action());
  }

  @Test
  void runsThatWereNeverTriedHaveToSaveTwiceTheirPrice() {
    World world = new World(0, 500);
    world.isTried = false;
    for (int i = 0; i < 19; i++) {
      assertEquals(Action.WAIT, world.step(1, 0.5).action());
    }
    assertEquals(Action.CHANGE, world.step(1, 0.5).action());
  }

  @Test
  void nothingIsChangedWhileSomethingElseIs() {
    World world = new World(0, 0);
    world.isFree = false;
    for (int i = 0; i < 20; i++) {
      world.step(1, 0.5);
    }
    assertEquals(List.of(), world.decisions);
    world.isFree = true;
    assertEquals(Action.CHANGE, world.step(1, 0.5).action());
  }

  @Test
  void withAStayThatIsKnownItIsMadeAtOnceOrNotAtAll() {
    for (int length : new int[] {6, 60}) {
      World world = new World(1500, 1500);
      // 0.5 a time, 100 times a window: 30 windows make up for the price.
      for (int day = 0; day < 3; day++) {
        for (int i = 0; i < length; i++) {
          world.step(WRITES, 1, 1);
        }
        for (int i = 0; i < length; i++) {
          world.step(SCANS, 1, 1);
        }
      }
      for (int i = 0; i < 4; i++) {
        world.step(WRITES, 1, 0.5);
      }
      assertEquals(length == 60 ? 1 : 0, world.current, length + " windows");
    }
  }

  @Test
  void aHarmfulChangeIsTakenBackWithinThreeWindowsAndBarredForLongerEachTime() {
    World world = new World(0, 0);
    world.truth = new double[] {1, 3};
    List<Long> backs = new ArrayList<>();
    List<Long> changes = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      ShapeDecision decision = world.step(1, 0.5);
      if (decision.action() == Action.CHANGE) {
        changes.add(decision.window());
      } else if (decision.action() == Action.TAKE_BACK) {
        backs.add(decision.window());
        assertEquals("LEVELED", decision.to());
      }
    }
    assertTrue(backs.size() >= 4, backs.toString());
    for (int i = 0; i < backs.size(); i++) {
      // One for what is left of the change, and three in which it is found.
      assertEquals(changes.get(i) + 4, backs.get(i));
      if (i > 0) {
        assertTrue(changes.get(i) - backs.get(i - 1) >= ShapeProgress.FIRST_BAR << (i - 1));
      }
    }
  }

  @Test
  void noChangeStandsUndecidedAfterTenWindows() {
    for (double truth : new double[] {0.5, 1.0, 1.9, 1.96, 2.05, 2.2, 2.4, 4}) {
      World world = new World(0, 0);
      world.truth = new double[] {1, truth};
      for (int i = 0; i < 2 + 1 + 10; i++) {
        world.step(1, 0.5);
      }
      assertEquals(Stage.RESTING, world.progress.stage(), "found " + truth);
      // What is found beside what was before: half of it is modelled.
      Action judged = world.decisions.get(1).action();
      assertEquals(truth / 2 > 1.05 ? Action.TAKE_BACK : Action.KEEP, judged, "found " + truth);
    }
  }

  @Test
  void aPhaseThatEndsBeforeAChangeIsJudgedAccusesNobody() {
    World world = new World(0, 0);
    for (int i = 0; i < 3; i++) {
      world.step(WRITES, 1, 0.95);
      world.step(WRITES, 1, 0.5);
    }
    int begun = world.decisions.size();
    assertEquals(List.of(Action.CHANGE), world.actions().subList(0, begun));
    world.step(SCANS, 1, 3);
    world.step(SCANS, 1, 3);
    assertTrue(world.actions().contains(Action.UNJUDGED), world.actions().toString());
  }

  @Test
  void aStayOfAnyLengthCostsAtMostTwiceWhatItDoesWithHindsightAndAWindow() {
    SplittableRandom random = new SplittableRandom(3);
    for (int run = 0; run < 2_000; run++) {
      double price = random.nextDouble() * 2_000;
      World world = new World(price, price);
      double stayed = 0;
      double changed = price;
      double most = 0;
      for (int i = 0; i < 60; i++) {
        double better = random.nextInt(4) == 0 ? 0.01 : random.nextDouble();
        double first = better + random.nextDouble() * random.nextInt(3);
        world.step(first, better);
        stayed += first * OPERATIONS;
        changed += better * OPERATIONS;
        most = Math.max(most, 2 * first * OPERATIONS);
        double best = Math.min(stayed, changed);
        assertTrue(
            world.paid <= 2 * best + most,
            String.format("run %d window %d: %.1f, best %.1f", run, i, world.paid, best));
      }
    }
  }

  @Test
  void anAdversaryThatTurnsAgainstEachChangeIsPaidLessAndLess() {
    for (double price : new double[] {100, 500, 3_000}) {
      World world = new World(price, 0);
      double[] fixed = new double[2];
      for (int i = 0; i < 5_000; i++) {
        double[] costs = {0.1, 0.1};
        costs[world.current] = 1;
        fixed[0] += costs[0] * OPERATIONS;
        fixed[1] += costs[1] * OPERATIONS;
        world.step(costs[0], costs[1]);
      }
      double best = Math.min(fixed[0], fixed[1]);
      assertTrue(world.paid <= 2.1 * best, world.paid + " for " + best);
    }
  }

  @Test
  void randomPhasesCostAtMostTwiceTheBestFixedShape() {
    SplittableRandom random = new SplittableRandom(5);
    for (int run = 0; run < 200; run++) {
      World world = new World(random.nextDouble() * 3_000, random.nextDouble() * 300);
      double[] fixed = new double[2];
      for (int phase = 0; phase < 40; phase++) {
        int length = 1 + random.nextInt(40);
        double first = 0.1 + random.nextDouble();
        double second = 0.1 + random.nextDouble();
        for (int i = 0; i < length; i++) {
          fixed[0] += first * OPERATIONS;
          fixed[1] += second * OPERATIONS;
          world.step(random.nextBoolean() ? WRITES : SAME, first, second);
        }
      }
      double best = Math.min(fixed[0], fixed[1]);
      assertTrue(world.paid <= 2.1 * best, "run " + run + ": " + world.paid + " for " + best);
    }
  }

  @Test
  void decisionsComeBackFromTheirLines() {
    World world = new World(0, 0);
    world.truth = new double[] {1, 3};
    for (int i = 0; i < 60; i++) {
      world.step(1, 0.5);
    }
    assertTrue(world.decisions.size() > 3);
    for (ShapeDecision decision : world.decisions) {
      String line = ShapeText.write(decision);
      ShapeDecision read = ShapeText.parse(line);
      assertEquals(line, ShapeText.write(read));
      assertEquals(decision.to(), read.to());
      assertEquals(decision.after().barred(), read.after().barred());
      assertEquals(Stage.RESTING, read.after().stage());
    }
    String report = ShapeReport.render(world.decisions);
    assertTrue(report.contains("LEVELED to LAZY(8)"), report);
    assertEquals("", ShapeReport.render(List.of()));
  }

  @Test
  void aChangeIsNotJudgedByRunsThatTheTreeMayNotHaveAnyMore() {
    World world = new World(0, 0);
    world.step(1, 0.5);
    assertEquals(Action.CHANGE, world.step(1, 0.5).action());
    world.truth = new double[] {1, 3};
    world.step(1, 0.5);
    assertEquals(Stage.MEASURING, world.progress.stage());
    ShapeProgress progress = world.progress;
    ShapeView.Option left = new ShapeView.Option(NAMES[1], 0.5, 0, true);
    List<Action> actions = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ShapeView view =
          new ShapeView(
              10 + i, 1, OPERATIONS, world.phases, List.of(left), 0, 1.5, true, world.isFree);
      ShapeDecision decision = RunsTuner.choose(progress, view);
      progress = decision.after();
      actions.add(decision.action());
    }
    assertEquals(List.of(Action.UNJUDGED, Action.WAIT, Action.WAIT), actions);
  }
}
