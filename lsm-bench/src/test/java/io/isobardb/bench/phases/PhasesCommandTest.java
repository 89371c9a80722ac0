package io.isobardb.bench.phases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.cli.console.UsageException;
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
import picocli.CommandLine;

@Tag("any-jdk")
class PhasesCommandTest {
  private static final String SMALL = "--records 1000 --operations 500 --warm-up 100 ";

  @TempDir Path dir;
  private String err = "";

  private String run(int code, String... line) {
    StringWriter out = new StringWriter();
    StringWriter errors = new StringWriter();
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(errors));
    List<String> args = new ArrayList<>(List.of("phases"));
    args.addAll(List.of(line));
    assertEquals(code, commandLine.execute(args.toArray(String[]::new)), errors::toString);
    err = errors.toString();
    return out.toString();
  }

  private String run(String line) {
    return run(0, (SMALL + line).split(" "));
  }

  private void refused(String why, String... line) {
    run(2, line);
    assertTrue(err.contains(why), err);
  }

  @Test
  void equalSeedsCountEqualPages() {
    String line = "--workload thesis --runs LEVELED --json --seed ";
    assertEquals(run(line + "3"), run(line + "3"));
  }

  @Test
  void eachPhaseIsTold() throws Exception {
    Map<String, Object> report =
        JSON.std.mapFrom(run("--workload day --runs LAZY(4) --adaptation observe --json"));
    List<?> outcomes = (List<?>) report.get("outcomes");
    assertEquals(2, outcomes.size());
    Map<?, ?> first = (Map<?, ?>) outcomes.get(0);
    assertEquals("LAZY(4)", first.get("contender"));
    List<?> phases = (List<?>) first.get("phases");
    assertEquals(8, phases.size());
    Map<?, ?> load = (Map<?, ?>) phases.get(0);
    assertEquals("load", load.get("phase"));
    assertEquals("LAZY(4)", load.get("runs"));
    assertEquals(Outcome.PARTS, ((List<?>) load.get("parts")).size());
    assertEquals("adaptation OBSERVE", ((Map<?, ?>) outcomes.get(1)).get("contender"));
  }

  @Test
  void aFileSaysWhatIsDone() throws Exception {
    Path file = dir.resolve("phases");
    Files.writeString(
        file,
        "# mine\nwrites 300 updates=90 deletes=10\n\nreads 200 gets=50 absent=30 scans=20 length=5\n");
    String text =
        run(
            0,
            "--file",
            file.toString(),
            "--records",
            "1000",
            "--warm-up",
            "0",
            "--runs",
            "LEVELED LAZY(2)",
            "--seeds",
            "2");
    assertTrue(text.contains("writes"), text);
    assertTrue(text.contains("adaptation ON costs"), text);
    assertTrue(text.contains("within"), text);
    Files.writeString(file, "writes 300 updates=90\n");
    refused("make 100, not 90", "--file", file.toString());
    Files.writeString(file, "writes updates=100\n");
    refused("a phase is a name, operations and shares", "--file", file.toString());
    Files.writeString(file, "");
    refused("there are no phases", "--file", file.toString());
    refused("there is no file", "--file", dir.resolve("none").toString());
  }

  @Test
  void aPageShowsPagesOverTimeAndWhatWasDecided() throws Exception {
    Path page = dir.resolve("phases.html");
    String line = "--workload grow --runs LEVELED --adaptation on --seeds 2 --html " + page;
    String text = run(0, ("--records 4000 " + line).split(" "));
    assertTrue(text.contains("BEGIN"), text);
    String html = Files.readString(page);
    assertTrue(html.contains("Pages read by lookups and scans"), html);
    assertTrue(html.contains("decisions of adaptation ON, seed 1"), html);
    assertTrue(html.contains("BEGIN"), html);
    refused("--html can't be written", "--html", dir.toString());
  }

  @Test
  void badInputIsToldInOneLine() {
    refused("no workload is called 'night'", "--workload", "night");
    refused("on, observe or off", "--adaptation", "maybe");
    refused("leave nothing to run", "--runs", "none", "--adaptation", "off");
    refused("set maxSpace to 2.0", "--runs", "TIERED(8)");
    refused("--records", "--records", "10");
    refused("--seeds", "--seeds", "0");
  }

  @Test
  void shippedPhasesGoOnFromEachOther() {
    for (String name : PhaseList.names()) {
      PhaseList list = PhaseList.shipped(name, 1000, 10_000);
      assertTrue(list.phases().size() >= 3, name);
      assertEquals(name.length() == 1, list.isZipf());
    }
    PhaseList grow = PhaseList.shipped("grow", 1000, 10_000);
    double inserted =
        grow.phases().stream()
            .mapToDouble(it -> it.operations() * it.mix().inserts() / 100.0)
            .sum();
    assertEquals(10_000, 10_000 / grow.growth() + inserted, 20);
    assertEquals(
        List.of("reads", "half", "writes").stream().sorted().toList(),
        PhaseList.shipped("thesis", 10, 10).shuffled(5).phases().stream()
            .map(Phase::name)
            .sorted()
            .toList());
    assertThrows(UsageException.class, () -> Mix.parse("updates=50 updates=50"));
    assertThrows(UsageException.class, () -> Mix.parse("updates=100 speed=3"));
    assertThrows(UsageException.class, () -> Mix.parse("updates=100 written=60..50"));
  }
}
