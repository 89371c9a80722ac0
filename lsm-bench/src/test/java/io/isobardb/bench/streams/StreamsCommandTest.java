package io.isobardb.bench.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.Isobar;
import io.isobardb.bench.process.Events;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Each profile runs on Isobar, and the short ones on Kafka's RocksDB, too. */
@Tag("any-jdk")
class StreamsCommandTest {
  private static final String KAFKA = "isobar.kafka.classpath";

  @TempDir Path dir;

  private String before;

  @BeforeEach
  void nameKafka() {
    Path file = Path.of("..", "lsm-kafka-streams", "target", "kafka-classpath.txt");
    assertTrue(Files.exists(file), "build lsm-kafka-streams by Maven: there is no " + file);
    before = System.getProperty(KAFKA);
    System.setProperty(KAFKA, file.toString());
  }

  @AfterEach
  void restore() {
    if (before == null) {
      System.clearProperty(KAFKA);
    } else {
      System.setProperty(KAFKA, before);
    }
  }

  private String run(String... options) {
    CommandLine line = Isobar.commandLine();
    StringWriter out = new StringWriter();
    StringWriter errors = new StringWriter();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(errors));
    List<String> all =
        new ArrayList<>(
            List.of(
                "streams",
                "--dir",
                dir.toString(),
                "--heap",
                "64MB",
                "--memory",
                "16MB",
                "--flag",
                "-XX:TieredStopAtLevel=1",
                "--duration",
                "50ms",
                "--commit-every",
                "20ms"));
    all.addAll(List.of(options));
    assertEquals(0, line.execute(all.toArray(String[]::new)), errors::toString);
    return out.toString();
  }

  private static List<String> steps(String json, String engine) throws Exception {
    return JSON.std.listOfFrom(Object.class, json).stream()
        .map(Map.class::cast)
        .filter(step -> step.get("engine").equals(engine))
        .map(step -> (String) step.get("step"))
        .toList();
  }

  @Test
  void callsOfAllKindsAreMeasuredOnEachEngine() throws Exception {
    String json =
        run("--engine", "isobar,rocksdb-limited", "--stores", "8", "--records", "800", "--json");
    for (String engine : List.of("isobar", "rocksdb-limited")) {
      List<String> steps = steps(json, engine);
      assertTrue(
          steps.containsAll(List.of("load", "get", "put", "get-put", "range", "window", "windows")),
          steps::toString);
      assertTrue(steps.contains("put: commit of a state store"), steps::toString);
    }
    try (Stream<Path> left = Files.list(dir)) {
      assertEquals(List.of(), left.toList());
    }
  }

  @Test
  void aSingleStateStoreHasWindowsBesideIt() throws Exception {
    String table =
        run("--profile", "many", "--engine", "isobar", "--stores", "1", "--records", "100");
    assertTrue(table.contains("skewed"), table);
    assertTrue(table.contains("ledger"), table);
  }

  @Test
  void whatIsRestoredIsLookedAt() throws Exception {
    String json =
        run(
            "--profile",
            "restore",
            "--engine",
            "isobar,rocksdb",
            "--stores",
            "2",
            "--records",
            "4000",
            "--json");
    assertEquals(List.of("restore of a record"), steps(json, "isobar"));
    assertEquals(List.of("restore of a record"), steps(json, "rocksdb"));
  }

  @Test
  void stateStoresAreMadeOpenedClosedAndDropped() throws Exception {
    List<String> steps =
        steps(
            run(
                "--profile",
                "lifecycle",
                "--engine",
                "isobar",
                "--stores",
                "5",
                "--records",
                "10",
                "--json"),
            "isobar");
    assertEquals("create", steps.get(0));
    assertEquals("drop", steps.get(steps.size() - 1));
  }

  @Test
  void segmentsExpireWithAndWithoutAnIteratorHeld() throws Exception {
    List<String> steps =
        steps(
            run("--profile", "expire", "--engine", "isobar", "--records", "1000", "--json"),
            "isobar");
    assertTrue(steps.contains("expire a segment of 1,000 records"), steps::toString);
    assertTrue(steps.contains("segments 8 to 10, an iterator held: reads"), steps::toString);
  }

  @Test
  void aSpecComesThroughJsonUnchanged() {
    StreamsSpec spec =
        new StreamsSpec(
            StreamsEngine.ROCKSDB_LIMITED,
            Profile.MANY,
            List.of(Mix.SKEWED, Mix.GET_PUT),
            Map.of("isobar.ioMode", "BUFFERED"),
            dir,
            10,
            3,
            2,
            1 << 24,
            1 << 26,
            100,
            50,
            1.5,
            0.5,
            7);
    assertEquals(spec, Events.parse(StreamsSpec.class, Events.text(spec)));
  }
}
