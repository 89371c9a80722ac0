package io.isobardb.bench.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.cli.console.Messages;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the process of a workload logs. */
class YcsbLogTest {
  @TempDir Path temporary;

  @AfterEach
  void askForNothing() {
    System.clearProperty(Messages.LOG);
  }

  @Test
  void theStoreOfAWorkloadLogsWhatIsAskedFor() throws IOException {
    Path log = temporary.resolve("log");
    Messages.ask("debug:" + log);
    CommandLine line = Isobar.commandLine();
    StringWriter out = new StringWriter();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(out));
    int code = line.execute("ycsb", "--workload=a", "--records=8000", "--memory=4MB");
    assertEquals(0, code, out::toString);
    String logged = Files.readString(log, UTF_8);
    assertTrue(logged.contains(" DEBUG io.isobardb.lsm.flush.Flusher: flushing tree0"), logged);
  }
}
