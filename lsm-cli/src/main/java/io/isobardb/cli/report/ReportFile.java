package io.isobardb.cli.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that reports go to. */
public final class ReportFile {
  private ReportFile() {}

  /**
   * Sees that the file can be written, so that nobody waits for a report that has no place.
   *
   * @throws IllegalArgumentException that names option and file
   */
  public static void check(String option, Path file) {
    Path dir = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || dir == null || !Files.isWritable(dir)) {
      throw new IllegalArgumentException(
          option
              + " can't be written: "
              + file.toAbsolutePath()
              + "; give a file in a directory"
              + " that is there");
    }
  }

  /** Where the picture of a document lies: beside it. */
  public static Path picture(Path document) {
    String name = document.getFileName().toString();
    return document.resolveSibling(name.replaceFirst("\\.[^.]*$", "") + ".svg");
  }

  /** Writes the file and says so on standard error. */
  public static void write(Path file, String text) throws IOException {
    Files.writeString(file, text);
    System.err.println("report: " + file.toAbsolutePath());
  }
}
