package io.isobardb.cli.console;

import io.isobardb.lsm.error.IsobarException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import picocli.CommandLine.PicocliException;

/** What went wrong, in a line. */
public final class ErrorText {
  private ErrorText() {}

  /**
   * {@return the exception's message; what it leaves to its type or its cause is added} If nobody
   * foresaw the exception, its type is told, too, and how to see where it came from.
   *
   * @param e what a command threw
   */
  public static String of(Throwable e) {
    boolean foreseen =
        e instanceof IllegalArgumentException
            || e instanceof IllegalStateException
            || e instanceof IsobarException
            || e instanceof IOException
            || e instanceof UncheckedIOException
            || e instanceof FailedException
            || e instanceof PicocliException;
    return foreseen ? message(e) : e + " (this should not happen; --trace shows where it did)";
  }

  private static String message(Throwable e) {
    if (e instanceof FileSystemException failed && failed.getReason() == null) {
      // Its message is the file's name alone.
      Path file = failed.getFile() == null ? null : Path.of(failed.getFile()).toAbsolutePath();
      if (e instanceof NoSuchFileException) {
        return "there is no " + file;
      }
      if (e instanceof AccessDeniedException) {
        return file + ": permission denied; run as a user who has the right to, or change its mode";
      }
      if (e instanceof FileAlreadyExistsException) {
        return file + " exists already; give another name";
      }
      if (e instanceof NotDirectoryException) {
        return file + " is no directory; give one";
      }
      return file + ": " + e.getClass().getSimpleName().replace("Exception", "");
    }
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    if (e instanceof UncheckedIOException && e.getCause() != null) {
      String cause = message(e.getCause());
      return message.contains(cause) ? message : message + " (" + cause + ")";
    }
    return message;
  }
}
