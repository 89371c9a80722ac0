package io.isobardb.bench.experiment;

import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.experiment.report.Csv;
import io.isobardb.bench.experiment.report.Report;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Svg;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Runs one experiment in child processes and keeps its reports. The CSV file is written after each
 * point, so that a run that was broken off can be resumed. Used by one thread.
 */
final class ExperimentRun {
  private static final long DIRECT_BYTES = 256L << 20;
  private static final double MOST_MEMORY_GIGABYTES = 28;

  private final Experiment experiment;
  private final RunSettings settings;
  private final Path out;
  private final Path workDir;
  private final Progress progress;
  private final List<Row> rows = new ArrayList<>();
  private int measured;
  private String current = "";

  ExperimentRun(
      Experiment experiment, RunSettings settings, Path out, Path workDir, Progress progress) {
    this.experiment = experiment;
    this.settings = settings;
    this.out = out;
    this.workDir = workDir;
    this.progress = progress;
  }

  /**
   * Measures what is to be measured and writes the reports; returns them.
   *
   * @param resume whether points that the CSV file has are left out
   * @param selection of the experiment's points
   * @param provenance asked for when all is measured; may be changed
   * @throws UsageException if the CSV file has points of other options of the stores
   */
  Report run(boolean resume, Selection selection, Supplier<Map<String, String>> provenance)
      throws IOException, InterruptedException {
    List<Point> points = Experiments.points(experiment, settings);
    selection.check(points);
    if (resume) {
      rows.addAll(Csv.read(csv()).rows());
      checkOptions();
    } else if (Files.exists(csv())) {
      Path previous = out.resolve(experiment.name() + ".previous.csv");
      Files.move(csv(), previous, StandardCopyOption.REPLACE_EXISTING);
      System.err.println(experiment.name() + ": what was measured before is in " + previous);
    }
    List<Integer> open = new ArrayList<>();
    int done = 0;
    for (int i = 0; i < points.size(); i++) {
      Point point = points.get(i);
      if (rows.stream().anyMatch(row -> row.has(point.parameters()))) {
        done++;
      } else if (selection.has(point)) {
        open.add(i);
      }
    }
    if (done > 0) {
      System.err.println(
          experiment.name() + ": " + Numbers.count(done, "point") + " of earlier runs kept");
    }
    progress.stage(experiment.name());
    if (experiment.ownProcesses()) {
      for (int index : open) {
        child(List.of(index), points, open.size());
      }
    } else if (!open.isEmpty()) {
      child(open, points, open.size());
    }
    progress.close();
    Map<String, String> facts = provenance.get();
    if (done > 0) {
      facts.put("of earlier runs", done + " of " + points.size() + " points");
    }
    for (EngineKind engine : experiment.engines()) {
      facts.put("acknowledged writes, " + engine.label(), engine.survival(false).words());
    }
    return report(points, facts);
  }

  /** Points with other options are others, and the figures of one report belong together. */
  private void checkOptions() {
    for (Row row : rows) {
      Map<String, String> options = Experiments.options(row.parameters());
      if (!options.equals(settings.options())) {
        throw new UsageException(
            csv()
                + " has points that were measured with "
                + (options.isEmpty() ? "no --option" : "--option " + options)
                + "; resume with the same, or give another --out");
      }
    }
  }

  private Path csv() {
    return out.resolve(experiment.name() + ".csv");
  }

  private void child(List<Integer> indexes, List<Point> points, int all)
      throws IOException, InterruptedException {
    WorkDirectory dir = WorkDirectory.temporary(workDir, experiment.name() + "-");
    ExperimentSpec spec = new ExperimentSpec(experiment.name(), settings, dir.path(), indexes);
    ChildJvm child =
        new ChildJvm(ExperimentChild.class)
            .heapBytes(experiment.heapBytes(settings.scale()))
            .directBytes(settings.scale().budget(MOST_MEMORY_GIGABYTES) + DIRECT_BYTES)
            .argument(Events.text(spec));
    if (experiment.ownProcesses()) {
      child.flag("-XX:+AlwaysPreTouch");
    }
    try (dir) {
      begin(points.get(indexes.get(0)), all);
      child.runToEnd(experiment.name(), event -> event(event, points, indexes, all));
    } catch (FailedException e) {
      progress.close();
      throw new FailedException(
          e.exit(),
          e.getMessage() + "; what was measured is in " + csv() + ", --resume goes on",
          e);
    }
  }

  private void begin(Point point, int all) {
    current = String.format("%s: point %d of %d (", experiment.name(), measured + 1, all);
    current += Experiments.own(point) + ")";
    progress.update(current, measured, all);
  }

  private void event(
      Map<String, Object> event, List<Point> points, List<Integer> indexes, int all) {
    if (event.get("event").equals("progress")) {
      progress.update(current + ": " + event.get("text"), measured, all);
      return;
    }
    for (Object row : (List<?>) event.get("rows")) {
      rows.add(row((Map<?, ?>) row));
    }
    Csv.write(csv(), new Results(rows));
    measured++;
    int at = indexes.indexOf((int) Events.number(event, "point"));
    if (at + 1 < indexes.size()) {
      begin(points.get(indexes.get(at + 1)), all);
    }
  }

  private static Row row(Map<?, ?> json) {
    Map<String, String> parameters = new LinkedHashMap<>();
    ((Map<?, ?>) json.get("parameters"))
        .forEach((name, value) -> parameters.put((String) name, (String) value));
    return new Row(parameters, Events.numbers((Map<?, ?>) json.get("figures")));
  }

  private Report report(List<Point> points, Map<String, String> provenance) throws IOException {
    // In the order of the points, and nothing of other scales that a resumed file may hold.
    List<Row> wanted = new ArrayList<>();
    for (Point point : points) {
      rows.stream().filter(row -> row.has(point.parameters())).forEach(wanted::add);
    }
    Results results = new Results(wanted);
    List<Chart> charts = experiment.charts(results);
    Report report =
        new Report(
            experiment.about().title(),
            experiment.about().source(),
            experiment.about().claim(),
            experiment.about().method(),
            experiment.check(results),
            charts,
            results,
            provenance);
    Files.writeString(out.resolve(experiment.name() + ".svg"), Svg.draw(charts));
    Files.writeString(out.resolve(experiment.name() + ".html"), report.html());
    return report;
  }
}
