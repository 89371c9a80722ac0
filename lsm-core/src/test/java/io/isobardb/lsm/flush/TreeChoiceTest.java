package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.flush.TreeChoice.Pick;
import io.isobardb.lsm.flush.WriteWindow.Lately;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TreeChoiceTest {
  private static final long MB = 1 << 20;

  @Test
  void choicesAreAsReviewed() throws IOException {
    List<TreeMemory> trees = new ArrayList<>();
    GoldenFile.check(TreeChoiceTest.class, "flush-choice.txt", lines -> ask(trees, lines));
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
            long bytes = values.getOrDefault("bytes", 0L) * MB;
            answer.append(
                describe(TreeChoice.choose(policy, trees, values.get("minimum") * MB, bytes)));
          }
        }
        case "log" -> {
          long bytes = values.getOrDefault("bytes", 0L) * MB;
          answer.append(describe(TreeChoice.chooseForLog(trees, values.get("below"), bytes)));
        }
        default ->
            trees.add(
                new TreeMemory(
                    Integer.parseInt(words[0]),
                    values.get("memory") * MB,
                    values.getOrDefault("flushable", values.get("memory")) * MB,
                    values.get("lsn"),
                    values.containsKey("flushing"),
                    false,
                    written(values.getOrDefault("written", 0L) * MB)));
      }
    }
    return answer.isEmpty() ? "ok" : answer.toString();
  }

  private static Lately written(long bytes) {
    return new Lately(bytes, 0, 0, 0, false);
  }

  private static String describe(List<Pick> choices) {
    if (choices.isEmpty()) {
      return "none\n";
    }
    StringBuilder all = new StringBuilder();
    for (Pick choice : choices) {
      all.append(choice.tree().treeId()).append("  ").append(choice.reason()).append('\n');
    }
    return all.toString();
  }

  @Test
  void whileAnythingCanBeFreedATreeIsFoundUnlessALargerOneIsBusy() {
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
                random.nextBoolean(),
                random.nextBoolean(),
                written(random.nextInt(3) * MB)));
      }
      boolean any =
          trees.stream().anyMatch(tree -> !tree.busy() && tree.flushableBytes() >= 2 * MB)
              || trees.stream().anyMatch(tree -> !tree.busy() && tree.flushableBytes() > 0)
                  && trees.stream().noneMatch(tree -> tree.flushableBytes() >= 2 * MB);
      for (FlushPolicy policy : FlushPolicy.values()) {
        List<Pick> choices = TreeChoice.choose(policy, trees, 2 * MB, random.nextInt(8) * MB);
        boolean good =
            any != choices.isEmpty()
                && choices.stream().map(pick -> pick.tree().treeId()).distinct().count()
                    == choices.size()
                && choices.stream().allMatch(pick -> canGive(trees, pick.tree().treeId()));
        assertTrue(good, "seed " + seed + ", " + policy + " of " + trees + " chose " + choices);
      }
    }
  }

  private static boolean canGive(List<TreeMemory> trees, int id) {
    return trees.stream()
        .filter(tree -> tree.treeId() == id)
        .allMatch(tree -> !tree.busy() && tree.flushableBytes() > 0);
  }
}
