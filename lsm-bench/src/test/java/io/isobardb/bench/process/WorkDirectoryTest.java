package io.isobardb.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.engine.Directories;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkDirectoryTest {
  @TempDir Path temp;

  @Test
  void aNamedDirectoryStaysAndATemporaryOneGoes() throws IOException {
    Path named = temp.resolve("named");
    Path temporary;
    try (WorkDirectory stays = WorkDirectory.of(named, "x");
        WorkDirectory goes = WorkDirectory.temporary(named, "y")) {
      temporary = goes.path();
      Files.writeString(temporary.resolve("file"), "text");
      assertEquals(named.toAbsolutePath(), stays.path());
    }
    assertTrue(Files.isDirectory(named));
    assertFalse(Files.exists(temporary));
  }

  @Test
  void aFreshDirectoryGoesUnlessItIsKept() throws IOException {
    Path path = temp.resolve("fresh");
    WorkDirectory.fresh(path).close();
    assertFalse(Files.exists(path));
    try (WorkDirectory kept = WorkDirectory.fresh(path)) {
      Files.writeString(path.resolve("file"), "text");
      kept.keep();
    }
    assertTrue(Files.exists(path.resolve("file")));
    assertThrows(IllegalArgumentException.class, () -> WorkDirectory.fresh(path));
    assertTrue(Files.exists(path.resolve("file")));
  }

  @Test
  void holesOfAFileOccupyNothing() throws IOException {
    try (RandomAccessFile sparse = new RandomAccessFile(temp.resolve("sparse").toFile(), "rw")) {
      sparse.setLength(64 << 20);
      sparse.write(new byte[1 << 20]);
      sparse.getFD().sync();
    }
    assertEquals(64 << 20, Directories.sizeBytes(temp));
    long allocated = Directories.allocatedBytes(temp);
    assertTrue(allocated >= 1 << 20 && allocated < 8 << 20, allocated + " bytes");
  }

  /** Ends as its argument says. */
  static final class Child {
    public static void main(String[] args) {
      ChildMain.run(
          () -> {
            switch (args[0]) {
              case "ends" -> new Events(System.out).send(Events.END, Map.of());
              case "usage" -> throw new UsageException("that makes no sense");
              case "is full" -> throw new OutOfMemoryError("Java heap space");
              case "fails" -> throw new IOException("/there: the device is gone");
              default -> System.out.println("still at work");
            }
          });
    }
  }

  private static FailedException failure(String how) {
    return assertThrows(FailedException.class, () -> run(how));
  }

  private static void run(String how) throws InterruptedException {
    new ChildJvm(Child.class).argument(how).runToEnd("the child", event -> {});
  }

  @Test
  void aChildsFailureIsToldInItsWordsAndWithItsCode() throws InterruptedException {
    run("ends");
    FailedException usage = failure("usage");
    assertEquals("the child: that makes no sense", usage.getMessage());
    assertEquals(Exit.USAGE, usage.exit());
    FailedException fails = failure("fails");
    assertEquals("the child: /there: the device is gone", fails.getMessage());
    assertEquals(Exit.FAILURE, fails.exit());
    // Java's own code for it is that of a finding.
    FailedException full = failure("is full");
    assertTrue(full.getMessage().contains("OutOfMemoryError"), full.getMessage());
    assertEquals(Exit.FAILURE, full.exit());
    FailedException early = failure("stops early");
    assertEquals("the child: the process ended with exit code 0", early.getMessage());
    assertEquals(Exit.FAILURE, early.exit());
  }
}
