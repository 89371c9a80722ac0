package io.isobardb.bench.experiment;

import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.process.ChildMain;
import io.isobardb.bench.process.Events;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/**
 * The process that measures what an {@link ExperimentSpec} says. Its events are {@code progress}
 * and {@code rows}.
 *
 * <p>The first point of a kind is run twice, and counts the second time: compilers are done then.
 * Experiments with a process per point see to that themselves.
 */
final class ExperimentChild {
  private static final double REHEARSAL_SECONDS = 3;

  private ExperimentChild() {}

  /** Measures. */
  public static void main(String[] args) {
    ChildMain.run(ExperimentSpec.class, args, ExperimentChild::run);
  }

  private static void run(ExperimentSpec spec, Events events) throws Exception {
    Experiment experiment = Experiments.of(spec.experiment());
    List<Point> points = Experiments.points(experiment, spec.settings());
    Files.createDirectories(spec.dir());
    String rehearsed = null;
    for (int index : spec.points()) {
      Point point = points.get(index);
      long seed = Experiments.seed(point);
      Bench bench = bench(spec, seed, Double.MAX_VALUE, events);
      if (experiment.rehearses()
          && !experiment.ownProcesses()
          && !experiment.kind(point).equals(rehearsed)) {
        bench.progress("rehearsal");
        // What is loaded for it stays there for the points to come.
        experiment.measure(point, bench(spec, seed, REHEARSAL_SECONDS, events));
        rehearsed = experiment.kind(point);
      }
      List<Row> rows = experiment.measure(point, bench);
      events.send("rows", Map.of("point", index, "rows", rows));
    }
  }

  private static Bench bench(ExperimentSpec spec, long seed, double longestSeconds, Events events) {
    return new Bench(
        spec.dir(), spec.settings(), seed, longestSeconds, text -> events.at(text, 0, 1));
  }
}
