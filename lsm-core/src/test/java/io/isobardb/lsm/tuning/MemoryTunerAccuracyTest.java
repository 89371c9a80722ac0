package io.isobardb.lsm.tuning;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.tuning.TunedStore.Cost;
import io.isobardb.lsm.tuning.TunedStore.Keys;
import io.isobardb.lsm.tuning.TunedStore.Mix;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.TreeCycle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * How near the memory tuner comes to the best of some fixed splits, in pages written and read per
 * operation. Takes minutes a case, so that it only runs when asked to:
 *
 * <ul>
 *   <li>{@code -Disobar.tuner.writes=50}: the case has 50 % writes
 *   <li>{@code -Disobar.tuner.zipf=true}: by Zipf's law, not uniform
 *   <li>{@code -Disobar.tuner.trees=10}: more trees than one
 *   <li>{@code -Disobar.tuner.then=10}: after a while 10 % writes, and then again what it was
 *   <li>{@code -Disobar.tuner.curves=DIR}: where the costs of fixed splits are kept; what is there
 *       is not measured again. Default: {@code target/tuner-curves}
 *   <li>{@code -Disobar.tuner.decisions=32}: how many the tuner is to make from the lower end
 *   <li>{@code -Disobar.tuner.log=8}: megabytes of log; half of the budget then bounds what is held
 *   <li>{@code -Disobar.tuner.budget=40}: megabytes of memory; {@code .page}: bytes of a page
 *   <li>{@code -Disobar.tuner.start=0.1}: sixteenths of it that the tuner begins with at the lower
 *       end
 *   <li>{@code -Disobar.tuner.levels=OPTIMISED}: a model tells how steeply merges fall with memory
 *   <li>{@code -Disobar.tuner.records}, {@code .value}: how many, and how long their values are
 *   <li>{@code -Disobar.seed}: another seed
 * </ul>
 *
 * <p>How good a decision is, is read off the curve of fixed splits, in which no merge more or less
 * of a short window counts.
 */
@EnabledIfSystemProperty(named = "isobar.tuner.writes", matches = "\\d+")
class MemoryTunerAccuracyTest {
  private static final long SEED = Long.getLong("isobar.seed", 11);
  private static final int TREES = Integer.getInteger("isobar.tuner.trees", 1);
  private static final int WRITES = Integer.getInteger("isobar.tuner.writes", 50);
  private static final int THEN = Integer.getInteger("isobar.tuner.then", 0);
  private static final int LOG_MEGABYTES = Integer.getInteger("isobar.tuner.log", 32);
  private static final boolean OPTIMISED =
      "OPTIMISED".equals(System.getProperty("isobar.tuner.levels"));
  private static final Keys KEYS =
      Boolean.getBoolean("isobar.tuner.zipf") ? Keys.ZIPF : Keys.UNIFORM;
  private static final Path CURVES =
      Path.of(System.getProperty("isobar.tuner.curves", "target/tuner-curves"));

  /**
   * Records written before and while a fixed split is measured; fewer if that takes more than this
   * number of operations.
   */
  private static final int MOST = 400_000;

  private static final int WARM_UP = Integer.getInteger("isobar.tuner.warmup", 16_000);

  private static final int MEASURED = Integer.getInteger("isobar.tuner.measured", 64_000);

  /** Windows whose difference tells how far to believe the mean. */
  private static final int WINDOWS = 4;

  /** From the first of the two ends; from the other one half of it. */
  private static final int DECISIONS = Integer.getInteger("isobar.tuner.decisions", 32);

  private static final int AT_REST = 20;
  private static final int MAX_OPERATIONS = 6_000_000;

  private static final int[] SPLITS = {1, 2, 3, 4, 6, 8, 10, 12};
  private static final long BUDGET = Long.getLong("isobar.tuner.budget", 16) << 20;
  private static final double START =
      Double.parseDouble(System.getProperty("isobar.tuner.start", "1"));
  private static final double SIXTEENTH = BUDGET / 16.0;
  private static final int RECORDS = Integer.getInteger("isobar.tuner.records", 40_000);
  private static final int VALUE = Integer.getInteger("isobar.tuner.value", 2_000);
  private static final int PAGE = Integer.getInteger("isobar.tuner.page", 8_192);
  private static final double NEAR = 1.05;

  /** A fixed split: what it costs by the operation, and what the tuner would estimate there. */
  private record Point(
      double sixteenths,
      double cost,
      double written,
      double query,
      double merge,
      double spread,
      double writePressure,
      double recent,
      double cachePressure) {}

  private static StoreOptions options(double sixteenths, boolean pinned) {
    long write = Math.round(SIXTEENTH * sixteenths);
    return StoreOptions.builder()
        .memoryBudget(BUDGET)
        .writeMemory(write)
        .pageSize(PAGE)
        .logLimit((long) LOG_MEGABYTES << 20)
        .levels(OPTIMISED ? Levels.optimised() : Levels.dynamic())
        .memoryTuner(
            t ->
                t.interval(Duration.ofSeconds(3))
                    .writeFloor(pinned ? write : 0)
                    .cacheFloor(pinned ? BUDGET - write : 0))
        .build();
  }

  @Test
  void theTunersEndIsNearTheBestFixedSplit() throws IOException {
    SimulatedStorage disk = loaded();
    Mix mix = new Mix(WRITES, KEYS);
    List<Point> curve = curve(disk, mix);
    if (THEN > 0) {
      shift(disk, mix, curve);
      return;
    }
    double worst = 0;
    for (double start : new double[] {START, 12}) {
      int decisions = start < 12 ? DECISIONS : DECISIONS / 2;
      try (TunedStore store = store(disk, start, false)) {
        Cost[] cost = new Cost[decisions + 1];
        decide(store, mix, decisions, cost);
        worst = Math.max(worst, report(store, "from " + start + "/16", 0, curve));
        Cost rest = Cost.NONE;
        for (int i = decisions / 2; i < decisions; i++) {
          rest = cost[i] == null ? rest : rest.and(cost[i]);
        }
        print("  measured over the last half of them: %.4f", rest.perOperation());
        print("%s", store.text());
      }
    }
    assertTrue(worst <= NEAR, () -> "a tuner's end costs too much beside the best split");
  }

  private static void shift(SimulatedStorage disk, Mix mix, List<Point> curve) throws IOException {
    Mix other = new Mix(THEN, KEYS);
    List<Point> otherCurve = curve(disk, other);
    try (TunedStore store = store(disk, 4, false)) {
      decide(store, mix, DECISIONS, null);
      report(store, mix + " first", 0, curve);
      int second = store.decisions.size();
      decide(store, other, DECISIONS, null);
      report(store, "then " + other, second, otherCurve);
      int third = store.decisions.size();
      decide(store, mix, DECISIONS, null);
      report(store, "again " + mix, third, curve);
      print("%s", store.text());
    }
  }

  private static SimulatedStorage loaded() {
    TunedStore first = new TunedStore(SEED, options(4, true), TREES, RECORDS, VALUE);
    try (first) {
      first.load();
    }
    return first.world().storage();
  }

  private static TunedStore store(SimulatedStorage disk, double sixteenths, boolean pinned) {
    return new TunedStore(disk.copy(), SEED, options(sixteenths, pinned), TREES, RECORDS, VALUE);
  }

  /** Runs until there are so many decisions more; adds what each cycle cost. */
  private static void decide(TunedStore store, Mix mix, int count, Cost[] cost) {
    int before = store.decisions.size();
    int piece = 2_000;
    for (int done = 0; done < MAX_OPERATIONS; done += piece) {
      int decisions = store.decisions.size() - before;
      if (decisions >= count) {
        return;
      }
      Cost more = store.measure(mix, piece);
      if (cost != null) {
        cost[decisions] = cost[decisions] == null ? more : cost[decisions].and(more);
      }
    }
  }

  /** Says how near it came, and how soon; its last split's cost beside the best. */
  private static double report(TunedStore store, String name, int from, List<Point> curve) {
    double best = curve.stream().mapToDouble(Point::cost).min().orElseThrow();
    List<Double> sizes =
        store.decisions.subList(from, store.decisions.size()).stream()
            .map(it -> it.toBytes() / SIXTEENTH)
            .toList();
    int near = sizes.size();
    while (near > 0 && at(curve, sizes.get(near - 1)) <= NEAR * best) {
      near--;
    }
    int first = 0;
    while (first < sizes.size() && at(curve, sizes.get(first)) > NEAR * best) {
      first++;
    }
    List<Double> rest = sizes.subList(Math.max(0, sizes.size() - AT_REST), sizes.size());
    double least = rest.stream().mapToDouble(it -> it).min().orElse(0);
    double most = rest.stream().mapToDouble(it -> it).max().orElse(0);
    double mean = rest.stream().mapToDouble(it -> at(curve, it)).average().orElse(0);
    double last = sizes.isEmpty() ? 0 : sizes.get(sizes.size() - 1);
    print(
        "%s %s: %d decisions, ends at %.2f/16, %.4f = %.3f of the best; last %d: %.3f of the best,"
            + " %.2f to %.2f/16, moved %.1f %%; within 5 %% after %d, to stay after %d",
        title(),
        name,
        sizes.size(),
        last,
        at(curve, last),
        at(curve, last) / best,
        AT_REST,
        mean / best,
        least,
        most,
        100 * (most / least - 1),
        first + 1,
        near + 1);
    return at(curve, last) / best;
  }

  private static String title() {
    return String.format(Locale.ROOT, "%d %% %s %d", WRITES, KEYS, TREES);
  }

  /** The curve between its points. */
  private static double at(List<Point> curve, double sixteenths) {
    int i = 1;
    while (i < curve.size() - 1 && curve.get(i).sixteenths() < sixteenths) {
      i++;
    }
    Point a = curve.get(i - 1);
    Point b = curve.get(i);
    double part = (sixteenths - a.sixteenths()) / (b.sixteenths() - a.sixteenths());
    return a.cost() + Math.max(0, Math.min(1, part)) * (b.cost() - a.cost());
  }

  private static List<Point> curve(SimulatedStorage disk, Mix mix) throws IOException {
    String name = mix.writePercent() + "-" + mix.keys() + "-" + TREES + "-" + SEED;
    Path file = CURVES.resolve(name);
    List<Point> curve = new ArrayList<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        curve.add(point(line));
      }
    }
    for (int split : SPLITS) {
      if (curve.stream().noneMatch(it -> it.sixteenths() == split)) {
        curve.add(measured(disk, mix, split));
        Files.createDirectories(CURVES);
        Files.write(file, curve.stream().map(MemoryTunerAccuracyTest::line).toList());
      }
    }
    curve.sort(Comparator.comparingDouble(Point::sixteenths));
    print("%s: pages per operation, and per operation and 16th of the budget", mix);
    print("  x/16     cost   ±%%  written    query    merge | saved by more write memory, cache |");
    for (int i = 0; i < curve.size(); i++) {
      Point it = curve.get(i);
      print(
          "  %4.0f %8.4f %4.1f %8.4f %8.4f %8.4f | est %8.4f (%7.4f by reads) %8.4f net %8.4f | in truth %8.4f %8.4f"
              + " net %8.4f",
          it.sixteenths(),
          it.cost(),
          100 * it.spread(),
          it.written(),
          it.query(),
          it.merge(),
          it.writePressure(),
          it.recent(),
          it.cachePressure(),
          it.writePressure() - it.cachePressure(),
          -slope(curve, i, point -> point.written() + point.merge()),
          slope(curve, i, Point::query),
          -slope(curve, i, Point::cost));
    }
    return curve;
  }

  /** By the neighbours. */
  private static double slope(List<Point> curve, int i, ToDoubleFunction<Point> of) {
    Point a = curve.get(Math.max(0, i - 1));
    Point b = curve.get(Math.min(curve.size() - 1, i + 1));
    return (of.applyAsDouble(b) - of.applyAsDouble(a)) / (b.sixteenths() - a.sixteenths());
  }

  private static Point measured(SimulatedStorage disk, Mix mix, int split) throws IOException {
    try (TunedStore store = store(disk, split, true)) {
      store.run(mix, operations(mix, WARM_UP));
      int decisions = store.decisions.size();
      Cost all = Cost.NONE;
      double least = Double.MAX_VALUE;
      double most = 0;
      for (int i = 0; i < WINDOWS; i++) {
        Cost cost = store.measure(mix, operations(mix, MEASURED) / WINDOWS);
        all = all.and(cost);
        least = Math.min(least, cost.perOperation());
        most = Math.max(most, cost.perOperation());
      }
      List<Decision> seen = store.recorded();
      seen = seen.subList(Math.min(decisions, seen.size()), seen.size());
      return new Point(
          split,
          all.perOperation(),
          all.writtenPerOperation(),
          all.queryReadsPerOperation(),
          all.mergeReadsPerOperation(),
          (most - least) / 2 / all.perOperation(),
          SIXTEENTH * mean(seen, it -> it.pressure().write()),
          SIXTEENTH * mean(seen, MemoryTunerAccuracyTest::recent),
          SIXTEENTH * mean(seen, it -> it.pressure().cache()));
    }
  }

  private static int operations(Mix mix, int writes) {
    return Math.min(MOST, writes * 100 / mix.writePercent());
  }

  private static double mean(List<Decision> seen, ToDoubleFunction<Decision> of) {
    double sum = 0;
    double operations = 0;
    for (Decision it : seen) {
      sum += of.applyAsDouble(it) * it.seen().operations();
      operations += it.seen().operations();
    }
    return operations == 0 ? Double.NaN : sum / operations;
  }

  /** The reads that a byte more of write memory would save by holding entries for longer. */
  private static double recent(Decision it) {
    double sum = it.seen().trees().stream().mapToDouble(TreeCycle::recentReads).sum();
    return sum / TREES / it.seen().operations();
  }

  private static String line(Point it) {
    return String.format(
        Locale.ROOT,
        "%s %s %s %s %s %s %s %s %s",
        it.sixteenths(),
        it.cost(),
        it.written(),
        it.query(),
        it.merge(),
        it.spread(),
        it.writePressure(),
        it.recent(),
        it.cachePressure());
  }

  private static Point point(String line) {
    double[] it =
        java.util.Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
    return new Point(it[0], it[1], it[2], it[3], it[4], it[5], it[6], it[7], it[8]);
  }

  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
