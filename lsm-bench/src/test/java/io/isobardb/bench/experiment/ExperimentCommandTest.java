package io.isobardb.bench.experiment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.bench.experiment.report.Csv;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.latency.ScaledLoad;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Tag("any-jdk")
class ExperimentCommandTest {
  @TempDir Path dir;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return commandLine.execute(args);
  }

  private int experiment(String name, String... more) {
    List<String> args =
        new ArrayList<>(List.of("experiment", name, "--scale", "0.00002", "--out", dir.toString()));
    args.addAll(List.of(more));
    return run(args.toArray(String[]::new));
  }

  @Test
  void theListHasEveryExperiment() {
    assertEquals(0, run("experiment", "list"));
    for (Experiment experiment : Experiments.ALL) {
      assertTrue(out.toString().contains(experiment.name()), out.toString());
    }
  }

  @Test
  void anUnknownNameIsRefusedWithTheNearestOne() {
    assertEquals(2, experiment("l0-structure"));
    assertTrue(err.toString().contains("did you mean 'l0-structures'?"), err.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1.5", "-1", "tiny", "NaN"})
  void aScaleThatIsNoneIsRefused(String scale) {
    assertEquals(2, run("experiment", "thrash", "--scale", scale, "--out", dir.toString()));
    assertTrue(err.toString().contains("scale"), err.toString());
  }

  @Test
  void anOptionThatIsNoneIsRefusedBeforeAnythingIsMeasured() {
    assertEquals(2, experiment("exact-bytes", "--option", "experiment.flushTriger=0.95"));
    assertTrue(err.toString().contains("flushTrigger"), err.toString());
  }

  @Test
  void anExperimentMeasuresAllItsPointsAndReports() throws Exception {
    assertMeasured("l0-structures");
  }

  @Tag("deep")
  @ParameterizedTest
  @ValueSource(strings = {"cost-curves", "secondary-indexes"})
  void othersDoTheSame(String name) throws Exception {
    assertMeasured(name);
  }

  @Test
  void writesAtFullSpeedAreMeasuredInVirtualTime() throws Exception {
    String name = "fill-limits";
    assertEquals(0, experiment(name, "--only", "stop=4"), err.toString());
    List<Row> rows = Csv.read(dir.resolve(name + ".csv")).rows();
    assertEquals(1, rows.size());
    assertTrue(rows.get(0).figure(ScaledLoad.PUT) > 0, rows.toString());
  }

  @ParameterizedTest
  @CsvSource({"thesis-reads, absent keys=50, 2", "thesis-levels, size ratio=5, 2"})
  void whatTheThesisTurnsIsMeasured(String name, String only, int points) throws Exception {
    assertPoints(name, only, points);
  }

  @Tag("deep")
  @ParameterizedTest
  @CsvSource({
    "thesis-merging, reads by records=0.25, 4",
    "thesis-threads, threads at work=3, 1",
    "fill-sizes, SSTables=64, 1"
  })
  void moreOfThatIsMeasured(String name, String only, int points) throws Exception {
    assertPoints(name, only, points);
  }

  private void assertPoints(String name, String only, int points) throws Exception {
    assertEquals(0, experiment(name, "--only", only), err.toString());
    List<Row> rows = Csv.read(dir.resolve(name + ".csv")).rows();
    assertEquals(points, rows.size());
    for (Row row : rows) {
      assertFalse(row.figures().isEmpty(), rows.toString());
      row.figures().forEach((figure, value) -> assertTrue(value >= 0, figure + " " + value));
    }
  }

  private void assertMeasured(String name) throws Exception {
    assertEquals(0, experiment(name), err.toString());
    Experiment experiment = Experiments.of(name);
    Results results = Csv.read(dir.resolve(name + ".csv"));
    List<Point> points = Experiments.points(experiment, new Scale(0.00002), 42, 2);
    assertEquals(
        points.stream().map(Point::parameters).toList(),
        results.rows().stream().map(Row::parameters).toList());
    for (Row row : results.rows()) {
      assertTrue(row.figure(Meter.THROUGHPUT) > 0, row.toString());
      assertEquals(100, row.figure("done of what was planned [%]"), row.toString());
    }
    for (String suffix : List.of(".svg", ".html")) {
      DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .parse(dir.resolve(name + suffix).toFile());
    }
    assertTrue(out.toString().contains(experiment.about().title()), out.toString());
  }

  @Test
  void onlyThePointsAskedForAreMeasuredWithTheirOptionsAndWhatWasMeasuredBeforeIsKept()
      throws Exception {
    String name = "l0-structures";
    Files.writeString(dir.resolve(name + ".csv"), "what was there");
    int exit =
        experiment(
            name,
            "--only",
            "write memory=4",
            "--only",
            "L0 structure=GROUPED",
            "--option",
            "experiment.flushTrigger=0.95",
            "--json");
    assertEquals(0, exit, err.toString());
    List<?> told = JSON.std.listFrom(out.toString());
    assertEquals(1, told.size());
    Map<?, ?> result = (Map<?, ?>) told.get(0);
    assertEquals(name, result.get("name"));
    assertTrue(result.containsKey("verdicts") && result.containsKey("survives"), out.toString());
    Results results = Csv.read(dir.resolve(name + ".csv"));
    assertEquals(1, results.rows().size());
    Row row = results.rows().get(0);
    assertEquals("4", row.parameter("write memory [1/16 of budget]"));
    assertEquals("GROUPED", row.parameter("L0 structure"));
    assertEquals("0.95", row.parameter("option experiment.flushTrigger"));
    assertTrue(
        Files.readString(dir.resolve(name + ".html")).contains("--only 'L0 structure=GROUPED'"),
        "command");
    assertEquals("what was there", Files.readString(dir.resolve(name + ".previous.csv")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"L=GROUPED", "L0 structure=GROPED", "write memory=3"})
  void pointsThatThereAreNotAreRefusedWithThoseThatThereAre(String only) {
    assertEquals(2, experiment("l0-structures", "--only", only));
    assertTrue(err.toString().contains("there are"), err.toString());
  }

  @Test
  void resumingMeasuresWhatIsMissingAndNothingElse() throws Exception {
    String name = "l0-structures";
    Experiment experiment = Experiments.of(name);
    List<Point> points = Experiments.points(experiment, new Scale(0.00002), 42, 2);
    List<Row> known = new ArrayList<>();
    for (Point point : points.subList(1, points.size())) {
      known.add(new Row(point.parameters(), Map.of(Meter.WRITTEN, 4711.0)));
    }
    // Another scale's point is no point of this one.
    known.add(
        new Row(points.get(0).with("scale", "small").parameters(), Map.of(Meter.WRITTEN, 4711.0)));
    Csv.write(dir.resolve(name + ".csv"), new Results(known));
    assertEquals(0, experiment(name, "--resume"), err.toString());
    Results resumed = Csv.read(dir.resolve(name + ".csv"));
    assertEquals(known.size() + 1, resumed.rows().size());
    assertEquals(known, resumed.rows().subList(0, known.size()));
    Row measured = resumed.where(points.get(0).parameters()).rows().get(0);
    assertNotEquals(4711.0, measured.figure(Meter.WRITTEN));
    assertTrue(Files.readString(dir.resolve(name + ".html")).contains("4,711"));
  }

  /** A row of other options has all the parameters that a point without options has. */
  @ParameterizedTest
  @CsvSource({"0.95, ''", "0.95, 0.9", "'', 0.9"})
  void resumingWithOtherOptionsIsRefused(String before, String now) throws Exception {
    String name = "l0-structures";
    String option = "experiment.flushTrigger";
    Point point = Experiments.points(Experiments.of(name), new Scale(0.00002), 42, 2).get(0);
    Point measured = before.isEmpty() ? point : point.with("option " + option, before);
    Path csv = dir.resolve(name + ".csv");
    Csv.write(
        csv, new Results(List.of(new Row(measured.parameters(), Map.of(Meter.WRITTEN, 1.0)))));
    String file = Files.readString(csv);
    List<String> args = new ArrayList<>(List.of("--resume"));
    if (!now.isEmpty()) {
      args.addAll(List.of("--option", option + "=" + now));
    }
    assertEquals(2, experiment(name, args.toArray(String[]::new)), err.toString());
    String with = before.isEmpty() ? "no --option" : "--option {" + option + "=" + before + "}";
    assertTrue(err.toString().contains("measured with " + with + "; resume with"), err.toString());
    assertEquals(file, Files.readString(csv));
  }

  /** Each of a way of its own to make its store: what is noted as an option must be one of it. */
  @ParameterizedTest
  @CsvSource({
    "fill-log, log=async, experiment.flushTrigger=0.5",
    "thesis-threads, threads at work=3, experiment.flushTrigger=0.5",
  })
  void optionsReachTheStoresOfEachExperiment(String name, String only, String option)
      throws Exception {
    List<Map<String, Double>> figures = new ArrayList<>();
    for (List<String> more : List.of(List.<String>of(), List.of("--option", option))) {
      List<String> args = new ArrayList<>(List.of("--only", only));
      args.addAll(more);
      assertEquals(0, experiment(name, args.toArray(String[]::new)), err.toString());
      figures.add(Csv.read(dir.resolve(name + ".csv")).rows().get(0).figures());
    }
    assertNotEquals(figures.get(0), figures.get(1));
  }
}
