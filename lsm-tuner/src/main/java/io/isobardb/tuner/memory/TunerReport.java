package io.isobardb.tuner.memory;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** A history as text for people: a table of the decisions, and how memory and cost went. */
public final class TunerReport {
  private static final int PLOT_ROWS = 10;
  private static final int PLOT_COLUMNS = 72;
  private static final double MB = 1 << 20;

  private TunerReport() {}

  /**
   * {@return all of it; lines end with a line feed}
   *
   * @param history may be empty
   */
  public static String render(TunerHistory history) {
    List<Decision> decisions = history.decisions();
    if (decisions.isEmpty()) {
      return "The memory tuner has decided nothing yet. It does once twice the budget, or the log limit"
          + " if that is more,\nwas written, or after memoryTunerInterval (60 s by default) while"
          + " little is written, and while the store is open.\n";
    }
    return table(decisions)
        + "\n"
        + plot("write memory, MB", decisions, decision -> decision.fromBytes() / MB)
        + "\n"
        + plot("cost, weighted pages per operation", decisions, it -> it.pressure().cost());
  }

  /**
   * One line per decision: memory before and after in MB; pages per operation written, read and
   * weighted; what the decision was to save and what it did save, in percent of the cost.
   */
  private static String table(List<Decision> decisions) {
    StringBuilder text = new StringBuilder();
    text.append(
        text(
            "%6s %9s %9s %9s %9s %9s %9s %9s  %-10s %s%n",
            "cycle", "budget", "x", "next x", "written", "read", "cost", "gain %", "method",
            "why"));
    for (Decision decision : decisions) {
      text.append(
          text(
              "%6d %9.1f %9.1f %9.1f %9.4f %9.4f %9.4f %9s  %-10s %s%n",
              decision.seen().cycle(),
              decision.seen().budgetBytes() / MB,
              decision.fromBytes() / MB,
              decision.toBytes() / MB,
              decision.pressure().writeCost(),
              decision.pressure().readCost(),
              decision.pressure().cost(),
              gains(decision),
              decision.method(),
              decision.reason()));
    }
    return text.toString();
  }

  /** Predicted and found, in percent. */
  private static String gains(Decision decision) {
    double cost = decision.pressure().cost();
    if (decision.stepBytes() == 0 || cost <= 0) {
      return "";
    }
    double found = 100 * (1 - decision.foundCost() / cost);
    String predicted = text("%.1f", 100 * decision.predictedGain());
    return Double.isNaN(found) ? predicted + "/?" : predicted + text("/%.1f", found);
  }

  /** Values over cycles, oldest to the left; with more than fit, the means of neighbours. */
  private static String plot(
      String title, List<Decision> decisions, ToDoubleFunction<Decision> value) {
    double[] values = columns(decisions, value);
    double most = 0;
    for (double each : values) {
      most = Math.max(most, each);
    }
    StringBuilder text = new StringBuilder(title).append('\n');
    for (int row = PLOT_ROWS; row >= 0; row--) {
      text.append(text("%10.4g |", most * row / PLOT_ROWS));
      StringBuilder line = new StringBuilder();
      for (double each : values) {
        long at = most > 0 ? Math.round(each / most * PLOT_ROWS) : 0;
        line.append(at == row ? '*' : ' ');
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    long first = decisions.get(0).seen().cycle();
    long last = decisions.get(decisions.size() - 1).seen().cycle();
    return text.append(" ".repeat(11))
        .append('+')
        .append("-".repeat(values.length))
        .append(text("%n%12scycles %d to %d%n", "", first, last))
        .toString();
  }

  private static double[] columns(List<Decision> decisions, ToDoubleFunction<Decision> value) {
    int columns = Math.min(PLOT_COLUMNS, decisions.size());
    double[] means = new double[columns];
    for (int column = 0; column < columns; column++) {
      int from = column * decisions.size() / columns;
      int to = (column + 1) * decisions.size() / columns;
      means[column] = decisions.subList(from, to).stream().mapToDouble(value).average().orElse(0);
    }
    return means;
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values).replace(System.lineSeparator(), "\n");
  }
}
