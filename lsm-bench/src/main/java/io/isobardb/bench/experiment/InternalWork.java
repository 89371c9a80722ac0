package io.isobardb.bench.experiment;

import static io.isobardb.bench.latency.ScaledLoad.PUT;
import static io.isobardb.bench.latency.ScaledLoad.WORST_READS;
import static io.isobardb.bench.latency.ScaledLoad.WORST_WRITES;

import io.isobardb.bench.experiment.report.Charts;
import io.isobardb.bench.experiment.report.Claims;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.latency.Jobs;
import io.isobardb.bench.latency.ScaledLoad;
import io.isobardb.bench.latency.ScaledLoad.Work;
import io.isobardb.cli.report.Chart;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What flushes and merges cost requests that arrive when they will, in virtual time. */
final class InternalWork implements VirtualExperiment {
  private static final String LOAD = "load";
  private static final String WORK = "internal work";
  private static final String AS_IT_IS = "as it is";
  private static final String FREE = "free";
  private static final String ORDER = "order alone";
  private static final String BANDWIDTH = "bandwidth alone";
  private static final String NEITHER = "neither";
  private static final String LIMITED = " MB/s";
  private static final String STEADY = "steady";
  private static final String PRODUCTION = "production";
  private static final String BURSTS = "bursts";
  private static final List<Integer> LIMITS = List.of(50, 75, 90);

  /** SILK's rate of the steady load; other loads have their own. */
  private static final double STEADY_RATE = 18_000;

  /**
   * The scale small has a tenth of all sizes; no scale has more than a quarter: it is on a heap.
   */
  private static final double PART_OF_SMALL = 0.1;

  private static final double MOST = 0.25;
  private static final double SMALL_SECONDS = 120;
  private static final double MOST_SECONDS = 600;

  /** SILK, figure 1: two to four orders of magnitude. */
  private static final double ORDERS = 1 / 100.0;

  /** What the scheduler may leave of that. */
  private static final double TIMES_FREE = 5;

  /** The burst paper, table 2. */
  private static final double GAIN = 2.3;

  @Override
  public About about() {
    return new About(
        "internal-work",
        "Latencies with and without flushes and merges, in virtual time",
        "SILK, figures 1, 4, 8 and 10; Towards a Burst-Aware LevelDB, table 2",
        "Flushes and merges raise the p99 of the worst second by orders of magnitude, and a limit to"
            + " them only postpones that. Order and bandwidth together prevent it, better than"
            + " either. Without them in a burst, clients write 2.3 times as much.",
        "Loads of isobar latency, in the scale small with a tenth of rates, records, memory (8 MB at"
            + " least) and device; larger scales have a quarter at most. Free work takes neither"
            + " processor time nor the device. With order alone, ioBandwidth is unlimited; with"
            + " bandwidth alone, no flush or merge goes before another; with neither, both."
            + " Latencies count from when a request was due.");
  }

  @Override
  public List<Point> points(Scale scale) {
    List<Point> points = new ArrayList<>();
    for (String load :
        List.of(
            STEADY,
            PRODUCTION,
            BURSTS,
            "silk-peaks-10",
            "silk-peaks-50",
            "silk-peaks-100",
            "silk-long",
            "silk-long-writes")) {
      points.addAll(Point.each(List.of(Point.of(LOAD, load)), WORK, List.of(AS_IT_IS, FREE)));
    }
    for (String load : List.of(STEADY, PRODUCTION)) {
      points.addAll(
          Point.each(List.of(Point.of(LOAD, load)), WORK, List.of(ORDER, BANDWIDTH, NEITHER)));
    }
    for (int limit : LIMITS) {
      points.add(Point.of(LOAD, STEADY).with(WORK, limit + LIMITED));
    }
    return points;
  }

  @Override
  public List<Row> measure(Point point, Bench bench) {
    String load = point.text(LOAD);
    double factor = bench.scale().factor() / Scale.SMALL;
    ScaledLoad scaled =
        new ScaledLoad(
            load,
            load.equals(STEADY) ? STEADY_RATE : 0,
            work(point.text(WORK), bench),
            Math.min(MOST, PART_OF_SMALL * factor),
            Math.min(MOST_SECONDS, bench.scale().seconds(SMALL_SECONDS)));
    return List.of(Bench.row(point, scaled.run(bench.seed(), bench::progress)));
  }

  private static Work work(String text, Bench bench) {
    long limit =
        text.endsWith(LIMITED)
            ? Long.parseLong(text.substring(0, text.length() - LIMITED.length())) << 20
            : 0;
    Jobs jobs =
        switch (text) {
          case FREE -> Jobs.FREE;
          case BANDWIDTH, NEITHER -> Jobs.FAIR;
          default -> Jobs.ORDERED;
        };
    boolean unlimited = text.equals(ORDER) || text.equals(NEITHER);
    return new Work(
        jobs, limit, bench.options(unlimited ? Map.of("ioBandwidth", "unlimited") : Map.of()));
  }

  @Override
  public List<Chart> charts(Results results) {
    return List.of(
        Charts.bars("Worst second, writes", results, LOAD, WORK, WORST_WRITES),
        Charts.bars("Worst second, reads", results, LOAD, WORK, WORST_READS),
        Charts.bars("Written in bursts", results.where(LOAD, BURSTS), LOAD, WORK, PUT));
  }

  @Override
  public List<Verdict> check(Results results) {
    List<Verdict> verdicts = new ArrayList<>();
    for (String load : List.of(STEADY, PRODUCTION)) {
      for (String figure : List.of(WORST_WRITES, WORST_READS)) {
        Results of = results.where(LOAD, load);
        String name = load + ": " + Results.withoutUnit(figure);
        verdicts.add(
            Claims.spread(
                name
                    + ", free work divided by work in no order and without a limit, is at most a"
                    + " hundredth",
                of.pairs(WORK, FREE, NEITHER, figure),
                ORDERS));
        verdicts.add(
            Claims.spread(
                name + ", work as it is divided by free work, is at most 5",
                of.pairs(WORK, AS_IT_IS, FREE, figure),
                TIMES_FREE));
        for (String alone : List.of(ORDER, BANDWIDTH)) {
          verdicts.add(
              Claims.spread(
                  name + ", work as it is divided by " + alone + ", is at most 1",
                  of.pairs(WORK, AS_IT_IS, alone, figure),
                  1));
        }
      }
    }
    double[] limited =
        LIMITS.stream()
            .mapToDouble(
                limit ->
                    results.where(LOAD, STEADY).where(WORK, limit + LIMITED).mean(WORST_WRITES))
            .toArray();
    verdicts.add(
        Claims.falls(
            "the more flushes and merges may read and write (50, 75, 90 MB/s), the lower the worst"
                + " second's p99 of writes",
            limited));
    verdicts.add(
        Claims.spread(
            "in bursts clients write at least 2.3 times as much if internal work is free",
            results.where(LOAD, BURSTS).pairs(WORK, AS_IT_IS, FREE, PUT),
            1 / GAIN));
    return verdicts;
  }
}
