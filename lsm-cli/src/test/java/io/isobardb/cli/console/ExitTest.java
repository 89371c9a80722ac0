package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreLockedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ExitTest {
  @Test
  void eachFailureHasItsCode() {
    assertEquals(2, Exit.of(new UsageException("no")).code());
    assertEquals(4, Exit.of(new IllegalArgumentException("the engine's own")).code());
    assertEquals(3, Exit.of(new StoreLockedException("in use")).code());
    IOException denied = new AccessDeniedException("/there");
    assertEquals(3, Exit.of(new UncheckedIOException("can't be opened", denied)).code());
    IOException readOnly = new FileSystemException("/there", null, "Read-only file system");
    assertEquals(3, Exit.of(new IllegalStateException("no", readOnly)).code());
    assertEquals(1, Exit.of(new CorruptionException("CURRENT", 0, "short")).code());
    assertEquals(4, Exit.of(new FormatException("not a store")).code());
    assertEquals(4, Exit.of(new NullPointerException()).code());
    assertEquals(1, Exit.of(new FailedException(Exit.FINDING, "found")).code());
  }

  @Test
  void theTablesOfTheDocumentsAreThatOfTheProgram() throws IOException {
    String operations = Files.readString(Path.of("../docs/operations.md"));
    Exit.table()
        .forEach(
            (code, meaning) ->
                assertTrue(
                    operations.contains("| " + code + " | " + meaning + " |"),
                    code + ": " + meaning));
  }

  @Test
  void whatTheSystemSaysGetsTheFullPathAndAReason() {
    Path here = Path.of("").toAbsolutePath();
    String denied = ErrorText.of(new AccessDeniedException("there"));
    assertEquals(
        here.resolve("there")
            + ": permission denied; run as a user who has the right to, or change its mode",
        denied);
    assertEquals(
        here.resolve("there") + " exists already; give another name",
        ErrorText.of(new FileAlreadyExistsException("there")));
  }
}
