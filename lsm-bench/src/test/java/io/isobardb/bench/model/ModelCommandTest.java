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
        "--design lsm | LEVELDB, UNIVERSAL, COLA, SAMT",
        "--write-memory 10 | must hold one --item or more",
        "--optimise --max-levels 99 | --max-levels must be 1 to 16",
        "--optimise --max-space 0.5 | space must be more than 1",
        "--simulate --keys 1e9 | at most 200,000,000 keys",
        "--design samt --growth 1 | --growth must be 2 or more"
      })
  void whatCanNotBeIsWrongUsage(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err.toString());
  }
}
