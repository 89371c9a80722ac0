package io.isobardb.tuner.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.LevelMerges;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.workload.LevelDecision.Action;
import io.isobardb.tuner.workload.LevelProgress.Stage;
import io.isobardb.tuner.workload.LevelView.Sizes;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LevelTunerTest {
  private static final double LAST = 1e6;
  private static final double ROUND = 2_000;
  private static final Popularity UNIFORM = TabulatedPopularity.of(KeyGroups.uniform(LAST));
  private static final Popularity ZIPF = TabulatedPopularity.of(KeyGroups.zipf(LAST, 0.99));

  /** The cycles of one tree, whose merges cost what the model says times something. */
  private static final class Cycles {
    final List<LevelDecision> decisions = new ArrayList<>();
    final Sizes sizes;
    Popularity popularity;
    LevelShares usual;

    /** What a plan costs more than the model says. */
    double surcharge = 1;

    double turnovers = 1.1;
    LevelProgress progress = LevelProgress.START;

    Cycles(double round, Popularity popularity, LevelShares usual) {
      this.sizes = new Sizes(LAST, 2_000, 2_000, round, 3);
      this.popularity = popularity;
      this.usual = usual;
    }

    LevelShares now() {
      LevelShares plan = progress.plan();
      return plan == null ? usual : plan;
    }

    double cost(LevelShares shares) {
      double columns = popularity.unique(sizes.round()) / sizes.slice();
      LevelMerges merges = new LevelMerges(3 * sizes.round(), sizes.table(), columns, false);
      return merges.cost(popularity, shares.entries(LAST));
    }

    LevelDecision next() {
      double cost = 1.3 * cost(now()) * (progress.plan() == null ? 1 : surcharge);
      double last = turnovers * LAST;
      // All that is merged, as if it went to the last level: for so many writes.
      LevelView.Work work = new LevelView.Work(last / cost, List.of(last), 0);
      LevelDecision decision =
          LevelTuner.choose(
              progress,
              new LevelView(decisions.size() + 1L, 1, sizes, now(), usual, popularity, 1.25, work));
      progress = decision.after();
      decisions.add(decision);
      return decision;
    }

    LevelDecision until(Set<Action> wanted) {
      for (int i = 0; i < 40; i++) {
        LevelDecision decision = next();
        if (wanted.contains(decision.action())) {
          return decision;
        }
      }
      throw new AssertionError("none of " + wanted + ": " + LevelReport.render(decisions));
    }
  }

  private static LevelShares shares(Double... byHeight) {
    return new LevelShares(List.of(byHeight));
  }

  @Test
  void aPlanThatSavesWhatItPromisesIsKeptAndNoneFollows() {
    for (Popularity popularity : List.of(UNIFORM, ZIPF)) {
      Cycles tree = new Cycles(ROUND, popularity, shares(1.0, 0.04, 0.01));
      double before = tree.cost(tree.usual);
      LevelDecision kept = tree.until(EnumSet.of(Action.KEEP));
      LevelShares plan = kept.plan();
      assertNotNull(plan);
      assertTrue(tree.cost(plan) < 0.97 * before, LevelReport.render(tree.decisions));
      double space = plan.byHeight().stream().mapToDouble(it -> it).sum();
      assertTrue(space <= 1.25 + 1e-6, plan.toString());
      double batch = popularity.unique(3 * ROUND);
      assertTrue(plan.share(plan.count() - 1) * LAST >= batch * (1 - 1e-9), plan.toString());
      assertTrue(plan.count() <= 3, plan.toString());
      for (int i = 0; i < 20; i++) {
        assertEquals(Action.STAY, tree.next().action());
        assertEquals(plan, tree.progress.plan());
      }
    }
  }

  private static double steepness(Popularity popularity, double round, LevelShares levels) {
    // Slices so large that a flush is one: nothing is rewritten needlessly for them.
    Sizes sizes = new Sizes(LAST, 2_000, LAST, round, 3);
    LevelView.Work work = new LevelView.Work(0, List.of(), 0);
    return LevelTuner.steepness(new LevelView(1, 1, sizes, levels, levels, popularity, 1.25, work));
  }

  @Test
  void withOneLevelAndFewKeysInMemoryMergesAreInverseToIt() {
    // Each merge of L0 rewrites the level, and there are as many fewer as rounds are longer. Rounds
    // grow a little faster than memory, since some keys come twice.
    assertEquals(1, steepness(UNIFORM, ROUND, shares(1.0)), 0.01);
    double zipf = steepness(ZIPF, ROUND, shares(1.0));
    assertTrue(zipf > 1.1 && zipf < 1.6, "" + zipf);
  }

  @Test
  void moreLevelsMakeMemoryLessWorth() {
    double two = steepness(UNIFORM, ROUND, shares(1.0, 0.1));
    double three = steepness(UNIFORM, ROUND, shares(1.0, 0.1, 0.01));
    assertTrue(0.05 < three && three < two && two < 0.9, three + " and " + two);
  }

  @Test
  void noSteepnessIsToldWhereTheModelKnowsNothing() {
    assertEquals(0, steepness(UNIFORM, 0, shares(1.0)));
    assertEquals(0, steepness(UNIFORM, 100 * LAST, shares(1.0)), "memory holds all keys");
    LevelView.Work work = new LevelView.Work(0, List.of(), 0);
    Sizes sizes = new Sizes(LAST, 2_000, 2_000, ROUND, 3);
    LevelShares one = shares(1.0);
    assertEquals(0, LevelTuner.steepness(new LevelView(1, 1, sizes, one, one, null, 1.25, work)));
  }

  @Test
  void levelsGoBySteps() {
    Cycles tree = new Cycles(ROUND, UNIFORM, shares(1.0, 0.02, 0.006));
    LevelShares before = tree.usual;
    tree.until(EnumSet.of(Action.KEEP));
    int steps = 0;
    for (LevelDecision decision : tree.decisions) {
      LevelShares plan = decision.plan() == null ? tree.usual : decision.plan();
      for (int height = 1; height < Math.min(plan.count(), before.count()); height++) {
        double ratio = plan.share(height) / before.share(height);
        assertTrue(ratio <= 2.001 && ratio >= 0.499, LevelReport.render(tree.decisions));
      }
      steps += plan.equals(before) ? 0 : 1;
      before = plan;
    }
    assertTrue(steps >= 3, LevelReport.render(tree.decisions));
  }

  @Test
  void aPlanThatCostsMoreIsTakenBackAndBarredForEverLonger() {
    Cycles tree = new Cycles(ROUND, UNIFORM, shares(1.0, 0.1, 0.01));
    tree.surcharge = 1.5;
    List<Integer> rests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      LevelDecision doubted = tree.until(EnumSet.of(Action.DOUBT, Action.KEEP));
      assertEquals(Action.DOUBT, doubted.action(), LevelReport.render(tree.decisions));
      assertEquals(Action.TAKE_BACK, tree.next().action());
      while (tree.progress.stage() == Stage.RETURNING) {
        tree.next();
      }
      assertNull(tree.progress.plan());
      int rest = 0;
      while (tree.next().action() == Action.STAY) {
        rest++;
      }
      rests.add(rest);
    }
    assertEquals(List.of(3, 6, 12, 24, 24), rests);
  }

  @Test
  void whatTheWorkloadDoesToTheCostIsNotThePlansFault() {
    Cycles tree = new Cycles(ROUND, ZIPF, shares(1.0, 0.04, 0.01));
    tree.until(EnumSet.of(Action.MOVE));
    // Nearly twice the cost, with any sizes.
    tree.popularity = UNIFORM;
    LevelDecision judged = tree.until(EnumSet.of(Action.KEEP, Action.DOUBT));
    assertEquals(Action.KEEP, judged.action(), LevelReport.render(tree.decisions));
    assertTrue(judged.found() > 1.2 * judged.expected());
    // And what is planned follows.
    tree.until(EnumSet.of(Action.KEEP, Action.STAY));
    double cost = tree.cost(tree.now());
    Cycles fresh = new Cycles(ROUND, tree.popularity, tree.usual);
    assertTrue(cost < 1.031 * fresh.cost(fresh.until(EnumSet.of(Action.KEEP)).plan()));
  }

  @Test
  void nothingIsDecidedBeforeMergesHaveGoneRound() {
    Cycles tree = new Cycles(ROUND, UNIFORM, shares(1.0, 0.1, 0.01));
    tree.turnovers = 0.9;
    assertEquals(Action.WAIT, tree.next().action());
    assertEquals(LevelProgress.START, tree.progress);
    tree.turnovers = 1;
    assertEquals(Action.MOVE, tree.next().action());
  }

  /** What is learnt of popularity may be of more keys than the last level has. */
  @Test
  void whereAllComesInAtATimeOneLevelIsEnough() {
    Popularity more = TabulatedPopularity.of(KeyGroups.uniform(1.05 * LAST));
    for (Sizes sizes :
        List.of(new Sizes(LAST, 2_000, 2_000, 4 * LAST, 3), new Sizes(50, 2_000, 2_000, 10, 3))) {
      for (LevelShares usual : List.of(shares(1.0), shares(1.0, 0.1))) {
        LevelView.Work work = new LevelView.Work(2 * LAST, List.of(2 * LAST), 0);
        LevelView view = new LevelView(1, 1, sizes, usual, usual, more, 1.25, work);
        LevelDecision decision = LevelTuner.choose(LevelProgress.START, view);
        LevelShares plan = decision.plan();
        assertEquals(1, plan == null ? usual.count() : plan.count(), decision.toString());
      }
    }
  }

  @Test
  void whatADecisionWaitsForIsNamed() {
    LevelShares one = shares(1.0);
    LevelView.Work work = new LevelView.Work(1, List.of(), 0);
    Sizes known = new Sizes(LAST, 2_000, 2_000, ROUND, 3);
    Sizes noRound = new Sizes(LAST, 2_000, 2_000, 0, 3);
    Sizes noMerge = new Sizes(LAST, 2_000, 2_000, ROUND, 0);
    Sizes empty = new Sizes(0, 2_000, 2_000, ROUND, 3);
    List<String> reasons = new ArrayList<>();
    for (LevelView view :
        List.of(
            new LevelView(1, 1, known, one, one, null, 1.25, work),
            new LevelView(1, 1, noRound, one, one, UNIFORM, 1.25, work),
            new LevelView(1, 1, noMerge, one, one, UNIFORM, 1.25, work),
            new LevelView(1, 1, empty, one, one, UNIFORM, 1.25, work),
            new LevelView(1, 1, known, one, one, UNIFORM, 1.25, work))) {
      LevelDecision decision = LevelTuner.choose(LevelProgress.START, view);
      assertEquals(Action.WAIT, decision.action());
      reasons.add(decision.reason());
    }
    assertEquals(
        List.of(
            "how popular its keys are is not known: two windows of its writes tell",
            "flushes have not come by the end of its keys twice",
            "no merge of L0 has ended",
            "its last level is empty",
            "what these sizes cost is found"),
        reasons);
  }

  @Test
  void decisionsAreTheSameAsTextAndBack() {
    Cycles tree = new Cycles(ROUND, UNIFORM, shares(1.0, 0.1, 0.01));
    tree.surcharge = 1.5;
    for (int i = 0; i < 40; i++) {
      LevelDecision decision = tree.next();
      String line = LevelText.write(decision);
      assertTrue(LevelText.isLevels(line));
      assertEquals(decision, LevelText.parse(line));
      for (int cut = 0; cut < line.indexOf(" why="); cut += 7) {
        String torn = line.substring(0, cut);
        assertThrows(IllegalArgumentException.class, () -> LevelText.parse(torn));
      }
    }
    String line = LevelText.write(tree.until(EnumSet.of(Action.DOUBT)));
    for (String wrong :
        List.of("plan=-", "plan=1.0,2.0", "goal=-", "cost=0,0,0", "barred=1,0", "stage=GONE")) {
      String name = wrong.substring(0, wrong.indexOf('='));
      String damaged = line.replaceFirst(" " + name + "=\\S+", " " + wrong);
      assertThrows(IllegalArgumentException.class, () -> LevelText.parse(damaged), damaged);
    }
  }

  @Test
  void sharesThatAreNoneAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new LevelShares(List.of()));
    assertThrows(IllegalArgumentException.class, () -> shares(0.5));
    assertThrows(IllegalArgumentException.class, () -> shares(1.0, 0.1, 0.2));
    assertThrows(IllegalArgumentException.class, () -> shares(1.0, 0.0));
    assertThrows(IllegalArgumentException.class, () -> shares(1.0, Double.NaN));
  }
}
