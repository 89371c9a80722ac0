package io.isobardb.cli.console;

import java.util.Locale;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * How messages of the store and its libraries are shown. Unless something else is asked for,
 * warnings and errors are a line each on standard error, by {@code java.util.logging}: to start
 * Log4j takes longer than most commands. {@link #ask} has Log4j take them.
 */
public final class Messages {
  private static final String FORMAT = "java.util.logging.SimpleFormatter.format";

  /** What is asked for, for this process and its children: {@code LEVEL[:FILE]}. */
  public static final String LOG = "isobar.log";

  /** {@code text} or {@code json}. */
  public static final String LOG_FORMAT = "isobar.log.format";

  private Messages() {}

  /** From which level on messages are shown. */
  public enum Threshold {
    /** None. */
    off,
    /** What has failed. */
    error,
    /** What whoever runs a store must know: leaks, memory that will not fit. */
    warning,
    /** What was done. */
    info,
    /** Where it failed. */
    debug,
    /** All there is. */
    trace
  }

  /** How a message is written. */
  public enum Format {
    /** A line for people. */
    text,
    /** A JSON value on a line. */
    json
  }

  /**
   * Asks for messages, as {@code LEVEL} or {@code LEVEL:FILE}.
   *
   * @param levelAndFile a level of {@link Threshold}, in any case, and a file that is appended to
   * @throws UsageException if there is no such level, or the file can't be written
   */
  public static void ask(String levelAndFile) {
    System.setProperty(LOG, LogTarget.parse(levelAndFile).toString());
  }

  /**
   * Asks for messages of a form; without {@link #ask}, warnings on standard error.
   *
   * @param format of each message
   */
  public static void ask(Format format) {
    System.setProperty(LOG_FORMAT, format.name());
  }

  /**
   * Shows what was asked for; to be called before anything is logged. A configuration of the JVM's
   * own stays as it is.
   */
  public static void configure() {
    String asked = System.getProperty(LOG);
    String format = System.getProperty(LOG_FORMAT);
    if (asked != null || format != null) {
      LogTarget target = asked == null ? LogTarget.STANDARD : LogTarget.parse(asked);
      LogRoute.install(target, Format.json.name().equals(format));
    } else if (isUnconfigured()) {
      showWarnings();
    }
  }

  private static boolean isUnconfigured() {
    return System.getProperty("java.util.logging.config.file") == null
        && System.getProperty("java.util.logging.config.class") == null;
  }

  private static void showWarnings() {
    if (System.getProperty(FORMAT) == null) {
      System.setProperty(FORMAT, "%1$tT.%1$tL %4$s %3$s: %5$s%6$s%n");
    }
    Logger root = Logger.getLogger("");
    root.setLevel(Level.WARNING);
    for (Handler handler : root.getHandlers()) {
      handler.setLevel(Level.WARNING);
    }
  }

  /** A level by its name, in either case. */
  static @Nullable Threshold threshold(String name) {
    for (Threshold each : Threshold.values()) {
      if (each.name().equals(name.toLowerCase(Locale.ROOT))) {
        return each;
      }
    }
    return null;
  }
}
