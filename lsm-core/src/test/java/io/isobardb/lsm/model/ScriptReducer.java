package io.isobardb.lsm.model;

import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Makes a list that fails shorter, as long as it fails: delta debugging after Zeller. Parts are
 * taken out, halves first, then quarters, down to single elements.
 */
final class ScriptReducer {
  private static final int MOST_RUNS = 400;
  private static final long MOST_NANOS = 120_000_000_000L;

  private final int mostRuns;
  private final long start = System.nanoTime();
  private int runs;

  /**
   * @param mostRuns after so many runs, or two minutes, what was come to is good enough
   */
  ScriptReducer(int mostRuns) {
    this.mostRuns = mostRuns;
  }

  /**
   * @param list which fails
   * @param fails runs a list; must always give the same answer
   * @return a list that fails, from which, if there were runs enough, no element can be taken
   */
  <T> List<T> reduce(List<T> list, Predicate<List<T>> fails) {
    List<T> shortest = new ArrayList<>(list);
    int part = Math.max(1, shortest.size() / 2);
    while (mayGoOn()) {
      boolean shorter = false;
      for (int from = 0; from < shortest.size() && mayGoOn(); ) {
        List<T> rest = new ArrayList<>(shortest);
        rest.subList(from, Math.min(from + part, rest.size())).clear();
        runs++;
        if (fails.test(rest)) {
          shortest = rest;
          shorter = true;
        } else {
          from += part;
        }
      }
      if (part == 1 && !shorter) {
        break;
      }
      part = Math.max(1, part / 2);
    }
    return shortest;
  }

  private boolean mayGoOn() {
    return runs < mostRuns && System.nanoTime() - start < MOST_NANOS;
  }

  /**
   * Makes a script short; its first line stays.
   *
   * @param run throws an {@link AssertionError} if something is wrong
   */
  static List<String> shortened(List<String> script, Consumer<List<String>> run) {
    List<String> rest =
        new ScriptReducer(MOST_RUNS)
            .reduce(
                script.subList(1, script.size()),
                lines -> {
                  try {
                    run.accept(with(script.get(0), lines));
                    return false;
                  } catch (AssertionError e) {
                    return true;
                  }
                });
    return with(script.get(0), rest);
  }

  private static List<String> with(String first, List<String> rest) {
    List<String> lines = new ArrayList<>(List.of(first));
    lines.addAll(rest);
    return lines;
  }

  /**
   * Runs a script under a watchdog. One that fails is made short, printed, and saved in {@code
   * target}; one that hangs is saved as it is.
   *
   * @param name of the file, before the ending; and what to call the script
   * @param run as for {@link #shortened}
   * @throws AssertionError with the short script, and the file it is in
   */
  static void check(String name, List<String> script, Consumer<List<String>> run)
      throws IOException {
    Path saved = Path.of("target", name + ".script").toAbsolutePath();
    try {
      Watchdog.run(name, watchdog -> run.accept(script));
    } catch (Watchdog.HangError e) {
      Files.write(saved, script);
      throw new AssertionError(name + " hangs, " + saved + ": " + e.getMessage(), e);
    } catch (AssertionError e) {
      List<String> lines = shortened(script, run);
      Files.write(saved, lines);
      throw new AssertionError(
          name + " fails; so does this, " + saved + ":\n" + String.join("\n", lines), e);
    }
  }
}
