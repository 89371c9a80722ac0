package io.isobardb.bench.console;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;

/**
 * Says on standard error how far long work is: on a terminal one line that is overwritten, else a
 * plain line per stage, and one a minute.
 *
 * <p>Whether standard error is a terminal is told by the launcher ({@code isobar.terminal}), since
 * the JVM can't see it. Not thread-safe.
 */
public final class Progress implements AutoCloseable {
  private static final String CLEAR_LINE = "\r\u001b[K";

  private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final PrintStream out;
  private final boolean terminal;
  private boolean lineOpen;
  private long shownNanos = System.nanoTime();

  /** Progress on standard error. */
  public static Progress onStandardError() {
    return new Progress(System.err, Boolean.getBoolean("isobar.terminal"));
  }

  Progress(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** A new stage of the work began. */
  public void stage(String text) {
    if (terminal) {
      update(text);
    } else {
      out.println(text);
    }
  }

  /** The stage went on: shown at once on a terminal, in a log once a minute. */
  public void update(String text) {
    long now = System.nanoTime();
    if (!terminal && now - shownNanos > LOG_INTERVAL_NANOS) {
      shownNanos = now;
      out.println(text);
    }
    if (terminal) {
      out.print(CLEAR_LINE + (text.length() > 110 ? text.substring(0, 110) : text));
      out.flush();
      lineOpen = true;
    }
  }

  /** Clears the line, so that what follows starts on an empty one. */
  @Override
  public void close() {
    if (lineOpen) {
      out.print(CLEAR_LINE);
      out.flush();
      lineOpen = false;
    }
  }
}
