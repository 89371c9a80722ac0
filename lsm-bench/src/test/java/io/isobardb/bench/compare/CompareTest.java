package io.isobardb.bench.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.tpcc.store.Survival;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareTest {
  @TempDir Path dir;

  private CompareSpec spec(List<Phase> phases) {
    return new CompareSpec(
        EngineKind.MVSTORE,
        phases,
        new EngineOptions(dir, 16 << 20, false, false, 1),
        3001,
        2000,
        16,
        100,
        2,
        60,
        1,
        500);
  }

  @Test
  void aSpecComesThroughJsonUnchanged() throws Exception {
    CompareSpec spec = spec(List.of(Phase.values()));
    assertEquals(spec, CompareSpec.fromJson(spec.toJson()));
  }

  @Test
  void phasesWithoutALoadAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> spec(List.of(Phase.READ)));
  }

  @Test
  void aChildReportsEveryPhaseAndThenItsEnd() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      CompareChild.run(spec(List.of(Phase.values())), out);
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
    assertEquals("open", events.get(0));
    assertEquals("end", events.get(events.size() - 1));
    assertEquals(List.of(Phase.values()), results.stream().map(PhaseResult::phase).toList());
    for (PhaseResult result : results) {
      long expected = result.phase().operations(3001, 2000);
      assertEquals(expected, (long) result.figure("operations"), result.phase().label());
      assertTrue(result.figure("throughput") > 0);
      assertTrue(result.figure("p999Micros") >= result.figure("p50Micros"));
    }
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
                  new CompareSpec(engine, List.of(Phase.LOAD), synced, 1, 1, 16, 100, 1, 60, 1, 0));
      assertTrue(refused.getMessage().startsWith(engine.label()), refused.getMessage());
    }
  }
}
