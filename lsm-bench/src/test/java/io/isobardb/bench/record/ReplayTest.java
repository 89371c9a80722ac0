package io.isobardb.bench.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.lsm.store.RecordingLayout;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Recordings that are done again, in virtual time: equal on any machine. */
@Tag("any-jdk")
class ReplayTest {
  @TempDir Path dir;

  private static String run(int code, String... args) {
    StringWriter out = new StringWriter();
    CommandLine line = Isobar.commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(out));
    assertEquals(code, line.execute(args), out::toString);
    return out.toString();
  }

  private Path recorded(String name, int oneKeyIn, String... args) {
    Path file = dir.resolve(name);
    List<String> all = new ArrayList<>(List.of("latency", "--record", file.toString()));
    all.addAll(List.of("--record-keys", Integer.toString(oneKeyIn)));
    all.addAll(List.of(args));
    run(0, all.toArray(String[]::new));
    return file;
  }

  private static final String[] SMALL = {"--option=memoryBudget=4MB", "--option=writeMemory=256KB"};

  private static final String[] LOAD = {
    "--load=steady",
    "--keys=zipf",
    "--mix=40:50:10",
    "--records=16000",
    "--value-size=100:300:900",
    "--rate=4000",
    "--duration=20s",
    SMALL[0],
    SMALL[1]
  };

  private static void assertNear(double expected, double found, double part, String what) {
    assertTrue(
        Math.abs(found / expected - 1) <= part, what + ": " + found + " instead of " + expected);
  }

  @Test
  void whatIsDoneAgainWritesAndHitsAsTheRecordedRunDid() throws Exception {
    Path first = recorded("first", 1, LOAD);
    Path again = recorded("again", 1, "--load-file", first.toString(), SMALL[0], SMALL[1]);
    RecordedRun before = RecordedRun.read("FILE", first);
    RecordedRun after = RecordedRun.read("FILE", again);
    assertEquals(before.count(), after.count());
    RecordedRun.Totals was = before.totals();
    RecordedRun.Totals is = after.totals();
    assertNotNull(was);
    assertNotNull(is);
    assertEquals(was.operations(), is.operations());
    assertNear(was.bytesPerOperation(), is.bytesPerOperation(), 0.05, "bytes per operation");
    assertNear(was.hitRate(), is.hitRate(), 0.05, "hit rate");
    long found = 0;
    for (int i = 0; i < after.count(); i++) {
      found += after.kind(i) == RecordingLayout.GET && after.size(i) > 0 ? 1 : 0;
    }
    assertTrue(found > 0.99 * was.gets(), found + " gets of " + was.gets() + " found their key");
    String told = run(0, "latency", "--load-file", first.toString(), "--duration=2s");
    assertTrue(told.contains("recorded: ") && told.contains("replayed: "), told);
  }

  @Test
  void aSampleStandsForAllOfItInAsMuchLessMemory() throws Exception {
    RecordedRun run = RecordedRun.read("FILE", recorded("sample", 4, LOAD));
    Replay replay = Replay.of(run, 0.5);
    assertEquals(0.125, replay.part());
    assertNear(2000, replay.records(), 0.01, "records");
    RecordedRun.Totals totals = run.totals();
    assertNotNull(totals);
    assertEquals(80_000, totals.operations());
    assertTrue(replay.count() > 4000 && replay.count() < 18_000, replay.count() + " operations");
  }

  @Test
  void aRecordingSaysItselfWhatItDoes() {
    Path file =
        recorded("few", 1, "--load=steady", "--records=1000", "--rate=1000", "--duration=1s");
    for (String option : List.of("--mix=100:0:0", "--rate=5", "--records=7", "--find-rate")) {
      String told = run(2, "latency", "--load-file", file.toString(), option);
      assertTrue(told.contains("is a recording, which says itself what"), told);
    }
    String twice = run(2, "latency", "--load=steady", "--record", file.toString());
    assertTrue(twice.contains("is there already"), twice);
  }

  @Test
  void aSearchRunsARecordingAndModelsLearnFromIt() {
    String[] load = LOAD.clone();
    load[6] = "--duration=2s";
    Path file = recorded("file", 1, load);
    String told =
        run(
            0,
            "tune",
            "--workload",
            file.toString(),
            "--knobs=writeMemory=256KB..2MB:log",
            "--metric=written",
            "--scale=0.5",
            "--duration=1s",
            "--evaluations=4",
            "--pairs=0");
    assertTrue(told.contains("writeMemory="), told);
    String lacks =
        run(
            2,
            "tune",
            "--workload=" + file,
            "--knobs=writeMemory=256KB..2MB:log",
            "--metric=throughput");
    assertTrue(lacks.contains("its requests arrive at a rate of their own"), lacks);
    String model = run(0, "model", "--keys-from", file.toString(), "--item=300");
    assertTrue(model.contains("recorded writes"), model);
  }
}
