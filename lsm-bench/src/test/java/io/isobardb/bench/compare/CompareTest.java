package io.isobardb.bench.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.process.Events;
import io.isobardb.tpcc.store.Survival;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Tag("any-jdk")
class CompareTest {
  @TempDir Path dir;

  /** Those that this JDK can do. */
  private static List<Phase> all() {
    List<Phase> phases = new ArrayList<>(List.of(Phase.values()));
    if (!Driver.hasVirtualThreads()) {
      phases.remove(Phase.GET_VIRTUAL);
    }
    return phases;
  }

  private CompareSpec spec(List<Phase> phases) {
    return new CompareSpec(
        EngineKind.MVSTORE,
        phases,
        new EngineOptions(dir, 16 << 20, false, false, 1),
        3001,
        200,
        16,
        100,
        2,
        1,
        1,
        500,
        false);
  }

  @Test
  void aSpecComesThroughJsonUnchanged() throws Exception {
    CompareSpec spec = spec(all());
    assertEquals(spec, Events.parse(CompareSpec.class, Events.text(spec)));
  }

  @Test
  void phasesWithoutALoadAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> spec(List.of(Phase.READ)));
  }

  @Test
  void aPhaseIsFoundByItsNameAndAnotherNameIsRefused() {
    for (Phase phase : Phase.values()) {
      assertEquals(phase, Phase.of(phase.label()));
    }
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> Phase.of("scann"));
    assertTrue(refused.getMessage().contains("scan-unsettled"), refused.getMessage());
  }

  @Test
  void aChildReportsEveryPhase() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      CompareChild.run(spec(all()), new Events(out));
    }
    List<String> events = new ArrayList<>();
    List<PhaseResult> results = new ArrayList<>();
    for (String line : bytes.toString(StandardCharsets.UTF_8).lines().toList()) {
      Map<String, Object> event = JSON.std.mapFrom(line);
      events.add((String) event.get("event"));
      if (event.get("event").equals("phase")) {
        results.add(PhaseResult.fromMap(event));
      }
    }
    assertEquals("open", events.stream().filter(e -> !e.equals("progress")).findFirst().get());
    assertEquals(all(), results.stream().map(PhaseResult::phase).toList());
    for (PhaseResult result : results) {
      long expected = result.phase().operations(3001, 200);
      long done = (long) result.figure("operations");
      if (result.phase().writes()) {
        assertEquals(expected, done, result.phase().label());
      } else {
        // They go on for as long as they may.
        assertTrue(done >= expected, done + " of " + result.phase().label());
        assertTrue(result.figure("seconds") >= PhaseRunner.LEAST_SECONDS, result.toString());
      }
      assertTrue(result.figure("throughput") > 0);
      assertTrue(result.figure("p999Micros") >= result.figure("p50Micros"));
    }
  }

  @Test
  void theEstimateGrowsWithTheWorkAndTheLimitOfAPhaseBoundsIt() {
    CompareSpec stock = stock(2_000_000, 20);
    // A sixth of an hour to an hour, for four engines and three repeats.
    double minutes = 12 * stock.estimatedSeconds() / 60;
    assertTrue(minutes > 10 && minutes < 60, minutes + " minutes");
    assertTrue(stock(200_000, 20).estimatedSeconds() < stock.estimatedSeconds() / 2);
    assertTrue(stock(2_000_000, 1).estimatedSeconds() < stock.estimatedSeconds());
    assertTrue(stock(1, 0.1).estimatedSeconds() < 10);
  }

  private CompareSpec stock(long records, double seconds) {
    return new CompareSpec(
        EngineKind.ISOBAR,
        List.of(Phase.LOAD, Phase.READ, Phase.ZIPF, Phase.UPDATE, Phase.MIXED, Phase.SCAN),
        new EngineOptions(dir, 1 << 30, true, false, 1),
        records,
        records,
        16,
        100,
        2,
        seconds,
        1,
        records / 2,
        true);
  }

  @Test
  void progressNamesThePhaseAndGoesFromNoneToAll() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      CompareChild.run(spec(List.of(Phase.LOAD, Phase.READ)), new Events(out));
    }
    List<String> texts = new ArrayList<>();
    double last = 0;
    for (String line : bytes.toString(StandardCharsets.UTF_8).lines().toList()) {
      Map<String, Object> event = JSON.std.mapFrom(line);
      if (event.get("event").equals("progress")) {
        double share = Events.number(event, "done") / Events.number(event, "all");
        assertTrue(share >= 0 && share <= 1, line);
        assertTrue(share >= last || event.get("text").toString().contains("warming up"), line);
        last = share;
        texts.add((String) event.get("text"));
      }
    }
    assertEquals("warming up", texts.get(0));
    assertTrue(texts.containsAll(List.of("load", "read")), texts.toString());
  }

  @Test
  void aPhaseThatWasOverAtOnceIsNamed() {
    List<EngineKind> engines = List.of(EngineKind.ISOBAR, EngineKind.LMDB);
    List<Phase> phases = List.of(Phase.LOAD, Phase.READ);
    CompareReport report = new CompareReport(engines, phases, EngineKind.LMDB, false);
    report.add(EngineKind.ISOBAR, new PhaseResult(Phase.LOAD, Map.of("seconds", 5.0)));
    report.add(EngineKind.LMDB, new PhaseResult(Phase.LOAD, Map.of("seconds", 9.0)));
    report.add(EngineKind.LMDB, new PhaseResult(Phase.READ, Map.of("seconds", 3.0)));
    assertEquals(List.of(), report.tooShort());
    assertFalse(report.text(false).contains("says little"), report.text(false));
    report.add(EngineKind.ISOBAR, new PhaseResult(Phase.READ, Map.of("seconds", 0.02)));
    assertEquals(List.of("read"), report.tooShort());
    assertTrue(report.text(false).contains("less than a second, which says little: read;"));
    assertEquals(List.of("read"), report.toMap().get("tooShort"));
  }

  @Test
  void mediansAndRatiosAreOverTheRepeats() {
    CompareReport report =
        new CompareReport(
            List.of(EngineKind.MVSTORE, EngineKind.ROCKSDB),
            List.of(Phase.LOAD),
            EngineKind.ROCKSDB,
            false);
    for (double throughput : new double[] {300, 100, 200}) {
      report.add(EngineKind.MVSTORE, new PhaseResult(Phase.LOAD, Map.of("throughput", throughput)));
    }
    for (double throughput : new double[] {40, 60}) {
      report.add(EngineKind.ROCKSDB, new PhaseResult(Phase.LOAD, Map.of("throughput", throughput)));
    }
    assertEquals(200, report.median(EngineKind.MVSTORE, Phase.LOAD, "throughput"));
    assertEquals(4, report.ratio(EngineKind.MVSTORE, Phase.LOAD));
    assertEquals(-1, report.median(EngineKind.MVSTORE, Phase.READ, "throughput"));
    assertTrue(report.text(true).contains("4.00x"), report.text(true));
  }

  private static CompareReport measured(double readSeconds) {
    List<EngineKind> engines = List.of(EngineKind.ISOBAR, EngineKind.LMDB, EngineKind.ROCKSDB);
    List<Phase> phases = List.of(Phase.LOAD, Phase.READ);
    CompareReport report = new CompareReport(engines, phases, EngineKind.ROCKSDB, false);
    double[][] throughputs = {{900, 300}, {100, 400}, {300, 100}};
    for (int engine = 0; engine < 3; engine++) {
      for (int phase = 0; phase < 2; phase++) {
        Map<String, Double> figures =
            Map.of(
                "throughput",
                1e3 * throughputs[engine][phase],
                "cpuWithSettleMicros",
                2.25,
                "seconds",
                phase == 0 ? 2 : readSeconds,
                "residentBytes",
                (double) (engine + 1) * (100 << 20));
        report.add(engines.get(engine), new PhaseResult(phases.get(phase), figures));
      }
    }
    return report;
  }

  @Test
  void thePageBeginsWithWhoIsAheadAndTheTableIsThatOfTheDocuments() throws Exception {
    ComparePage page = new ComparePage(measured(2), Map.of("command", "isobar compare"));
    assertEquals(
        List.of(
            "isobar does 0.75 to 9.00 times as many operations a second as lmdb, and is behind in:"
                + " read, uniform.",
            "isobar does 3.00 to 3.00 times as many operations a second as rocksdb.",
            "Resident memory at most: isobar 100 MB, lmdb 200 MB, rocksdb 300 MB."),
        page.lead());
    String html = page.page().html();
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(html.getBytes(StandardCharsets.UTF_8)));
    String markdown = page.markdown("c.svg");
    assertTrue(
        markdown.contains(
            """
            | phase | isobar | lmdb | rocksdb | isobar to rocksdb |
            |---|---|---|---|---|
            | load | 900 (2.3) | 100 (2.3) | 300 (2.3) | 3.0 |
            | read, uniform | 300 (2.3) | 400 (2.3) | 100 (2.3) | 3.0 |
            """),
        markdown);
    assertTrue(markdown.contains("| peak resident memory [MB] | 100 | 200 | 300 |"), markdown);
    assertTrue(markdown.contains("    ./isobar compare\n"), markdown);
  }

  @Test
  void whatWasTooShortIsNotConcludedFrom() {
    List<String> lead = new ComparePage(measured(0.5), Map.of()).lead();
    assertEquals(
        "isobar does 9.00 to 9.00 times as many operations a second as lmdb.", lead.get(0));
    assertTrue(lead.get(3).contains("left out above: read, uniform"), lead.toString());
    CompareReport nothing =
        new CompareReport(
            List.of(EngineKind.ISOBAR), List.of(Phase.LOAD), EngineKind.ISOBAR, false);
    nothing.add(EngineKind.ISOBAR, new PhaseResult(Phase.LOAD, Map.of("seconds", 0.1)));
    assertEquals(
        List.of("Nothing was measured: every phase was over within a second."),
        new ComparePage(nothing, Map.of()).lead());
    assertTrue(nothing.text(false).contains("nothing was measured:"), nothing.text(false));
  }

  @Test
  void theReportTellsWhatWritesSurvive() {
    List<EngineKind> engines = List.of(EngineKind.values());
    for (boolean sync : new boolean[] {false, true}) {
      CompareReport report =
          new CompareReport(engines, List.of(Phase.LOAD), EngineKind.ROCKSDB, sync);
      String text = report.text(false);
      Map<?, ?> byEngine = (Map<?, ?>) report.toMap().get("engines");
      for (EngineKind engine : engines) {
        Survival survival = engine.survival(sync);
        String row =
            engine.label()
                + " +"
                + survival.processEnd().words()
                + " +"
                + survival.machineFailure().words();
        assertTrue(Pattern.compile("^" + row + "$", Pattern.MULTILINE).matcher(text).find(), text);
        Map<?, ?> ofEngine = (Map<?, ?>) byEngine.get(engine.label());
        assertEquals(survival.toMap(), ofEngine.get("survives"));
      }
      assertEquals(sync, report.toMap().get("syncWrites"));
    }
  }

  @Test
  void enginesThatDifferInUnsyncedWritesAloneAreRefusedIfWritesAreSynced() {
    EngineOptions synced = new EngineOptions(dir, 16 << 20, false, true, 1);
    for (EngineKind engine : List.of(EngineKind.ROCKSDB_SYNC100MS, EngineKind.ROCKSDB_BUFFERED)) {
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  new CompareSpec(
                      engine, List.of(Phase.LOAD), synced, 1, 1, 16, 100, 1, 60, 1, 0, false));
      assertTrue(refused.getMessage().startsWith(engine.label()), refused.getMessage());
    }
  }

  @Test
  void anEngineGetsTheMemoryThatIsItsOwnHoweverItsNameIsWritten() throws Exception {
    String line =
        "compare --engines mvstore --memory-of MVStore=8MB --memory 64MB --records 1000 --repeats 1"
            + " --warm-up 0 --phases load --json --dir "
            + dir;
    CommandLine command = Isobar.commandLine();
    StringWriter out = new StringWriter();
    command.setOut(new PrintWriter(out));
    assertEquals(0, command.execute(line.split(" ")));
    assertTrue(out.toString().contains("write buffer of 2 MB"), out.toString());
  }
}
