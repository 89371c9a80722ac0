package io.isobardb.bench.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ModelCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String line) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(("model " + line).split(" +"));
  }

  @Test
  void levelDbsCostIsThePapers() {
    assertEquals(0, run("--keys 100M --skew 0 --item 1000"));
    assertTrue(out.toString().matches("(?s).*\nall +25\\.83 +47\\.16\n.*"), out.toString());
  }

  @Test
  void optimisedSizesAreShownWithWhatTheyCost() {
    assertEquals(0, run("--keys 1e6 --optimise --max-space 1.15 --max-levels 3"));
    assertTrue(out.toString().contains("levels, optimised: "), out.toString());
  }

  @ParameterizedTest
  @CsvSource({"'', 2", "--flush-whole, 2", "--trees 5 --memory-weight 1, 2"})
  void ourDesignIsModelledAndSimulated(String options, int levels) {
    String line = "--design isobar --keys 60k --write-memory 1MB --log-limit 4MB --simulate ";
    assertEquals(0, run(line + options));
    assertTrue(
        out.toString().matches("(?s).*\nmerges into level " + levels + " +[0-9.]+ +[0-9.]+\n.*"),
        out.toString());
    assertTrue(
        out.toString().matches("(?s).*\npages per read, no cache +0.\\d\\d +0.\\d\\d\n.*"),
        out.toString());
  }

  @Test
  void sourcesAndPagesAreInTheJson() {
    assertEquals(0, run("--design isobar --keys 1e9 --write-memory 1GB --json"));
    assertTrue(out.toString().contains("\"withinL0\":0.0"), out.toString());
    assertTrue(out.toString().contains("\"pagesPerRead\":0."), out.toString());
  }

  @ParameterizedTest
  @CsvSource({"universal, universal", "cola, COLA", "samt, SAMT"})
  void otherDesignsAreModelledAndSimulated(String design, String name) {
    assertEquals(0, run("--simulate --keys 100k --json --design " + design));
    assertTrue(out.toString().contains("\"name\":\"" + name + "\""), out.toString());
    assertTrue(out.toString().contains("\"name\":\"simulated\""), out.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--keys 1 | from 2 to 1000000000000, not 1.0",
        "--keys 2e12 | from 2 to 1000000000000",
        "--keys many | 'many' is not a number",
        "--skew -1 | skew must be 0 or more, not -1.0",
        "--levels 1g,10m | ascend",
        "--design cola --optimise | for --design leveldb",
        "--design lsm | ISOBAR, LEVELDB, UNIVERSAL, COLA, SAMT",
        "--write-memory 10 | must hold one --item or more",
        "--optimise --max-levels 99 | --max-levels must be 1 to 16",
        "--optimise --max-space 0.5 | space must be more than 1",
        "--simulate --keys 1e9 | at most 200,000,000 keys",
        "--design samt --growth 1 | --growth must be 2 or more",
        "--design isobar --trees 0 | --trees must be 1 or more",
        "--design isobar --trees 60000 --keys 60k | from 2 to 1000000000000, not 1.0",
        "--design isobar --memory-weight 0.5 | must be from 1 to 100, not 0.5",
        "--design isobar --write-memory 100k | write memory must have 1 MB or more",
        "--design isobar --write-memory 32m --log-limit 1m | the log no less"
      })
  void whatCanNotBeIsWrongUsage(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err.toString());
  }
}
