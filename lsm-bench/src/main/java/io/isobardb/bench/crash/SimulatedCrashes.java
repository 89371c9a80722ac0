package io.isobardb.bench.crash;

import io.isobardb.bench.crash.CrashScript.Crashes;
import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.simulation.Watchdog;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs crash scripts, seed after seed, up to the first violation. */
final class SimulatedCrashes {
  /**
   * What came of it.
   *
   * @param seeds scripts that were run
   * @param what what was checked, for people
   * @param states how many of those
   * @param seconds how long it took
   * @param counts what happened, and how often
   * @param violation the first thing found wrong, or null
   */
  record Result(
      long seeds,
      String what,
      long states,
      double seconds,
      Map<Happening, Long> counts,
      @Nullable Violation violation) {
    double statesPerSecond() {
      return states / Math.max(1e-3, seconds);
    }
  }

  private SimulatedCrashes() {}

  /**
   * Runs {@code seeds} scripts from {@code seed} on.
   *
   * @param progress is told after each how far it is
   */
  static Result run(long seed, long seeds, Crashes crashes, Watcher progress) {
    Coverage coverage = new Coverage();
    long start = System.nanoTime();
    long states = 0;
    long done = 0;
    Violation violation = null;
    while (done < seeds && violation == null) {
      long each = seed + done;
      AtomicReference<@Nullable CrashScript> script = new AtomicReference<>();
      AtomicReference<@Nullable Violation> found = new AtomicReference<>();
      try {
        Watchdog.run(
            "seed " + each,
            watchdog -> {
              CrashScript fresh = new CrashScript(each, crashes, coverage);
              script.set(fresh);
              found.set(fresh.run());
            });
        violation = found.get();
      } catch (Watchdog.HangError e) {
        violation = new Violation(CrashScript.HOW, each, -1, null, e);
      }
      CrashScript run = script.get();
      states += run == null ? 0 : run.states();
      done++;
      double seconds = seconds(start);
      progress.at(
          String.format(
              Locale.ROOT,
              "seed %d: %d of %d scripts, %,d states, %.0f per second",
              seed + done - 1,
              done,
              seeds,
              states,
              states / Math.max(1e-3, seconds)),
          done,
          seeds);
    }
    return new Result(done, "crash states", states, seconds(start), coverage.counts(), violation);
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
