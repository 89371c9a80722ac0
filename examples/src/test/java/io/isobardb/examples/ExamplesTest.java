package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Each example runs and prints what it should. */
@Execution(ExecutionMode.SAME_THREAD)
class ExamplesTest {
  @TempDir Path dir;

  private interface Main {
    void run(String[] args) throws Exception;
  }

  private String output(Main main) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(out, true, UTF_8));
      main.run(new String[] {dir.resolve("store").toString()});
    } finally {
      System.setOut(before);
    }
    return out.toString(UTF_8).replace("\r", "");
  }

  @Test
  void sessionsExpireUnlessTheyAreUsed() throws Exception {
    String expected =
        """
        s1: Session[user=ada, cartItems=2]
        s2: null
        """;
    assertEquals(expected, output(SessionCache::main));
    // Each again, on what the first run has left.
    assertEquals(expected, output(SessionCache::main));
  }

  @Test
  void measurementsAreReadBySeriesAndDroppedByDay() throws Exception {
    StringBuilder expected = new StringBuilder("from 2026-11-21T00:00:00Z\n");
    for (int hour = 0; hour < 12; hour++) {
      expected.append(String.format("2026-11-21T%02d:00:00Z=%d.0%n", hour, hour));
    }
    assertEquals(expected.toString(), output(Measurements::main));
    assertEquals(expected.toString(), output(Measurements::main));
  }

  @Test
  void eachJobIsDoneOnce() throws Exception {
    assertEquals("500, 500, left 0\n", output(Jobs::main));
    assertEquals("1000, 1000, left 0\n", output(Jobs::main));
  }

  @Test
  void documentsAreFoundByTheirContents() throws Exception {
    String expected =
        """
        code: 2
        1=Person[email=ada@example.org, city=London, skills=[maths, code]]
        """;
    String printed = output(Documents::main);
    assertTrue(printed.startsWith(expected + "a second ada: "), printed);
    assertTrue(printed.contains("by-email"), printed);
    assertEquals(printed, output(Documents::main));
  }

  @Test
  void anImportIsThereAllAtOnce() throws Exception {
    String after = "after: Reading[sensor=5, value=0.5]\n";
    assertEquals("before: false\n" + after, output(Import::main));
    assertEquals("before: true\n" + after, output(Import::main));
  }

  @Test
  void countersAreSummedUpByRange() throws Exception {
    assertEquals("day 1: 3333\nall: 10000\npage 7: 333\n", output(Counting::main));
    assertEquals("day 1: 6666\nall: 20000\npage 7: 666\n", output(Counting::main));
  }

  @Test
  void aBackupIsRestoredAsItWas() throws Exception {
    assertEquals("damaged: []\nnow: blue\nthen: red\n", output(BackingUp::main));
  }

  @Test
  void manyTreesHaveMetricsEach() throws Exception {
    assertEquals("200 trees, with meters: 200\n", output(ManyTrees::main));
  }

  /** What is between the marks, without empty lines and comments. */
  @Test
  void eachProgramHasFifteenEssentialLinesAtMost() throws IOException {
    Path sources = Path.of("src", "main", "java", "io", "isobardb", "examples");
    List<String> programs = new ArrayList<>();
    try (Stream<Path> files = Files.list(sources)) {
      for (Path file : files.sorted().toList()) {
        String text = Files.readString(file);
        int begin = text.indexOf("// begin\n");
        int end = text.indexOf("// end\n");
        if (begin < 0) {
          continue;
        }
        assertTrue(begin < end, file + " has no end");
        long lines =
            text.substring(begin, end)
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("//"))
                .count();
        programs.add(file.getFileName() + ": " + lines);
        assertTrue(lines <= 15, file + " has " + lines + " essential lines");
      }
    }
    assertEquals(8, programs.size(), programs::toString);
  }
}
