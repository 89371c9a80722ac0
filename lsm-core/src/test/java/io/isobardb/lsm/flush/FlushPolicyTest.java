package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FlushPolicyTest {
  private static final long MB = 1 << 20;

  @Test
  void choicesAreAsReviewed() throws IOException {
    List<TreeMemory> trees = new ArrayList<>();
    GoldenFile.check(FlushPolicyTest.class, "flush-choice.txt", lines -> ask(trees, lines));
  }

  private static String ask(List<TreeMemory> trees, List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      Map<String, Long> values = new HashMap<>();
      String[] words = line.split("\\s+");
      for (int i = 1; i < words.length; i++) {
        String[] parts = words[i].split("=");
        values.put(parts[0], parts.length == 1 ? 1 : Long.parseLong(parts[1]));
      }
      switch (words[0]) {
        case "trees" -> trees.clear();
        case "memory" -> {
          for (FlushPolicy policy : FlushPolicy.values()) {
            answer.append(describe(policy.choose(trees, values.get("minimum") * MB)));
          }
        }
        case "log" -> answer.append(describe(FlushPolicy.chooseForLog(trees, values.get("below"))));
        default ->
            trees.add(
                new TreeMemory(
                    Integer.parseInt(words[0]),
                    values.get("memory") * MB,
                    values.getOrDefault("flushable", values.get("memory")) * MB,
                    values.get("lsn"),
                    values.getOrDefault("written", 0L) * MB,
                    values.containsKey("flushing")));
      }
    }
    return answer.isEmpty() ? "ok" : answer.toString();
  }

  private static String describe(@Nullable FlushChoice choice) {
    return choice == null ? "none\n" : choice.treeId() + "  " + choice.reason() + "\n";
  }

  @Test
  void whileAnythingCanBeFreedATreeIsFound() {
    for (long seed = 0; seed < 2_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<TreeMemory> trees = new ArrayList<>();
      for (int id = random.nextInt(6); id > 0; id--) {
        long memory = random.nextInt(4) * MB;
        trees.add(
            new TreeMemory(
                id,
                memory,
                random.nextBoolean() ? memory : memory / 2,
                random.nextInt(100),
                random.nextInt(3) * MB,
                random.nextBoolean()));
      }
      boolean any = trees.stream().anyMatch(tree -> !tree.busy() && tree.flushableBytes() > 0);
      for (FlushPolicy policy : FlushPolicy.values()) {
        FlushChoice choice = policy.choose(trees, 2 * MB);
        boolean good =
            choice == null
                ? !any
                : trees.stream()
                    .filter(tree -> tree.treeId() == choice.treeId())
                    .allMatch(tree -> !tree.busy() && tree.flushableBytes() > 0);
        assertTrue(good, "seed " + seed + ", " + policy + " of " + trees + " chose " + choice);
      }
    }
  }
}
