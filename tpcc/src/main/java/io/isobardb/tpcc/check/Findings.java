package io.isobardb.tpcc.check;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What a check found: violations counted by condition, with the first few as text. Thread-safe. */
public final class Findings {
  private static final int EXAMPLES = 5;

  private final Map<Condition, Long> counts = new EnumMap<>(Condition.class);
  private final Map<Condition, List<String>> examples = new EnumMap<>(Condition.class);

  synchronized void add(Condition condition, String text) {
    counts.merge(condition, 1L, Long::sum);
    List<String> texts = examples.computeIfAbsent(condition, key -> new ArrayList<>());
    if (texts.size() < EXAMPLES) {
      texts.add(text);
    }
  }

  void expect(Condition condition, String where, long expected, long found) {
    if (expected != found) {
      add(condition, where + ": expected " + expected + ", found " + found);
    }
  }

  /** Whether all conditions hold. */
  public synchronized boolean clean() {
    return counts.isEmpty();
  }

  /** How often the condition is violated. */
  public synchronized long count(Condition condition) {
    return counts.getOrDefault(condition, 0L);
  }

  /** The first violations of the condition. */
  public synchronized List<String> examples(Condition condition) {
    return List.copyOf(examples.getOrDefault(condition, List.of()));
  }

  /** A line per condition, {@code [OK]} or {@code [NG]}, and what is wrong below it. */
  public String text() {
    StringBuilder text = new StringBuilder();
    for (Condition condition : Condition.values()) {
      long count = count(condition);
      text.append(count == 0 ? "[OK] " : "[NG] ")
          .append(String.format("%2s  %s%n", condition.number(), condition.text()));
      for (String example : examples(condition)) {
        text.append("         ").append(example).append(System.lineSeparator());
      }
      if (count > EXAMPLES) {
        text.append("         and ")
            .append(count - EXAMPLES)
            .append(" more")
            .append(System.lineSeparator());
      }
    }
    return text.toString();
  }
}
