package io.isobardb.bench.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.bench.process.Events;
import io.isobardb.tpcc.drive.Mix;
import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

@Tag("any-jdk")
class TpccCommandTest {
  @TempDir Path dir;
  @TempDir Path reports;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... options) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    List<String> args =
        new ArrayList<>(
            List.of(
                "tpcc",
                "--dir",
                dir.toString(),
                "--warehouses",
                "2",
                "--scale",
                "0.01",
                "--memory",
                "16MB",
                "--io",
                "buffered"));
    args.addAll(List.of(options));
    return commandLine.execute(args.toArray(String[]::new));
  }

  @ParameterizedTest
  @EnumSource(EngineKind.class)
  void aRunIsReportedAndChecked(EngineKind engine) throws IOException {
    Path page = reports.resolve("run.html");
    Path table = reports.resolve("run.md");
    int code =
        run(
            "--engine",
            engine.label(),
            "--duration",
            "1s",
            "--ramp-up",
            "0s",
            "--durability",
            "async",
            "--check",
            "--html",
            page.toString(),
            "--markdown",
            table.toString(),
            "--json");
    Map<String, Object> results = JSON.std.mapFrom(out.toString());
    Map<?, ?> report = (Map<?, ?>) results.get("report");
    assertEquals(engine.label(), report.get("engine"));
    assertEquals(engine.survival(false).toMap(), report.get("survives"));
    assertTrue(((Number) report.get("newOrdersPerMinute")).doubleValue() > 0, out.toString());
    for (String when : List.of("consistency after the load", "consistency after the run")) {
      Map<?, ?> violations = (Map<?, ?>) results.get(when);
      assertEquals(15, violations.size());
      violations.forEach((condition, count) -> assertEquals(0, count, condition.toString()));
    }
    String html = Files.readString(page);
    assertTrue(html.contains("NewOrders a minute, ") && html.contains("<polyline"), html);
    assertTrue(html.contains("Violations, consistency after the run"), html);
    String markdown = Files.readString(table);
    assertTrue(markdown.contains("|  | " + engine.label() + " |"), markdown);
    assertTrue(Files.exists(reports.resolve("run.svg")));
    // Rules of timing may be broken on a busy machine; the code says the same as the report.
    assertEquals((Boolean) report.get("holds") ? 0 : 1, code);
  }

  @Test
  void aSpecComesThroughJsonUnchanged() {
    TpccSpec spec =
        new TpccSpec(
            new StoreSpec(EngineKind.ISOBAR, dir, 16 << 20, true, Locking.OPTIMISTIC, true),
            new RunSpec(3, 2, 0, 1, Mix.READ_MOSTLY, Isolation.SERIALIZABLE, true, true, 7),
            Scale.of(2, 0.01),
            true,
            null);
    assertEquals(spec, Events.parse(TpccSpec.class, Events.text(spec)));
  }

  @Test
  void isolationThatAnEngineDoesNotHaveIsWrongUsage() {
    assertEquals(2, run("--engine", "rocksdb", "--isolation", "serializable"));
    assertTrue(err.toString().contains("use snapshot"), err.toString());
  }

  @Test
  void aKillTestOfCommitsThatMayBeLostIsWrongUsage() {
    assertEquals(
        2, run("--kill-test", "1", "--durability", "async", "--engine", "rocksdb-buffered"));
    assertTrue(err.toString().contains("use synced commits"), err.toString());
  }

  @Test
  void aDeliveryLogThatCanNotBeIsWrongUsage(@TempDir Path temp) {
    String file = temp.resolve("missing").resolve("deliveries.csv").toString();
    assertEquals(2, run("--delivery-log", file));
    assertTrue(err.toString().contains("can't be written"), err.toString());
    assertEquals(2, run("--delivery-log", temp.resolve("log").toString(), "--kill-test", "1"));
    assertTrue(err.toString().contains("not for --kill-test"), err.toString());
  }

  @Test
  void aKillTestTellsWhatWasAcknowledged() {
    assertEquals(0, run("--kill-test", "1"), err::toString);
    assertTrue(out.toString().startsWith("[OK] 1 kill,"), out.toString());
  }
}
