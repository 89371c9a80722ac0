package io.isobardb.bench.crash;

import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Lets every call of random workloads fail, or every k-th one, in every way. */
final class SimulatedFaults {
  private SimulatedFaults() {}

  /**
   * Runs {@code seeds} workloads from {@code seed} on, many times each; wide ones are left out.
   *
   * @param stride every how many calls fail
   * @param only the only call to fail, or -1 for all
   * @param progress is told how far it is
   */
  static Result run(long seed, long seeds, int stride, long only, Watcher progress)
      throws IOException {
    Coverage coverage = new Coverage();
    long start = System.nanoTime();
    long runs = 0;
    long told = 0;
    Violation violation = null;
    long s = seed;
    for (; s < seed + seeds && violation == null; s++) {
      FaultScript clean = new FaultScript(s, coverage);
      if (clean.isWide()) {
        continue;
      }
      long calls = clean.calls();
      long first = only >= 0 ? only : Math.floorMod(s, stride);
      long end = only >= 0 ? only + 1 : calls;
      for (long at = first; at < end && violation == null; at += stride) {
        for (FaultKind kind : FaultKind.values()) {
          FaultScript script = new FaultScript(s, coverage);
          violation = violation == null ? run(script, s, kind, at) : violation;
          runs++;
          told += script.wasTold() ? 1 : 0;
        }
        progress.at(
            String.format(
                Locale.ROOT,
                "seed %d: call %d of %d, %,d faults, %,d told",
                s,
                at,
                calls,
                runs,
                told),
            s - seed + (double) at / calls,
            seeds);
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Result(s - seed, "faults", runs, seconds, coverage.counts(), violation);
  }

  private static @Nullable Violation run(FaultScript script, long seed, FaultKind kind, long at) {
    try {
      Watchdog.run(
          "seed " + seed + ", call " + at + ", " + kind,
          watchdog -> {
            try {
              script.run(kind, at, new SplittableRandom(seed * 31 + at));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      return null;
    } catch (Throwable e) {
      AssertionError wrong = new AssertionError(kind + ": " + e.getMessage(), e);
      return new Violation(CrashScript.HOW + " --faults", seed, at, null, wrong);
    }
  }
}
