package io.isobardb.bench.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Searches on real workloads, as small as they get. */
@Tag("any-jdk")
class TuneCommandTest {
  @TempDir Path dir;

  private static int run(StringWriter out, String... args) {
    CommandLine line = Isobar.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(out));
    List<String> all = new ArrayList<>(List.of("tune"));
    all.addAll(List.of(args));
    return line.execute(all.toArray(String[]::new));
  }

  private static Load load(String name, double part) throws Exception {
    return Loads.of(new Loads.Settings(name, part, 1, Map.of(), null));
  }

  @Test
  void aSearchOnSimulatedStoresLeavesAFileForOptionsAndIsNotDoneTwice() throws Exception {
    Path page = dir.resolve("page.html");
    String[] args = {
      "--workload=simulated-uniform",
      "--knobs=writeMemory=512KB..3MB:log,experiment.flushTrigger=0.5..0.95",
      "--metric=written",
      "--where=space<10",
      "--option=memoryBudget=4MB",
      "--seed=5",
      "--evaluations=4",
      "--pairs=1",
      "--scale=0.005",
      "--out=" + dir,
      "--html=" + page
    };
    StringWriter out = new StringWriter();
    assertEquals(0, run(out, args), out::toString);
    String text = out.toString();
    assertTrue(text.contains("Best: writeMemory="), text);
    assertTrue(text.contains("No condition binds"), text);
    assertTrue(Files.readString(page).contains("The path of the search"));
    String csv = Files.readString(dir.resolve("evaluations.csv"));
    if (!text.contains("Nothing is better than the defaults")) {
      Properties properties = new Properties();
      try (Reader in = Files.newBufferedReader(dir.resolve("best.properties"))) {
        properties.load(in);
      }
      properties.setProperty("isobar.memoryBudget", "4MB");
      StoreOptions.fromProperties(properties, "isobar.");
    }
    StringWriter json = new StringWriter();
    List<String> asJson = new ArrayList<>(List.of(args));
    asJson.add("--json");
    assertEquals(0, run(json, asJson.toArray(String[]::new)), json::toString);
    Map<String, Object> map = JSON.std.mapFrom(json.toString());
    assertEquals("written", map.get("metric"));
    assertEquals(csv.lines().count() - 2, ((List<?>) map.get("runs")).size());
    assertTrue(map.containsKey("best") && map.containsKey("weights"), map::toString);
    StringWriter again = new StringWriter();
    assertEquals(0, run(again, args), again::toString);
    assertEquals(text, again.toString());
    assertEquals(csv, Files.readString(dir.resolve("evaluations.csv")), "no run was done again");
    args[0] = "--workload=simulated-write-only";
    StringWriter other = new StringWriter();
    assertEquals(2, run(other, args), other::toString);
    assertTrue(other.toString().contains("is of another search"), other::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"steady", "simulated-write-heavy", "simulated-day"})
  void whatRunsOnTheHeapIsTheSameForEqualSeedsAndHasAllItsMetrics(String name) throws Exception {
    Load load = load(name, 0.005);
    Map<String, String> options =
        Map.of("runs", "LAZY(4)", "compression", "LZ4", "maxSpace", "1.4");
    Map<Metric, Double> first = load.run(options, 3);
    assertEquals(load.metrics(), first.keySet());
    assertEquals(first, load.run(options, 3));
  }

  @Test
  void ycsbRunsOnFilesWithAnyOptionsOfStoreAndTree() throws Exception {
    Load load = load("a", 0.005);
    Map<Metric, Double> figures = load.run(Map.of("runs", "LAZY(4)", "writeMemory", "1MB"), 1);
    assertEquals(load.metrics(), figures.keySet());
    assertTrue(figures.get(Metric.THROUGHPUT) > 100, figures::toString);
    // 5,000 updates of 1 KB do not stay in 1 MB.
    assertTrue(figures.get(Metric.WRITTEN) > 100, figures::toString);
    assertTrue(figures.get(Metric.SPACE) > 0.9, figures::toString);
    assertTrue(figures.get(Metric.MEMORY) <= 8 << 20, figures::toString);
  }

  @Test
  void treesOptionsByNameAreThoseThatAreKnobs() {
    TreeOptions tree =
        TreeKnobs.of(Map.of("runs", "4,2,1", "compression", "lz4", "filterBitsPerKey", "12"));
    assertEquals("4,2,1", TreeKnobs.value("runs", tree));
    assertEquals("LZ4", TreeKnobs.value("compression", tree));
    assertEquals("12", TreeKnobs.value("filterBitsPerKey", tree));
    assertEquals(Map.of("a", "b"), TreeKnobs.without(Map.of("runs", "4,1", "a", "b")));
    for (String name : TreeKnobs.NAMES) {
      assertEquals(name, KnownOptions.named(name).name());
    }
  }
}
