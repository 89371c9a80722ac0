package io.isobardb.bench.experiment;

import static io.isobardb.bench.experiment.Meter.WRITE_MEMORY;

import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.lsm.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Fixed splits of the budget beside splits that the tuner finds: values of one parameter. */
final class Splits {
  static final String MEMORY = "memory";
  private static final String CYCLES = "decisions until near the end";

  /** How fixed ones begin. */
  static final String FIXED = "split ";

  private static final String TUNED = "tuned from ";

  /** Near the end is within a 16th of the budget of where the write memory is then. */
  private static final double NEAR = 1 / 16.0;

  private static final double MOST_DECISIONS = 10;

  private Splits() {}

  /** Fixed ones, then tuned ones by where they begin, all in sixteenths of the budget. */
  static List<String> values(List<Integer> fixed, List<Integer> starts) {
    List<String> values = new ArrayList<>();
    fixed.forEach(split -> values.add(FIXED + split + "/16"));
    starts.forEach(start -> values.add(TUNED + start + "/16"));
    return values;
  }

  static boolean isFixed(Point point) {
    return point.text(MEMORY).startsWith(FIXED);
  }

  /** What the write memory has, or begins with. */
  static int sixteenths(Point point) {
    return Integer.parseInt(point.text(MEMORY).replaceAll("/16|\\D+(?=\\d)", ""));
  }

  /** Where a tuned store's write memory stands, as far as a fixed one may have it. */
  static long writeMemory(Store store) {
    long budget = store.options().memoryBudget();
    long bytes = store.stats().writeMemoryLimitBytes();
    return Math.max(budget / 16, Math.min(budget / 16 * 12, bytes));
  }

  /**
   * Adds how many decisions were made in the windows before, if there were any, and how many of
   * them until it came near to where it is now.
   */
  static void putDecisions(Map<String, Double> figures, List<Row> windows, long budgetBytes) {
    if (windows.isEmpty()) {
      return;
    }
    double near = NEAR * budgetBytes / Meter.MEGABYTE;
    double end = figures.get(WRITE_MEMORY);
    double decisions = 0;
    for (Row window : windows) {
      if (Math.abs(window.figure(WRITE_MEMORY) - end) > near) {
        decisions = window.figure(Tuned.DECISIONS);
      }
    }
    figures.put(Tuned.DECISIONS, windows.get(windows.size() - 1).figure(Tuned.DECISIONS));
    figures.put(CYCLES, decisions);
  }

  /** Whether what the tuner comes to from {@code starts} costs what the best split costs. */
  static List<Verdict> verdicts(Results results, List<Integer> starts, String cost) {
    List<Verdict> verdicts = new ArrayList<>();
    for (int start : starts) {
      verdicts.add(
          Claims.notMore(
              "Begun at " + start + "/16, the tuner comes within 5 % of the best split",
              results.leastPairs(MEMORY, TUNED + start + "/16", FIXED, cost),
              5));
      verdicts.add(
          Claims.notMore(
              "Begun at " + start + "/16, it is near its end within ten decisions",
              results.where(MEMORY, TUNED + start + "/16").rows().stream()
                  .map(row -> new Pair("", Math.max(1, row.figure(CYCLES)), MOST_DECISIONS))
                  .toList(),
              0));
    }
    String low = TUNED + starts.get(0) + "/16";
    verdicts.add(
        Claims.less(
            "The tuner's cost is lower than that of the least write memory",
            results.pairs(MEMORY, low, FIXED + "1/16", cost)));
    verdicts.add(
        Claims.notMore(
            "The tuner's cost is no higher than that of an even split",
            results.pairs(MEMORY, low, FIXED + "8/16", cost),
            5));
    List<Pair> ends =
        results.pairs(MEMORY, low, TUNED + starts.get(starts.size() - 1) + "/16", cost);
    verdicts.add(Claims.same("From both ends it comes to the same cost", ends, 10));
    return verdicts;
  }
}
