package io.isobardb.bench.experiment;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.process.ChildMain;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;

/**
 * The process that measures. Its argument is an {@link ExperimentSpec}; every line it prints is a
 * JSON object whose {@code event} is {@code progress}, {@code rows} or {@code end}. It exits with 0
 * only after {@code end}.
 *
 * <p>The first point of a kind is run twice, and counts the second time: compilers are done then.
 * Experiments with a process per point see to that themselves.
 */
final class ExperimentChild {
  private static final double REHEARSAL_SECONDS = 3;

  private ExperimentChild() {}

  /** Measures. */
  public static void main(String[] args) {
    ChildMain.run(() -> run(ExperimentSpec.fromJson(args[0]), System.out));
  }

  private static void run(ExperimentSpec spec, PrintStream out) throws Exception {
    Experiment experiment = Experiments.of(spec.experiment());
    List<Point> points = Experiments.points(experiment, spec.scale(), spec.seed(), spec.threads());
    Files.createDirectories(spec.dir());
    String rehearsed = null;
    try (Bench bench = bench(spec, Double.MAX_VALUE, out)) {
      for (int index : spec.points()) {
        Point point = points.get(index);
        if (!experiment.ownProcesses() && !experiment.kind(point).equals(rehearsed)) {
          event(out, Map.of("event", "progress", "text", "rehearsal"));
          // What is loaded for it stays there for the points to come.
          experiment.measure(point, bench(spec, REHEARSAL_SECONDS, out));
          rehearsed = experiment.kind(point);
        }
        List<Row> rows = experiment.measure(point, bench);
        event(
            out,
            Map.of(
                "event",
                "rows",
                "point",
                index,
                "rows",
                rows.stream()
                    .map(row -> Map.of("parameters", row.parameters(), "figures", row.figures()))
                    .toList()));
      }
    }
    event(out, Map.of("event", "end"));
  }

  private static Bench bench(ExperimentSpec spec, double longestSeconds, PrintStream out) {
    return new Bench(
        spec.dir(),
        spec.scale(),
        spec.seed(),
        spec.threads(),
        longestSeconds,
        text -> event(out, Map.of("event", "progress", "text", text)));
  }

  private static void event(PrintStream out, Map<String, Object> event) {
    try {
      out.println(JSON.std.asString(event));
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
