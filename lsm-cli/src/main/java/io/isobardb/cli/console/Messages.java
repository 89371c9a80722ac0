package io.isobardb.cli.console;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.Logger;

/** How messages of the store and its libraries are shown: a line each, on standard error. */
public final class Messages {
  private static final String FORMAT = "java.util.logging.SimpleFormatter.format";

  private Messages() {}

  /**
   * Shows warnings and errors, or what the system property {@code isobar.log} says, a level of
   * {@code java.util.logging}; to be called before anything is logged. A configuration of the JVM's
   * own stays as it is.
   */
  public static void configure() {
    if (System.getProperty("java.util.logging.config.file") != null
        || System.getProperty("java.util.logging.config.class") != null) {
      return;
    }
    if (System.getProperty(FORMAT) == null) {
      System.setProperty(FORMAT, "%1$tT.%1$tL %4$s %3$s: %5$s%6$s%n");
    }
    Level level = Level.parse(System.getProperty("isobar.log", "WARNING"));
    Logger root = Logger.getLogger("");
    root.setLevel(level);
    for (Handler handler : root.getHandlers()) {
      handler.setLevel(level);
    }
  }
}
