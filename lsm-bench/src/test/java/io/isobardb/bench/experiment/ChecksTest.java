package io.isobardb.bench.experiment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.experiment.report.Results;
import io.isobardb.bench.experiment.report.Row;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.experiment.report.Verdict.Outcome;
import io.isobardb.cli.report.Chart;
import io.isobardb.cli.report.Svg;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ChecksTest {
  static List<Experiment> experiments() {
    return Experiments.ALL;
  }

  @ParameterizedTest
  @MethodSource("experiments")
  void ofWhatWasNotMeasuredNothingIsDecided(Experiment experiment) {
    Results nothing = new Results(List.of());
    List<Verdict> verdicts = experiment.check(nothing);
    assertFalse(verdicts.isEmpty());
    for (Verdict verdict : verdicts) {
      assertEquals(Outcome.NOT_DECIDED, verdict.outcome(), verdict.claim());
    }
    Svg.draw(experiment.charts(nothing));
    List<String> titles = experiment.charts(nothing).stream().map(Chart::title).toList();
    assertEquals(titles.size(), new HashSet<>(titles).size(), "two charts share a title");
  }

  @ParameterizedTest
  @MethodSource("experiments")
  void pointsDifferAndKeepTheirScale(Experiment experiment) {
    for (String text : List.of("0.0001", "small", "medium", "full")) {
      Scale scale = Scale.parse(text);
      List<Point> points = Experiments.points(experiment, scale, 1, 2);
      assertFalse(points.isEmpty());
      Set<Point> distinct = new HashSet<>(points);
      assertEquals(points.size(), distinct.size());
      points.forEach(point -> assertEquals(scale.toString(), point.text("scale")));
    }
    assertFalse(experiment.about().claim().isEmpty());
    assertTrue(experiment.name().matches("[a-z0-9-]+"));
  }

  @ParameterizedTest
  @MethodSource("experiments")
  void processesHaveHeapForTheDisksTheySimulate(Experiment experiment) {
    for (double scale : new double[] {Scale.SMALL, 0.01, 0.05}) {
      long heap = experiment.heapBytes(new Scale(scale)) - Experiment.HEAP_BYTES;
      long records = new Scale(scale).count(Bench.RECORDS) * Shape.RECORD_BYTES;
      if (experiment instanceof SimulatedExperiment) {
        assertTrue(heap > 2 * records, heap + " bytes beside " + records);
      } else {
        assertEquals(0, heap);
      }
    }
  }

  @Test
  void aLongLogIsComparedApartFromAShortOne() {
    List<Row> rows = new ArrayList<>();
    for (Point point : new ExactSkew().points(new Scale(0.01))) {
      double longer = point.text("log [GB]").equals("40") ? 0.8 : 1;
      double written = point.text(SingleTree.SCHEME).startsWith("partitioned") ? longer : 1;
      rows.add(new Row(point.parameters(), Map.of(Meter.WRITTEN, written)));
    }
    List<Verdict> verdicts = new ExactSkew().check(new Results(rows));
    assertEquals(
        List.of(Outcome.HOLDS, Outcome.DOES_NOT_HOLD, Outcome.HOLDS, Outcome.HOLDS),
        verdicts.stream().map(Verdict::outcome).toList());
  }

  /** Rows in which K runs write a K-th and scans cost K pages more, or as the model is told. */
  private static Results runs(double modelledScan) {
    List<Row> rows = new ArrayList<>();
    for (Point point : new ExactRuns().points(new Scale(0.002))) {
      String runs = point.text(ExactRuns.RUNS).replaceAll("\\D", "");
      double each = runs.isEmpty() ? 1 : Double.parseDouble(runs);
      Map<String, Double> figures = new HashMap<>();
      figures.put(Meter.WRITTEN, 8192 / each);
      figures.put(ExactRuns.MODEL_WRITTEN, 8192 / each);
      figures.put(ExactRuns.FOUND, 1.0);
      figures.put(ExactRuns.MODEL_FOUND, 1.0);
      figures.put(ExactRuns.ABSENT, 0.02);
      figures.put(ExactRuns.MODEL_ABSENT, 0.02);
      figures.put(SimulatedRig.MOST_SPACE, 1.25);
      for (int entries : List.of(10, 100)) {
        figures.put(ExactRuns.scanPages(entries), 4 + each);
        figures.put(ExactRuns.modelScan(entries), 4 + each * modelledScan);
      }
      rows.add(new Row(point.with("seed", 1).parameters(), figures));
    }
    return new Results(rows);
  }

  private static Map<String, Outcome> advice(Results results) {
    Map<String, Outcome> advice = new HashMap<>();
    for (Verdict verdict : new ExactRuns().check(results)) {
      int at = verdict.claim().indexOf(": what the model advises");
      if (at > 0) {
        advice.put(verdict.claim().substring(0, at), verdict.outcome());
      }
    }
    return advice;
  }

  @Test
  void adviceHoldsIfWhatItNamesIsNearlyTheBest() {
    Map<String, Outcome> right = advice(runs(1));
    assertEquals(5, right.size());
    assertEquals(Set.of(Outcome.HOLDS), Set.copyOf(right.values()));
    // A model for which runs cost scans nothing advises the most of them.
    Map<String, Outcome> wrong = advice(runs(0));
    assertEquals(Outcome.HOLDS, wrong.get("writes alone"));
    assertEquals(Outcome.DOES_NOT_HOLD, wrong.get("half scans of 10"));
  }

  @Test
  void runsAreHeldAgainstTheBoundOfTheirOwnSpace() {
    List<Verdict> verdicts = new ExactRuns().check(runs(1));
    Map<String, Outcome> outcomes = new HashMap<>();
    verdicts.forEach(verdict -> outcomes.put(verdict.claim(), verdict.outcome()));
    assertEquals(
        Outcome.HOLDS,
        outcomes.get(
            "uniform, maxSpace 2.0: bytes per put, TIERED(8) divided by LEVELED, are at"
                + " most 0.5"));
    assertEquals(
        Outcome.HOLDS, outcomes.get("Tiers and levels never hold more than maxSpace says, by 5 %"));
    assertEquals(
        Outcome.DOES_NOT_HOLD,
        outcomes.get("Pages of a scan of 10, LAZY(8) divided by LEVELED, are at most 1.5"));
  }

  @Test
  void aCostHasASingleMinimumIfItFallsToItAndRisesFromIt() {
    assertEquals(
        Outcome.HOLDS, CostCurves.singleMinimum(new double[] {4, 3, 2, 2.05, 3}).outcome());
    assertEquals(Outcome.HOLDS, CostCurves.singleMinimum(new double[] {4, 3, 2}).outcome());
    assertEquals(
        Outcome.DOES_NOT_HOLD, CostCurves.singleMinimum(new double[] {4, 2, 3, 1, 3}).outcome());
    assertEquals(Outcome.NOT_DECIDED, CostCurves.singleMinimum(new double[] {4, 2}).outcome());
  }

  @Test
  void structuresOfL0AreComparedMemoryByMemory() {
    List<Row> rows = new ArrayList<>();
    double[][] written = {{300, 250, 240}, {200, 150, 100}};
    String[] names = {"ORIGINAL", "GROUPED", "GREEDY_GROUPED"};
    for (int memory = 0; memory < 2; memory++) {
      for (int i = 0; i < 3; i++) {
        rows.add(
            new Row(
                Point.of(SingleTree.SIXTEENTHS, memory).with("L0 structure", names[i]).parameters(),
                Map.of(Meter.WRITTEN, written[memory][i])));
      }
    }
    List<Verdict> verdicts = new L0Structures().check(new Results(rows));
    assertEquals(
        List.of(Outcome.HOLDS, Outcome.HOLDS), verdicts.stream().map(Verdict::outcome).toList());
    assertEquals(
        "GROUPED divided by ORIGINAL: write memory 0: 250 to 300, 0.83x; write memory 1: 150 to"
            + " 200, 0.75x; mean 0.79x",
        verdicts.get(0).numbers());
  }

  @Test
  void theTunerIsHeldAgainstTheLeastCostOfItsOwnMix() {
    List<Row> rows = new ArrayList<>();
    Map<String, Double> costs =
        Map.of("split 1/16", 5.0, "split 8/16", 2.0, "tuned from 1/16", 2.1);
    for (String writes : List.of("10", "50")) {
      costs.forEach(
          (memory, cost) ->
              rows.add(
                  new Row(
                      Point.of(TunerMechanics.WRITES, writes)
                          .with("keys", "Zipf")
                          .with("trees", 1)
                          .with("memory", memory)
                          .parameters(),
                      Map.of(Meter.COST, cost * Integer.parseInt(writes)))));
    }
    List<Results.Pair> pairs =
        new Results(rows).leastPairs("memory", "tuned from 1/16", "split ", Meter.COST);
    String of = "tuned from 1/16 divided by the least of split ";
    assertEquals(
        List.of(
            new Results.Pair("writes 10", 21, 20, of), new Results.Pair("writes 50", 105, 100, of)),
        pairs);
    List<Verdict> verdicts = new TunerAccuracy().check(new Results(rows));
    assertEquals(Outcome.HOLDS, verdicts.get(0).outcome());
    assertEquals(Outcome.NOT_DECIDED, verdicts.get(1).outcome());
  }
}
