package io.isobardb.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
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
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@Tag("any-jdk")
class LatencyCommandTest {
  private static final String SMALL =
      "--records 5000 --memory 8MB --device 10MB --threads 4 --duration 1s";

  @TempDir Path dir;

  private String run(String line) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    List<String> args = new ArrayList<>(List.of("latency"));
    args.addAll(List.of(line.split(" ")));
    assertEquals(0, commandLine.execute(args.toArray(String[]::new)), err::toString);
    return out.toString();
  }

  private String refused(String line) {
    StringWriter err = new StringWriter();
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setErr(new PrintWriter(err));
    List<String> args = new ArrayList<>(List.of("latency"));
    args.addAll(List.of(line.split(" ")));
    assertEquals(2, commandLine.execute(args.toArray(String[]::new)), err::toString);
    return err.toString();
  }

  private Map<String, Object> engine(String line, int index) throws Exception {
    List<?> engines = (List<?>) JSON.std.mapFrom(run(line + " --json")).get("engines");
    return cast(engines.get(index));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> cast(Object map) {
    return (Map<String, Object>) map;
  }

  private static double number(Map<String, Object> engine, String kind, String name) {
    return ((Number) cast(cast(engine.get("latencies")).get(kind)).get(name)).doubleValue();
  }

  @Test
  void equalSeedsGiveEqualLatenciesToTheNanosecond() {
    String line = "--load production --rate 2000 " + SMALL + " --json --seed ";
    String first = run(line + "7");
    assertEquals(first, run(line + "7"));
    assertNotEquals(first, run(line + "8"));
  }

  @Test
  void everyRequestOfTheTraceIsServedAndCounted() throws Exception {
    Path trace = Files.writeString(dir.resolve("trace"), "300ms 1000\n700ms 100\n");
    Map<String, Object> engine = engine("--load-file " + trace + " --mix 20:60:10:10 " + SMALL, 0);
    assertEquals(370, ((Number) engine.get("requests")).intValue());
    double sum = 0;
    for (String kind : List.of("write", "read", "scan", "read and write")) {
      assertTrue(number(engine, kind, "count") > 10, kind);
      assertTrue(number(engine, kind, "p50") <= number(engine, kind, "p99"), kind);
      assertTrue(number(engine, kind, "p99") <= number(engine, kind, "longest"), kind);
      sum += number(engine, kind, "count");
    }
    assertEquals(370, sum);
  }

  /** A server for 1,000 scans a second at most, in virtual time. */
  @Test
  void aRequestThatWaitsForOthersIsAsSlowAsItsUserSeesIt() throws Exception {
    Map<String, Object> engine =
        engine(
            "--load steady --rate 2000 --mix 0:0:100 --scan 1995 --records 2000 --memory 8MB"
                + " --device unlimited --threads 1 --duration 1s",
            0);
    assertEquals(2000, ((Number) engine.get("requests")).intValue());
    // The last one was due within the first second, and had half of all others before it.
    double longest = number(engine, "scan", "longest") / 1e9;
    double seconds = ((Number) engine.get("seconds")).doubleValue();
    assertTrue(seconds > 1.2, seconds + " s");
    assertTrue(Math.abs(longest - (seconds - 1)) < 0.05, longest + " s of " + seconds);
  }

  @Test
  void flushesAndMergesThatCostNothingLeaveFasterReads() throws Exception {
    String line = "--load steady --rate 3000 --mix 70:30 --engine isobar,isobar-free " + SMALL;
    Map<String, Object> with = engine(line, 0);
    Map<String, Object> without = engine(line, 1);
    assertEquals("isobar-free", without.get("engine"));
    assertTrue(
        // Merges pass in small pieces: at 99 % reads wait for the log alone.
        number(with, "read", "p999") > number(without, "read", "p999"),
        () -> with.get("latencies") + "\n" + without.get("latencies"));
    assertFalse(((List<?>) with.get("jobs")).isEmpty());
  }

  @Test
  void aLimitForJobsMakesFlushesLonger() throws Exception {
    String line = "--load steady --rate 3000 --mix 70:30 " + SMALL;
    assertTrue(longestFlush(engine(line + " --background 1MB", 0)) > longestFlush(engine(line, 0)));
  }

  private static double longestFlush(Map<String, Object> engine) {
    double longest = 0;
    for (Object each : (List<?>) engine.get("jobs")) {
      Map<String, Object> job = cast(each);
      double seconds =
          ((Number) job.get("endSeconds")).doubleValue()
              - ((Number) job.get("beginSeconds")).doubleValue();
      longest = job.get("name").equals("flush") ? Math.max(longest, seconds) : longest;
    }
    return longest;
  }

  @Test
  void aSyncTakesAsLongAsIsSaid() throws Exception {
    String line = "--load bursts --duration 1s --memory 8MB --records 5000 --device-sync ";
    double slow = number(engine(line + "3", 0), "write", "p50");
    double fast = number(engine(line + "0.1", 0), "write", "p50");
    assertTrue(slow >= 3e6 && slow - fast > 2.8e6, slow + " ns, " + fast + " ns");
    assertTrue(run(line + "0.1").contains("0.10 ms for a sync"));
  }

  @Test
  void aRatioMakesTheLoadSmallAndDeepMergesDecide() throws Exception {
    // The load leaves L1 empty, so it has to be filled first.
    Map<String, Object> deep = engine("--load steady --ratio 100 --duration 30s", 0);
    assertEquals(true, deep.get("decided"), () -> deep.get("samples").toString());
    String facts = deep.get("facts").toString();
    assertTrue(facts.contains("pageSize=4096"), facts);
    String few = run("--load steady --ratio 4 --duration 1s");
    assertTrue(few.contains("not decided: merges below L0 wrote"), few);
    assertTrue(few.contains("device: 20 MB a second"), few);
    assertTrue(
        engine("--ratio 100 --option pageSize=8192 --duration 1s --records 3000", 0)
            .get("facts")
            .toString()
            .contains("pageSize=8192"));
    assertTrue(refused("--ratio 3").contains("--ratio must be 4 to 400"));
  }

  @Test
  void dataIsSoManyTimesTheWriteMemory() {
    for (int times : new int[] {4, 30, 100, 400}) {
      Ratio ratio = new Ratio(times);
      double memory = Double.parseDouble(ratio.options().get("writeMemory"));
      for (Preset load : Preset.ALL) {
        Preset small = ratio.of(load);
        double data = small.records() * (Client.KEY_BYTES + small.sizes().mean());
        assertEquals(times, data / memory, times * 0.01, load.name());
        assertTrue(small.rate() <= load.smallRate() + 1e-9, load.name());
      }
    }
  }

  @Test
  void burstsAreFollowedByPauses() throws Exception {
    Map<String, Object> engine =
        engine("--burst 200ms --pause 800ms --records 5000 --memory 8MB --duration 2s", 0);
    List<?> done = (List<?>) engine.get("donePerSecond");
    assertEquals(2, done.size());
    assertTrue(((Number) done.get(1)).longValue() > 10, done::toString);
    engine =
        engine("--burst-count 5 --pause 500ms --records 5000 --memory 8MB --duration 990ms", 0);
    assertEquals(10, ((Number) engine.get("requests")).intValue());
  }

  @Test
  void theRateThatCanBeSustainedIsFoundAndSentAt95PerCentOfIt() throws Exception {
    Map<String, Object> engine =
        engine("--find-rate --load steady " + SMALL.replace("--duration 1s", "--duration 4s"), 0);
    // A run of a second is mostly its beginning and its end.
    double sent = ((Number) engine.get("sentPerSecond")).doubleValue();
    double served = ((Number) engine.get("servedPerSecond")).doubleValue();
    assertTrue(sent > 100, sent + " a second");
    assertTrue(Math.abs(served / sent - 1) < 0.05, sent + " sent, " + served + " served");
  }

  /** Eight seconds at full speed, more than merges can follow, and six with few requests. */
  @Test
  void anOverloadSlowsWritersByDegreesAndIsOverWhenItEnds() throws Exception {
    Path trace = Files.writeString(dir.resolve("trace"), "8s max\n6s 500\n");
    String line =
        "--mix 95:5 --value-size 1000 --records 20000 --memory 16MB --device 20MB --threads 4"
            + " --duration 14s --load-file "
            + trace;
    Map<String, Object> engine = engine(line, 0);
    List<Double> served = perSecond(engine.get("donePerSecond"));
    assertEquals("", halved(served.subList(0, 8)), served::toString);
    List<Double> p99 =
        perSecond(cast(cast(engine.get("latencies")).get("write")).get("p99PerSecond"));
    p99.subList(8, 14).forEach(nanos -> assertTrue(nanos < 1e6, p99::toString));
    // Without a span in which writers are slowed down there is a fall, which this would find.
    String cliff =
        " --option experiment.l0SlowdownGroups=6 --option experiment.l0StopGroups=6"
            + " --option experiment.l0MostGroups=6";
    assertNotEquals(
        "", halved(perSecond(engine(line + cliff, 0).get("donePerSecond")).subList(0, 8)));
  }

  /**
   * Write memory fills from empty, so all of it is about as old: the log can be cut once slices
   * have gone round all keys. Flushes that wait until it is nearly full are too late for that.
   */
  @Test
  void slicesGoRoundAllKeysBeforeTheLogIsFull() throws Exception {
    Map<String, Object> engine =
        engine(
            "--load steady --rate 4700 --records 25000 --memory 16MB --device 25MB --duration 20s"
                + " --option writeMemory=12MB --option logLimit=16MB --option memoryTuner=off",
            0);
    List<?> samples = (List<?>) engine.get("samples");
    Map<String, Object> stalls = cast(cast(samples.get(samples.size() - 1)).get("stallMillis"));
    double logFull = ((Number) stalls.get("LOG_FULL")).doubleValue();
    assertTrue(logFull < 1000, stalls::toString);
    assertTrue(number(engine, "write", "p99") < 50e6, () -> engine.get("latencies").toString());
  }

  private static List<Double> perSecond(Object list) {
    return ((List<?>) list).stream().map(each -> ((Number) each).doubleValue()).toList();
  }

  /** The seconds in which less than half as much was served as in the one before. */
  private static String halved(List<Double> served) {
    StringBuilder seconds = new StringBuilder();
    for (int i = 1; i < served.size(); i++) {
      if (served.get(i) < served.get(i - 1) / 2) {
        seconds.append(i).append(' ');
      }
    }
    return seconds.toString();
  }

  @Test
  void optionsReachTheStore() throws Exception {
    Map<String, Object> engine =
        engine("--load steady --rate 200 --option experiment.l0StartGroups=3 " + SMALL, 0);
    assertTrue(
        engine.get("facts").toString().contains("experiment.l0StartGroups=3"), engine::toString);
  }

  @Test
  void theTreeHasTheRunsThatAreAskedFor() throws Exception {
    String line = "--load steady --rate 200 " + SMALL + " --runs ";
    assertTrue(engine(line + "LAZY(4)", 0).get("facts").toString().contains("runs=LAZY(4)"));
    assertTrue(engine(line + "8,4,1", 0).get("facts").toString().contains("runs=8,4,1"));
  }

  @Test
  void runsThatAreNoneOrOfAnotherEngineAreRefused() {
    assertTrue(refused("--runs LAZY(1) " + SMALL).contains("LAZY and TIERED take 2 to 32 runs"));
    assertTrue(refused("--engine none --runs LAZY(4) " + SMALL).contains("--runs is for Isobar"));
    assertTrue(refused("--runs TIERED(4) " + SMALL).contains("maxSpace"));
  }

  @Test
  void thePageStandsAloneAndShowsWhatTheRunDid() throws Exception {
    Path page = dir.resolve("page.html");
    String text = run("--load steady --rate 3000 " + SMALL + " --html " + page);
    assertTrue(text.contains("isobar, write"), text);
    String html = Files.readString(page);
    for (String part :
        List.of(
            "name=\"viewport\"",
            "light dark",
            "Requests done",
            "p99 of each second: write",
            "p99 of each second: read",
            "I/O by purpose",
            "Bytes per level",
            "Stalls",
            "Jobs around the worst second",
            "isobar latency --load steady")) {
      assertTrue(html.contains(part), part);
    }
    assertFalse(html.contains("http://") || html.contains("https://"), "it needs a network");
  }

  @Test
  void thePageHasWholeSecondsOnly() throws Exception {
    Path page = dir.resolve("seconds.html");
    run("--load steady --rate 1000 --duration 2500ms --records 2000 --memory 8MB --html " + page);
    String html = Files.readString(page);
    String chart = html.substring(html.indexOf("Requests done"));
    chart = chart.substring(0, chart.indexOf("</svg>"));
    assertEquals(2, chart.split("<title>isobar: ").length - 1, chart);
  }

  @ParameterizedTest
  @ValueSource(strings = {"isobar", "rocksdb"})
  void enginesRunOnTheRealClock(String name) throws Exception {
    assertRunsOnTheRealClock(name);
  }

  @Tag("deep")
  @ParameterizedTest
  @ValueSource(strings = {"rocksdb-autotuned", "none"})
  void othersDoTheSame(String name) throws Exception {
    assertRunsOnTheRealClock(name);
  }

  private void assertRunsOnTheRealClock(String name) throws Exception {
    Map<String, Object> engine =
        engine(
            "--load steady --rate 500 --clock real --engine "
                + name
                + " --records 5000 --memory 8MB --device 10MB --threads 4 --duration 300ms"
                + " --mix 45:45:10",
            0);
    assertEquals(name, engine.get("engine"));
    assertEquals(150, ((Number) engine.get("requests")).intValue());
    assertTrue(number(engine, "write", "longest") > 0);
    assertEquals(name.equals("isobar"), !((List<?>) engine.get("samples")).isEmpty());
  }

  /** Their data is as many times their write memory, and both write batches. */
  @ParameterizedTest
  @ValueSource(strings = {"isobar", "rocksdb"})
  void enginesHaveEqualWriteMemoryAndBatches(String name) throws Exception {
    Map<String, Object> engine =
        engine(
            "--load bursts --ratio 30 --records 20000 --clock real --warm-up 10ms --duration 200ms"
                + " --option writeMemory=1MB --engine "
                + name,
            0);
    assertTrue(number(engine, "write", "count") > 0, engine::toString);
    String store = cast(engine.get("facts")).get("store").toString();
    String memory = name.equals("isobar") ? "writeMemory=1048576" : "write buffers (1 MB)";
    assertTrue(store.contains(memory), store);
  }

  @Test
  void rocksDbHasALimiterOfItsOwnOnADeviceThatIsLimitedElsewhere() throws Exception {
    Map<String, Object> engine =
        engine(
            "--load steady --rate 500 --clock real --engine rocksdb-autotuned --device unlimited"
                + " --background 3MB --records 5000 --memory 8MB --warm-up 10ms --duration 100ms",
            0);
    String store = cast(engine.get("facts")).get("store").toString();
    assertTrue(store.contains("limited to 3 MB/s by its own limiter, auto-tuned"), store);
  }

  @Test
  void theHelpNamesEveryLoad() {
    String help = run("--help");
    Preset.ALL.forEach(preset -> assertTrue(help.contains(preset.name()), preset.name()));
  }
}
