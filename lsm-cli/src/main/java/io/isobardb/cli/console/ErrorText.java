package io.isobardb.bench.console;

import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** What went wrong, in a line. */
public final class ErrorText {
  private ErrorText() {}

  /** The exception's message; what it leaves to its type or its cause is added. */
  public static String of(Throwable e) {
    if (e instanceof FileSystemException failed && failed.getReason() == null) {
      // Its message is the file's name alone.
      if (e instanceof NoSuchFileException) {
        return "there is no " + failed.getFile();
      }
      return e.getClass().getSimpleName().replace("Exception", "") + ": " + e.getMessage();
    }
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    if (e instanceof UncheckedIOException && e.getCause() != null) {
      String cause = of(e.getCause());
      return message.contains(cause) ? message : message + " (" + cause + ")";
    }
    return message;
  }
}
