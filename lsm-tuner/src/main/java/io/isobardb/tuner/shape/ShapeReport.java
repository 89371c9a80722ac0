package io.isobardb.tuner.shape;

import java.util.List;
import java.util.Locale;

/** Decisions on runs as a table of text. */
public final class ShapeReport {
  private ShapeReport() {}

  /**
   * {@return one line for each decision; empty if there are none}
   *
   * @param decisions oldest first
   */
  public static String render(List<ShapeDecision> decisions) {
    if (decisions.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("runs: weighted pages for each operation\n");
    text.append(
        line("window", "tree", "model", "expected", "found", "price", "action", "runs", "why"));
    for (ShapeDecision decision : decisions) {
      boolean stays = decision.from().equals(decision.to());
      text.append(
          line(
              String.valueOf(decision.window()),
              String.valueOf(decision.tree()),
              String.format(Locale.ROOT, "%.4f", decision.modelled()),
              String.format(Locale.ROOT, "%.4f", decision.expected()),
              String.format(Locale.ROOT, "%.4f", decision.found()),
              String.format(Locale.ROOT, "%.0f", decision.price()),
              decision.action().name(),
              stays ? decision.to() : decision.from() + " to " + decision.to(),
              decision.reason()));
    }
    return text.toString();
  }

  private static String line(String... cells) {
    return String.format(Locale.ROOT, "%6s %5s %9s %9s %9s %9s  %-9s %-22s %s", (Object[]) cells)
        + "\n";
  }
}
