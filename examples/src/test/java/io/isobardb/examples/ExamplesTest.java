package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
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
    assertEquals(
        """
        s1 at 25 s: ada
        s2 at 45 s: none
        expired at 45 s: 1
        s1 at 50 s: ada
        """,
        output(SessionStore::main));
  }

  @Test
  void aTimeSeriesIsReadOverDaysAndDroppedByDay() throws Exception {
    assertEquals(
        """
        days: [points-2026-11-20, points-2026-11-21, points-2026-11-22]
        2026-11-20T22:00:00Z 22.0
        2026-11-20T23:00:00Z 23.0
        2026-11-21T00:00:00Z 0.0
        2026-11-21T01:00:00Z 1.0
        days: [points-2026-11-22]
        """,
        output(TimeSeries::main));
  }

  @Test
  void documentsAreFoundByTheirContents() throws Exception {
    String expected =
        """
        code: [1, 2]
        Erlangen: []
        Bryn Mawr: emmy@example.org
        London: ada@example.org
        ada@example.org belongs to 1
        """;
    assertEquals(expected, output(Documents::main));
    // Again, on what the first run has left.
    assertEquals(expected, output(Documents::main));
  }

  @Test
  void eachJobIsDoneOnceAndAFailedOneAgain() throws Exception {
    String expected =
        """
        job 1 failed
        job 1 done
        999 more done, left: false
        """;
    assertEquals(expected, output(WorkQueue::main));
    assertEquals(expected, output(WorkQueue::main));
  }
}
