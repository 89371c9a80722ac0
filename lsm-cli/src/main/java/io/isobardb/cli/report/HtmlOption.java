package io.isobardb.cli.report;

import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --html} of a command that reports. */
public final class HtmlOption {
  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Also write a page to look at, which needs no other file.")
  private @Nullable Path file;

  /**
   * Sees that the file can be written, so that nobody waits for a report that has no place.
   *
   * @throws UsageException that names option and file
   */
  public void check() {
    check("--html", file);
  }

  static void check(String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    Path dir = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || dir == null || !Files.isWritable(dir)) {
      throw new UsageException(
          option
              + " can't be written: "
              + file.toAbsolutePath()
              + "; give a file in a directory that is there");
    }
  }

  /** Whether it was given. */
  public boolean isGiven() {
    return file != null;
  }

  /** Writes the page if it is asked for. */
  public void write(Supplier<Page> page) throws IOException {
    if (file != null) {
      Files.writeString(file, page.get().html());
    }
  }
}
