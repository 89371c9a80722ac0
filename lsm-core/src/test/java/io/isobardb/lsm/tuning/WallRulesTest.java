package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.tuning.WallRules.Division;
import io.isobardb.lsm.tuning.WallRules.Floors;
import io.isobardb.lsm.tuning.WallRules.Needs;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class WallRulesTest {
  private static final long KB = 1 << 10;

  @Test
  void floorsAreAsReviewed() throws IOException {
    GoldenFile.check(WallRulesTest.class, "floors.txt", WallRulesTest::ask);
  }

  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      Map<String, Double> values = new HashMap<>();
      for (String word : line.split("\\s+")) {
        String[] parts = word.split("=");
        values.put(parts[0], Double.parseDouble(parts[1]));
      }
      answer.append(values.containsKey("now") ? step(values) : floors(values)).append('\n');
    }
    return answer.toString();
  }

  private static String floors(Map<String, Double> values) {
    WallRules rules =
        new WallRules(values.getOrDefault("least", 0.0), values.getOrDefault("cache", 0.0), 4096);
    long budget = bytes(values, "budget", 0);
    Division division =
        new Division(
            budget,
            bytes(values, "shared", budget / KB),
            bytes(values, "grant", budget / KB / 2),
            budget / 4 * 3);
    Needs needs =
        new Needs(
            values.getOrDefault("trees", 1.0).intValue(),
            bytes(values, "keep", 0),
            bytes(values, "large", 0));
    Floors floors = rules.floors(division, needs);
    String text = "write " + floors.write() / KB + " KB, cache " + floors.cache() / KB + " KB";
    return values.containsKey("to")
        ? text + ": to " + floors.within(bytes(values, "to", 0), division) / KB + " KB"
        : text;
  }

  private static String step(Map<String, Double> values) {
    long next =
        new WallRules(0, 0, 4096)
            .next(
                bytes(values, "now", 0),
                bytes(values, "target", 0),
                bytes(values, "shared", 0),
                bytes(values, "used", 0));
    return next / KB + " KB";
  }

  private static long bytes(Map<String, Double> values, String name, long otherwise) {
    return (long) (values.getOrDefault(name, (double) otherwise) * KB);
  }

  @Test
  void theWallArrivesAndNeverGoesBeyondItsTarget() {
    for (long seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      WallRules rules = new WallRules(0, 0, 4096);
      long shared = (4 + random.nextInt(60)) << 20;
      long target = random.nextLong(shared);
      long now = random.nextLong(shared);
      boolean rises = now < target;
      int steps = 0;
      for (; now != target && steps < 1_000; steps++) {
        long next = rules.next(now, target, shared, random.nextLong(shared));
        assertTrue(rises ? next > now && next <= target : next < now && next >= target, "" + seed);
        now = next;
      }
      assertEquals(target, now, "seed " + seed);
    }
  }
}
