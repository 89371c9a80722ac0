package io.isobardb.lsm.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.commit.FullL0;
import io.isobardb.lsm.version.L0Rules.Load;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How many groups L0 may have, by what reads lose. */
@Tag("any-jdk")
class L0RulesTest {
  private static final L0Rules RULES = new L0Rules(L0Limits.DEFAULT, 64);

  @Test
  void limitsAreAsReviewed() throws IOException {
    GoldenFile.check(L0RulesTest.class, "l0-rules.txt", L0RulesTest::ask);
  }

  /**
   * Each line: {@code writes=1 gets=1 scans=0.01 steps=1 groups=8 deeper=3}, all 0 unless given.
   */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      Map<String, Double> values = new HashMap<>();
      for (String word : line.trim().split("\\s+")) {
        values.put(word.split("=")[0], Double.parseDouble(word.split("=")[1]));
      }
      L0Limits limits =
          RULES.limits(
              new Load(
                  values.getOrDefault("gets", 0.0),
                  values.getOrDefault("scans", 0.0),
                  values.getOrDefault("steps", 0.0),
                  values.getOrDefault("writes", 0.0)),
              values.getOrDefault("groups", 0.0).intValue(),
              values.getOrDefault("deeper", 3.0).intValue());
      answer.append(limits.slowdown()).append(" to ").append(limits.stop()).append('\n');
    }
    return answer.toString();
  }

  @Test
  void limitsStayBetweenTheLeastAndTheMostAndFallWithScans() {
    SplittableRandom random = new SplittableRandom(53);
    for (int round = 0; round < 10_000; round++) {
      double gets = random.nextInt(3) * random.nextDouble() * 1e5;
      double scans = random.nextInt(3) * random.nextDouble() * 1e4;
      Load load = new Load(gets, scans, scans * random.nextInt(200), random.nextDouble() * 1e5);
      int groups = random.nextInt(80);
      int deeper = 1 + random.nextInt(8);
      L0Limits limits = RULES.limits(load, groups, deeper);
      assertTrue(limits.stop() >= 12 && limits.stop() <= 64, limits.toString());
      assertEquals(4, limits.start());
      Load more = new Load(gets, load.scans() + 1, load.steps(), load.writes());
      assertTrue(RULES.limits(more, groups, deeper).stop() <= limits.stop(), limits.toString());
      assertTrue(limits.stop() > groups || groups >= 64 || limits.stop() == 64, "flushes stop");
    }
  }

  @Test
  void fixedLimitsHoldWhateverIsRead() {
    L0Rules fixed = L0Rules.fixed(L0Limits.DEFAULT);
    assertEquals(L0Limits.DEFAULT, fixed.limits(new Load(0, 0, 0, 1e6), 40, 3));
    assertThrows(IllegalArgumentException.class, () -> new L0Rules(L0Limits.DEFAULT, 11));
  }

  @Test
  void aTreeThatIsMergedLaterWaitsLaterAndOneThatIsMergedSoonerNoSooner() {
    assertEquals(new L0Limits(8, 16, 24), L0Limits.DEFAULT.startingAt(8));
    assertEquals(new L0Limits(2, 8, 12), L0Limits.DEFAULT.startingAt(2));
    assertEquals(L0Limits.DEFAULT, L0Limits.DEFAULT.startingAt(0));
    assertEquals(L0Limits.DEFAULT, L0Limits.DEFAULT.startingAt(4));
    for (int start = 1; start < 40; start++) {
      assertEquals(start, RULES.startingAt(start).limits(Load.NONE, 0, 3).start());
    }
    L0Rules fixed = L0Rules.fixed(L0Limits.DEFAULT).startingAt(8);
    assertEquals(new L0Limits(8, 16, 24), fixed.limits(new Load(1, 1, 1, 0), 0, 3));
  }

  @Test
  void whereNothingIsMergedL0IsNeverFull() {
    L0Limits limits = L0Rules.UNLIMITED.startingAt(8).limits(Load.NONE, 4000, 3);
    assertFalse(new FullL0("t", 4000, limits, 1).nearlyFull());
    limits = L0Rules.UNLIMITED.limits(Load.NONE, 4000, 3);
    assertFalse(new FullL0("t", 4000, limits, 1).nearlyFull());
    assertFalse(new FullL0("t", 4000, limits, 1).nearlySlows());
  }
}
