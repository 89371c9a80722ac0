package io.isobardb.bench.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private String shown(boolean terminal) {
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        Progress progress = new Progress(out, terminal)) {
      progress.stage("load");
      progress.update("load 10");
      progress.update("load 20");
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aFileGetsALinePerStageOnly() {
    assertEquals("load" + System.lineSeparator(), shown(false));
  }

  @Test
  void aTerminalGetsOneLineThatIsGoneAtTheEnd() {
    String clear = "\r\u001b[K";
    assertEquals(clear + "load" + clear + "load 10" + clear + "load 20" + clear, shown(true));
  }
}
