package io.isobardb.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.engine.EngineKind;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class IsobarTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(args);
  }

  @Test
  void everyCommandHasHelp() {
    for (String command : Isobar.commandLine().getSubcommands().keySet()) {
      assertEquals(0, run(command, "--help"), command);
      assertTrue(out.toString().contains("isobar " + command), out.toString());
    }
  }

  @Test
  void anUnknownOptionIsWrongUsageAndGetsASuggestion() {
    assertEquals(2, run("compare", "--recards", "5"));
    assertTrue(err.toString().contains("--records"), err.toString());
  }

  @Test
  void noCommandIsWrongUsage() {
    assertEquals(2, run());
  }

  @Test
  void anUnknownEngineIsWrongUsageAndTheNamesAreListed() {
    assertEquals(2, run("compare", "--engines", "rockdb"));
    assertTrue(
        err.toString()
            .contains(
                "isobar, isobar-leveled, rocksdb, rocksdb-sync100ms, rocksdb-universal,"
                    + " rocksdb-buffered, rocksdb-stall, mvstore, lmdb"),
        err.toString());
    assertEquals(2, run("tpcc", "--engine", "rockdb"));
    assertTrue(
        err.toString().contains("isobar, rocksdb, rocksdb-sync100ms, rocksdb-buffered"),
        err.toString());
  }

  @Test
  void theHelpNamesEveryEngine() {
    assertEquals(0, run("compare", "--help"));
    for (EngineKind engine : EngineKind.values()) {
      assertTrue(out.toString().contains(engine.label()), engine.label());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"compare --engines", "ycsb --workload a --engine", "tpcc --engine"})
  void anEngineThatDiffersInUnsyncedWritesAloneIsWrongUsageWithSyncedOnes(String command) {
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    args.addAll(List.of("rocksdb-buffered", "--durability", "sync"));
    assertEquals(2, run(args.toArray(String[]::new)));
    assertTrue(err.toString().contains("with synced writes use rocksdb"), err.toString());
  }

  @Test
  void aBadSizeIsWrongUsage() {
    assertEquals(2, run("compare", "--memory", "lots"));
    assertTrue(err.toString().contains("'lots' is not a size"), err.toString());
  }
}
