package io.isobardb.bench.model;

import io.isobardb.bench.analytic.LevelDbModel;
import io.isobardb.bench.analytic.UniversalModel;
import io.isobardb.bench.analytic.WorstCaseModel;
import io.isobardb.bench.simulate.KeyStream;
import io.isobardb.bench.simulate.KeyStream.Batches;
import io.isobardb.bench.simulate.LevelDbSimulator;
import io.isobardb.bench.simulate.LevelDbSimulator.Selection;
import io.isobardb.bench.simulate.StagedSimulator;
import io.isobardb.popularity.KeyGroups;
import io.isobardb.popularity.TabulatedPopularity;
import io.isobardb.tuner.model.LevelBounds;
import io.isobardb.tuner.model.LevelSizeOptimiser;
import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the models say to the figures of the paper, and simulations beside them, for one number of
 * keys. Costs are bytes written per byte put. The implementations that figures 13, 16 and 17
 * measure are the simulator's designs here. Not thread-safe.
 */
final class PaperFigures {
  private static final double[] SKEWS = {0, 0.5, 0.7, 0.99, 1.1, 1.2, 1.4};
  private static final double[] USUAL_SKEWS = {0, 0.99};

  /** Requests by keys (figure 4), and keys by those that a buffer holds (figures 10 and 16). */
  private static final double[] REQUESTS = {0.01, 0.1, 1, 10};

  private static final double[] BUFFERS = {100, 30, 10};
  private static final int[] LEVELS = {3, 4, 5, 6};
  private static final int UNIVERSAL_TABLES = 12;

  /** Keys that are written one after another (3.5), and the same keys each for itself. */
  private static final Batches TOGETHER = new Batches(10, true);

  private static final Batches APART = new Batches(10, false);

  /** Gives keys to simulate. */
  interface Streams {
    /** Keys of a skew; each call the same ones. */
    KeyStream of(double skew, Batches batches);
  }

  /** A line; what is not known is NaN. */
  private record Line(String figure, String what, double model, double simulated) {
    String text() {
      return String.join(
              " | ", "| " + figure, what, text(model), text(simulated), text(model / simulated))
          + " |\n";
    }

    private static String text(double value) {
      return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.3f", value);
    }
  }

  private final double keys;
  private final LevelDbModel standard;
  private final @Nullable Streams streams;
  private final int tableEntries;
  private final double rounds;
  private final List<Line> lines = new ArrayList<>();
  private final Map<Double, Popularity> popularities = new HashMap<>();
  private final Map<String, LevelDbModel> optimised = new HashMap<>();
  private final Map<String, WriteCost> simulated = new HashMap<>();

  /**
   * @param standard LevelDB as it comes
   * @param tableEntries of an SSTable of LevelDB
   * @param rounds writes by keys that are simulated
   * @param streams null if nothing is simulated
   */
  PaperFigures(LevelDbModel standard, int tableEntries, double rounds, @Nullable Streams streams) {
    double[] levels = standard.levelEntries();
    this.keys = levels[levels.length - 1];
    this.standard = standard;
    this.tableEntries = tableEntries;
    this.rounds = rounds;
    this.streams = streams;
  }

  /** A table for a document. */
  String markdown() {
    distinctKeys();
    for (double skew : SKEWS) {
      add("8", zipf(skew), cost(standard, skew), simulate(standard, skew));
    }
    for (double skew : USUAL_SKEWS) {
      double worst = new WorstCaseModel(standard).cost(popularity(skew)).total();
      double found = simulate(standard, skew);
      add("9", zipf(skew), cost(standard, skew), found);
      add("9", zipf(skew) + ", worst case", worst, found);
    }
    buffers();
    universal();
    optimisation();
    numbersOfLevels();
    for (double skew : USUAL_SKEWS) {
      double largest = simulate(standard, skew, Selection.LARGEST, Batches.NONE);
      double by = largest / simulate(standard, skew);
      add("17", zipf(skew) + ": largest first, by round-robin", Double.NaN, by);
    }
    for (double skew : USUAL_SKEWS) {
      double together = simulate(standard, skew, Selection.ROUND_ROBIN, TOGETHER);
      double apart = simulate(standard, skew, Selection.ROUND_ROBIN, APART);
      add("3.5", zipf(skew) + ": ten keys at a time, by one", Double.NaN, together / apart);
    }
    StringBuilder text = new StringBuilder("| figure | what | model | simulated | ratio |\n");
    text.append("|---|---|---|---|---|\n");
    lines.forEach(line -> text.append(line.text()));
    return text.toString();
  }

  private void add(String figure, String what, double model, double found) {
    lines.add(new Line(figure, what, model, found));
  }

  private static String zipf(double skew) {
    return skew == 0 ? "uniform" : "Zipf " + skew;
  }

  private Popularity popularity(double skew) {
    return popularities.computeIfAbsent(skew, s -> TabulatedPopularity.of(KeyGroups.zipf(keys, s)));
  }

  private double cost(LevelDbModel model, double skew) {
    return model.cost(popularity(skew)).total();
  }

  private double simulate(LevelDbModel model, double skew) {
    return simulate(model, skew, Selection.ROUND_ROBIN, Batches.NONE);
  }

  private double simulate(LevelDbModel model, double skew, Selection selection, Batches batches) {
    return streams == null ? Double.NaN : run(model, skew, selection, batches, streams).total();
  }

  private WriteCost run(
      LevelDbModel model, double skew, Selection selection, Batches batches, Streams of) {
    return simulated.computeIfAbsent(
        String.join(" ", "" + model, "" + skew, "" + selection, "" + batches),
        key -> {
          KeyStream stream = of.of(skew, batches);
          return new LevelDbSimulator(model, tableEntries, selection, stream).run(rounds);
        });
  }

  /** Figure 4: distinct keys, in percent of all. */
  private void distinctKeys() {
    for (double skew : SKEWS) {
      double[] found = {Double.NaN, Double.NaN, Double.NaN, Double.NaN};
      if (streams != null) {
        found = streams.of(skew, Batches.NONE).distinctKeys(REQUESTS);
      }
      for (int i = 0; i < REQUESTS.length; i++) {
        String what = zipf(skew) + ": keys in " + REQUESTS[i] + " requests for each, in %";
        double unique = popularity(skew).unique(REQUESTS[i] * keys);
        add("4", what, 100 * unique / keys, 100 * found[i] / keys);
      }
    }
  }

  /** Figures 10 and 16: large buffers, with LevelDB's sizes and with optimised ones. */
  private void buffers() {
    for (double skew : USUAL_SKEWS) {
      for (double part : BUFFERS) {
        LevelDbModel usual = buffering(keys / part, standard.levelEntries());
        String what = String.format(Locale.ROOT, "%s, buffer of 1/%.0f", zipf(skew), part);
        add("10", what, cost(usual, skew), simulate(usual, skew));
        LevelDbModel best = optimised(usual, skew);
        add(
            "16",
            what + ": saved, in %",
            saved(cost(best, skew), cost(usual, skew)),
            saved(simulate(best, skew), simulate(usual, skew)));
      }
    }
  }

  private LevelDbModel buffering(double entries, double[] levels) {
    return new LevelDbModel(entries, standard.level0Tables(), levels);
  }

  private static double saved(double now, double before) {
    return 100 * (1 - now / before);
  }

  /** The cheapest sizes of as many levels or fewer. */
  private LevelDbModel optimised(LevelDbModel usual, double skew) {
    return optimised.computeIfAbsent(
        usual + " " + skew,
        key -> {
          int most = usual.levelEntries().length;
          LevelBounds bounds =
              new LevelBounds(keys, usual.bufferEntries(), 1, most, Double.POSITIVE_INFINITY);
          return usual.withLevels(
              new LevelSizeOptimiser(sizes -> cost(usual.withLevels(sizes), skew), bounds)
                  .optimise()
                  .levelEntries());
        });
  }

  /** Figure 11. */
  private void universal() {
    int buffer = (int) standard.bufferEntries();
    UniversalModel model = new UniversalModel(buffer, UNIVERSAL_TABLES, 1, 200);
    for (double skew : USUAL_SKEWS) {
      double found =
          streams == null
              ? Double.NaN
              : StagedSimulator.universal(buffer, model, streams.of(skew, Batches.NONE))
                  .run(rounds)
                  .total();
      add("11", zipf(skew), model.cost(popularity(skew)).total(), found);
    }
  }

  /** Figures 12 and 13, table 1 and figure 14. */
  private void optimisation() {
    for (double skew : USUAL_SKEWS) {
      LevelDbModel best = optimised(standard, skew);
      add("12, 13", zipf(skew) + ", optimised", cost(best, skew), simulate(best, skew));
      add(
          "12, 13",
          zipf(skew) + ": saved, in %",
          saved(cost(best, skew), cost(standard, skew)),
          saved(simulate(best, skew), simulate(standard, skew)));
    }
    sources("LevelDB's sizes", standard);
    sources("optimised", optimised(standard, 0));
    for (double skew : SKEWS) {
      double[] sizes = optimised(standard, skew).levelEntries();
      for (int l = 0; l < sizes.length - 1; l++) {
        String what = zipf(skew) + ": L" + (l + 1) + ", in % of the keys";
        add("14", what, 100 * sizes[l] / keys, Double.NaN);
      }
    }
  }

  private void sources(String name, LevelDbModel model) {
    double[] levels = model.cost(popularity(0)).levels();
    double[] found =
        streams == null
            ? null
            : run(model, 0, Selection.ROUND_ROBIN, Batches.NONE, streams).levels();
    for (int l = 0; l < levels.length; l++) {
      String what = "uniform, " + name + ": into L" + (l + 1);
      add("table 1", what, levels[l], found == null ? Double.NaN : found[l]);
    }
  }

  /** Figure 15: other numbers of levels, by one ratio and optimised. */
  private void numbersOfLevels() {
    double first = standard.levelEntries()[0];
    for (double skew : USUAL_SKEWS) {
      for (int count : LEVELS) {
        double ratio = Math.pow(keys / first, 1.0 / (count - 1));
        double[] sizes = new double[count];
        for (int l = 0; l < count; l++) {
          sizes[l] = l == count - 1 ? keys : first * Math.pow(ratio, l);
        }
        LevelDbModel usual = standard.withLevels(sizes);
        LevelDbModel best = optimised(usual, skew);
        String what = zipf(skew) + ", " + count + " levels";
        add("15", what + " by one ratio", cost(usual, skew), simulate(usual, skew));
        add("15", what + " at most, optimised", cost(best, skew), simulate(best, skew));
      }
    }
  }
}
