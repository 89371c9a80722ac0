package io.isobardb.tuner.workload;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Decisions on levels as a table for people. */
public final class LevelReport {
  private LevelReport() {}

  /**
   * {@return one line per decision: the cost by the model, as expected of the plan, and as found,
   * and the levels that are planned, in percent of the last one} Lines end with a line feed;
   * nothing if nothing was decided.
   *
   * @param decisions oldest first
   */
  public static String render(List<LevelDecision> decisions) {
    if (decisions.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("levels: entries merged for each entry put\n");
    text.append(line("cycle", "tree", "model", "expected", "found", "action", "planned %", "why"));
    for (LevelDecision decision : decisions) {
      text.append(
          line(
              String.valueOf(decision.cycle()),
              String.valueOf(decision.tree()),
              cost(decision.modelled()),
              cost(decision.expected()),
              cost(decision.found()),
              decision.action().name(),
              planned(decision.plan()),
              decision.reason()));
    }
    return text.toString();
  }

  private static String line(String... cells) {
    return String.format(Locale.ROOT, "%6s %5s %9s %9s %9s  %-10s %-18s %s", (Object[]) cells)
        + "\n";
  }

  private static String cost(double value) {
    return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.3f", value);
  }

  /**
   * {@return what levels are planned to hold, in percent of the last one, from L1 on}
   *
   * @param plan null if levels follow the batches
   */
  public static String planned(@Nullable LevelShares plan) {
    if (plan == null) {
      return "by batches";
    }
    StringBuilder text = new StringBuilder();
    for (int height = plan.count() - 1; height >= 0; height--) {
      text.append(String.format(Locale.ROOT, "%.2f", 100 * plan.share(height)));
      text.append(height == 0 ? "" : " ");
    }
    return text.toString();
  }
}
