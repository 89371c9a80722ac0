package io.isobardb.cli.console;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.StoreLockedException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** How a command ended, for scripts. */
public enum Exit {
  /** All went well. */
  SUCCESS("success"),
  /** The command worked, and found what it looks for: damage, a loss, a broken promise. */
  FINDING("a finding: damage, loss, or a check that does not hold"),
  /** The command line makes no sense. */
  USAGE("wrong usage"),
  /** Another process, or a missing permission, stands in the way. */
  REFUSED("the store is in use, or a permission is missing"),
  /** The command could not do its work. */
  FAILURE("a failure: the message says what and why");

  private final String meaning;

  Exit(String meaning) {
    this.meaning = meaning;
  }

  /** {@return the process's exit code} */
  public int code() {
    return ordinal();
  }

  /** {@return codes and what they mean, in order} */
  public static Map<String, String> table() {
    Map<String, String> table = new LinkedHashMap<>();
    for (Exit exit : values()) {
      table.put(Integer.toString(exit.code()), exit.meaning);
    }
    return table;
  }

  /**
   * {@return the exit with a code; {@link #FAILURE} for a code that is none of these}
   *
   * @param code of a process
   */
  public static Exit of(int code) {
    return code >= 0 && code < values().length ? values()[code] : FAILURE;
  }

  /**
   * {@return how a command ends that threw {@code thrown}}
   *
   * @param thrown by a command
   */
  public static Exit of(Throwable thrown) {
    if (thrown instanceof FailedException failed) {
      return failed.exit();
    }
    if (thrown instanceof UsageException) {
      return USAGE;
    }
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof StoreLockedException
          || cause instanceof AccessDeniedException
          || cause instanceof FileSystemException file && isReadOnly(file)) {
        return REFUSED;
      }
      if (cause instanceof CorruptionException) {
        return FINDING;
      }
    }
    return FAILURE;
  }

  private static boolean isReadOnly(FileSystemException e) {
    return String.valueOf(e.getReason()).toLowerCase(Locale.ROOT).contains("read-only file system");
  }
}
