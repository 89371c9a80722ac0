package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All experiments, in the order of running. */
final class Experiments {
  static final List<Experiment> ALL =
      List.of(
          new SingleTree(),
          new ExactBytes(),
          new ExactTrees(),
          new ExactSkew(),
          new ExactLevels(),
          new ExactFilters(),
          new ExactRuns(),
          new InternalWork(),
          new FillSizes(),
          new FillLimits(),
          new FillLog(),
          new ThesisPages(),
          new ThesisReads(),
          new ThesisThreads(),
          new ThesisDevices(),
          new ThesisLevels(),
          new ThesisMerging(),
          new MemoryMerge(),
          new FlushHeuristics(),
          new L0Structures(),
          new MultiTrees(),
          new DynamicLevels(),
          new SecondaryIndexes(),
          new TpccSchemes(),
          new CostCurves(),
          new TunerMechanics(),
          new TunerAccuracy(),
          new TunerResponsiveness(),
          new TpccAccuracy(),
          new TpccResponsiveness(),
          new YcsbDefaults(),
          new Thrash());

  private static final String SCALE = "scale";
  private static final String SEED = "seed";
  private static final String THREADS = "threads";

  /** What the names of parameters begin with that are options of the stores. */
  private static final String OPTION = "option ";

  private Experiments() {}

  /**
   * The experiment of that name.
   *
   * @throws UsageException if there is none, naming the nearest
   */
  static Experiment of(String name) {
    Experiment nearest = ALL.get(0);
    for (Experiment experiment : ALL) {
      if (experiment.name().equals(name)) {
        return experiment;
      }
      if (distance(name, experiment.name()) < distance(name, nearest.name())) {
        nearest = experiment;
      }
    }
    String guess =
        distance(name, nearest.name()) <= name.length() / 2
            ? "did you mean '" + nearest.name() + "'? "
            : "";
    throw new UsageException(
        "there is no experiment '" + name + "'; " + guess + "'isobar experiment list' shows all");
  }

  /** The points of an experiment, with scale, seed and threads: what resuming compares. */
  static List<Point> points(Experiment experiment, Scale scale, long seed, int threads) {
    return experiment.points(scale).stream()
        .map(point -> point.with(SCALE, scale).with(SEED, seed).with(THREADS, threads))
        .toList();
  }

  /** The same with each of the seeds, one after the other, and with the options of the stores. */
  static List<Point> points(Experiment experiment, RunSettings settings) {
    List<Point> all = new ArrayList<>();
    for (long seed : settings.seeds()) {
      for (Point point : points(experiment, settings.scale(), seed, settings.threads())) {
        for (Map.Entry<String, String> option : settings.options().entrySet()) {
          point = point.with(OPTION + option.getKey(), option.getValue());
        }
        all.add(point);
      }
    }
    return all;
  }

  /** The options of the stores among such a point's parameters. */
  static Map<String, String> options(Map<String, String> parameters) {
    Map<String, String> options = new LinkedHashMap<>();
    parameters.forEach(
        (name, value) -> {
          if (name.startsWith(OPTION)) {
            options.put(name.substring(OPTION.length()), value);
          }
        });
    return options;
  }

  /** The seed of such a point. */
  static long seed(Point point) {
    return Long.parseLong(point.text(SEED));
  }

  /** The point without what all of a run have in common. */
  static Point own(Point point) {
    Map<String, String> own = new LinkedHashMap<>(point.parameters());
    own.keySet().removeAll(List.of(SCALE, SEED, THREADS));
    return new Point(own);
  }

  /** Edits (insert, delete, replace) that lead from one word to the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(diagonal, row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
