package io.isobardb.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java's own code for an error that nobody catches is 1, which is a finding. */
class FullHeapTest {
  @TempDir Path temporary;

  @Test
  void aHeapThatIsFullIsAFailureAndNoFinding() throws IOException, InterruptedException {
    byte[] line = new byte[64 << 20];
    Arrays.fill(line, (byte) 'v');
    line[1] = '\t';
    Path lines = Files.write(temporary.resolve("lines"), line);
    String store = temporary.resolve("s").toString();
    ChildProgram program = new ChildProgram(temporary).flag("-Xmx48m");
    program.run(4, "load", store, "--tree", "t", "--create", "--from", lines.toString());
    assertEquals(
        "isobar: java.lang.OutOfMemoryError: Java heap space; give Java a larger heap, as by"
            + " ISOBAR_OPTS=-Xmx2g\n",
        program.errors());
  }
}
