package io.isobardb.cli.console;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Says how far long work is, in one line of the terminal that is overwritten. Silent if standard
 * error is no terminal.
 *
 * <p>Not thread-safe.
 */
public final class Progress implements AutoCloseable {
  private static final String CLEAR_LINE = "\r\u001b[K";
  private static final int MOST_COLUMNS = 110;

  /** An earlier guess at what is left would jump. */
  private static final double LEAST_SECONDS = 3;

  private static final double LEAST_SHARE = 0.01;

  /** What is told how far work is: a {@link Progress}, or whoever else wants to know. */
  @FunctionalInterface
  public interface Watcher {
    /** Tells nobody. */
    Watcher NONE = (text, done, all) -> {};

    /**
     * As {@link Progress#update(String, double, double)}.
     *
     * @param text what is being done
     * @param done of {@code all}
     * @param all in any unit
     */
    void at(String text, double done, double all);
  }

  private final PrintStream out;
  private final boolean terminal;
  private final LongSupplier nanoTime;
  private long stageNanos;
  private boolean lineOpen;

  /** {@return progress on standard error; silent if that is no terminal} */
  public static Progress onStandardError() {
    return new Progress(System.err, isTerminal(), System::nanoTime);
  }

  Progress(PrintStream out, boolean terminal, LongSupplier nanoTime) {
    this.out = out;
    this.terminal = terminal;
    this.nanoTime = nanoTime;
    this.stageNanos = nanoTime.getAsLong();
  }

  /** The launcher can tell; without it, Linux can. */
  private static boolean isTerminal() {
    if (Boolean.getBoolean("isobar.terminal")) {
      return true;
    }
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** {@return whether anything is shown} */
  public boolean isShown() {
    return terminal;
  }

  /**
   * A new stage of the work began: what is left is counted from here.
   *
   * @param text on one line
   */
  public void stage(String text) {
    stageNanos = nanoTime.getAsLong();
    update(text);
  }

  /**
   * The stage went on.
   *
   * @param text on one line, in place of the one before
   */
  public void update(String text) {
    show(text, "");
  }

  private void show(String text, String end) {
    if (terminal) {
      int room = MOST_COLUMNS - end.length();
      String shown = text.length() > room ? text.substring(0, room).stripTrailing() : text;
      out.print(CLEAR_LINE + shown + end);
      out.flush();
      lineOpen = true;
    }
  }

  /**
   * Says something that stays on the screen.
   *
   * @param text on one line
   */
  public void note(String text) {
    if (terminal) {
      close();
      out.println(text);
    }
  }

  /**
   * As {@link #update(String)}, with the time that the stage may still take.
   *
   * @param text on one line, in place of the one before
   * @param done the part of the stage's work that is done, of {@code all}
   * @param all in the unit of {@code done}
   */
  public void update(String text, double done, double all) {
    double seconds = (nanoTime.getAsLong() - stageNanos) / 1e9;
    double share = done / all;
    boolean known = seconds >= LEAST_SECONDS && share >= LEAST_SHARE && share <= 1;
    show(text, known ? ", " + about(seconds * (1 - share) / share) + " left" : "");
  }

  /**
   * {@return a length of time for people: "about 40 s", "about 3 min", "about 2.5 h"}
   *
   * @param seconds 0 or more
   */
  public static String about(double seconds) {
    if (seconds < 90) {
      return String.format(Locale.ROOT, "about %.0f s", Math.ceil(seconds));
    }
    return seconds < 5400
        ? String.format(Locale.ROOT, "about %.0f min", seconds / 60)
        : String.format(Locale.ROOT, "about %.1f h", seconds / 3600);
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
