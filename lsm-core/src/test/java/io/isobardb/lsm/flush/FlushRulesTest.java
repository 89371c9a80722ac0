package io.isobardb.lsm.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.flush.FlushRules.Cause;
import io.isobardb.lsm.flush.FlushRules.FlushView;
import io.isobardb.lsm.flush.FlushRules.Pressure;
import io.isobardb.lsm.flush.WriteWindow.Lately;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FlushRulesTest {
  private static final long MB = 1 << 20;

  private FlushRules rules = rules(MemoryComponent.PARTITIONED);
  private final List<TreeMemory> trees = new ArrayList<>();

  private static FlushRules rules(MemoryComponent component) {
    StoreOptions.Builder options = StoreOptions.builder().logLimit(640 * MB);
    ExperimentalOptions.set(options, e -> e.memoryComponent(component));
    return FlushRules.of(options.build());
  }

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(FlushRulesTest.class, "flush-rules.txt", this::ask);
  }

  private String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] words = line.split("\\s+");
      Map<String, Long> values = new HashMap<>();
      for (int i = 1; i < words.length; i++) {
        String[] parts = words[i].split("=");
        values.put(parts[0], parts.length == 1 ? 1 : Long.parseLong(parts[1]));
      }
      switch (words[0]) {
        case "trees" -> trees.clear();
        case "component" -> rules = rules(MemoryComponent.valueOf(words[1]));
        case "due" -> answer.append(due(values)).append('\n');
        case "log", "share", "memory" -> answer.append(choose(words[0], values));
        default -> trees.add(tree(Integer.parseInt(words[0]), values));
      }
    }
    return answer.isEmpty() ? "ok" : answer.toString();
  }

  private static TreeMemory tree(int id, Map<String, Long> values) {
    long memory = values.get("memory") * MB;
    return new TreeMemory(
        id,
        memory,
        memory - values.getOrDefault("floor", 0L) * MB,
        values.getOrDefault("lsn", 0L) * MB,
        values.containsKey("busy"),
        values.containsKey("sliced"),
        new Lately(values.getOrDefault("written", 0L) * MB, 0, 0, 0, false));
  }

  private String due(Map<String, Long> values) {
    return rules
        .causes(
            new Pressure(
                values.getOrDefault("log", 0L) * MB,
                values.getOrDefault("sweep", 0L) * MB,
                values.getOrDefault("excess", 0L) * MB,
                values.getOrDefault("coming", 0L) * MB,
                values.containsKey("shares"),
                values.getOrDefault("running", 0L).intValue()))
        .toString();
  }

  private String choose(String cause, Map<String, Long> values) {
    FlushView view =
        new FlushView(
            Cause.valueOf(cause.toUpperCase(Locale.ROOT)),
            512 * MB,
            16 * MB,
            values.getOrDefault("end", 1000L) * MB,
            List.copyOf(trees));
    if (values.containsKey("mine")) {
      return rules.goesOn(view, values.get("mine").intValue()) ? "goes on\n" : "ends\n";
    }
    StringBuilder all = new StringBuilder();
    for (FlushChoice choice : rules.choose(view)) {
      all.append(choice.treeId()).append("  ").append(choice.kind()).append("  ");
      all.append(choice.sliced() ? "sliced  " : "");
      all.append(choice.reason()).append('\n');
    }
    return all.isEmpty() ? "none\n" : all.toString();
  }

  @Test
  void whatIsLeftOfASweepIsWhatMemoryHoldsLessHalfOfWhatWasFlushed() {
    assertEquals(80, rules.sweepBytes(80, 0));
    assertEquals(50, rules.sweepBytes(80, 60));
    assertEquals(0, rules.sweepBytes(80, 160));
    assertEquals(0, rules.sweepBytes(80, 900));
    for (FlushStrategy whole : List.of(FlushStrategy.FULL, FlushStrategy.ADAPTIVE)) {
      FlushRules flushWhole = new FlushRules(FlushPolicy.OPTIMAL, whole, MB);
      assertEquals(0, flushWhole.sweepBytes(80, 0), whole.toString());
    }
  }

  @Test
  void treesKeepTheirFloorsOrTheirPartOfWhatMayStay() {
    assertEquals(1, FlushRules.keptOfFloors(100, 0));
    assertEquals(1, FlushRules.keptOfFloors(100, 100));
    assertEquals(0.5, FlushRules.keptOfFloors(100, 200));
    assertEquals(0, FlushRules.keptOfFloors(0, 200));
  }
}
