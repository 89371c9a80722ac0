package io.isobardb.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What commands do with little heap. */
class FullHeapTest {
  @TempDir Path temporary;

  /** The log of a store that was killed is more than the heap holds. */
  @Test
  void aRepairNeedsLittleHeapWhateverTheMemoryIsThatItMayUse() throws Exception {
    Path made = temporary.resolve("made");
    Path killed = Files.createDirectory(temporary.resolve("killed"));
    StoreOptions options = StoreOptions.builder().memoryBudget(256 << 20).build();
    try (Store store = Store.open(made, options)) {
      Tree tree = store.openTree("t");
      for (int i = 0; i < 300_000; i++) {
        tree.put(("key" + i).getBytes(UTF_8), new byte[20]);
      }
      store.sync();
      try (DirectoryStream<Path> files = Files.newDirectoryStream(made)) {
        for (Path file : files) {
          Files.copy(file, killed.resolve(file.getFileName()));
        }
      }
    }
    ChildProgram program = new ChildProgram(temporary).flag("-Xmx32m");
    String out = program.run(0, "repair", killed.toString(), "--to", temporary + "/new");
    assertEquals("tree 't': 300,000 keys\nnothing lost\n", out);
  }

  /** Java's own code for an error that nobody catches is 1, which is a finding. */
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
