package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static final String CLEAR = "\r\u001b[K";

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private long seconds = 100;

  private String shown(boolean terminal) {
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Progress progress = new Progress(out, terminal, () -> TimeUnit.SECONDS.toNanos(seconds))) {
      progress.stage("load");
      progress.update("load 10", 10, 100);
      seconds += 30;
      progress.update("load 20", 20, 100);
      seconds += 1000;
      progress.stage("read");
      progress.update("read 50", 50, 100);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aFileGetsNothing() {
    assertEquals("", shown(false));
  }

  @Test
  void aTerminalGetsOneLineThatIsGoneAtTheEndAndSaysWhatIsLeft() {
    assertEquals(
        String.join(
            CLEAR, "", "load", "load 10", "load 20, about 2 min left", "read", "read 50", ""),
        shown(true));
  }

  @Test
  void timesAreInTheUnitThatPeopleWouldTake() {
    assertEquals("about 1 s", Progress.about(0.2));
    assertEquals("about 89 s", Progress.about(88.5));
    assertEquals("about 24 min", Progress.about(24 * 60));
    assertEquals("about 2.5 h", Progress.about(2.5 * 3600));
  }
}
