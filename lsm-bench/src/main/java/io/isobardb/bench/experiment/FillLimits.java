package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.PUT;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.cli.report.Chart;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Limits of L0: where writers are slowed down, and where flushes wait. */
final class FillLimits extends Fill {
  private static final String SLOWDOWN = "slowdown [groups]";
  private static final String STOP = "stop [groups]";
  private static final List<Integer> SLOWDOWNS = List.of(2, 4, 8, 16, 32, 64, 128);
  private static final List<Integer> STOPS = List.of(4, 8, 16, 32, 64, 128);
  private static final int NEVER = 512;
  private static final int BEST_SLOWDOWN = 32;
  private static final int BEST_STOP = 64;

  @Override
  public About about() {
    return new About(
        "fill-limits",
        "Limits of L0 for writes at full speed",
        SOURCE + "figures 15 to 20",
        "Writes become faster with the number of groups at which they are slowed down, up to 32,"
            + " and with that at which they stop, up to 64.",
        "As fill-sizes. L0 is merged from one group on; the debt of merges slows nobody down, and"
            + " limits do not follow what is read. First the slowdown is turned, and writes stop at"
            + " 512 groups. Then the stop is turned, with the slowdown equal to it.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    SLOWDOWNS.forEach(groups -> points.add(Point.of(SLOWDOWN, groups).with(STOP, NEVER)));
    STOPS.forEach(groups -> points.add(Point.of(SLOWDOWN, groups).with(STOP, groups)));
    return points;
  }

  @Override
  Map<String, String> options(Point point) {
    Map<String, String> options = new LinkedHashMap<>();
    options.put("experiment.l0StartGroups", "1");
    options.put("experiment.l0SlowdownGroups", point.text(SLOWDOWN));
    options.put("experiment.l0StopGroups", point.text(STOP));
    options.put("experiment.l0MostGroups", point.text(STOP));
    options.put("experiment.mergeDebtLimit", Long.toString(1L << 50));
    return options;
  }

  private static Results stops(Results results) {
    return new Results(
        results.rows().stream()
            .filter(row -> row.parameter(STOP).equals(row.parameter(SLOWDOWN)))
            .toList());
  }

  private static Results slowdowns(Results results) {
    return results.where(STOP, Integer.toString(NEVER));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.lines("Slowdown", slowdowns(results), SLOWDOWN, STOP, PUT),
        Charts.lines("Stop", stops(results), STOP, "scale", PUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    return List.of(
        Claims.rises(
            "writes become faster with the slowdown, up to 32 groups",
            put(
                slowdowns(results),
                SLOWDOWN,
                SLOWDOWNS.stream().filter(groups -> groups <= BEST_SLOWDOWN).toList())),
        Claims.rises(
            "writes become faster with the stop, up to 64 groups",
            put(
                stops(results),
                STOP,
                STOPS.stream().filter(groups -> groups <= BEST_STOP).toList())));
  }
}
