package io.isobardb.bench.crash;

import io.isobardb.bench.crash.CrashScript.Violation;
import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.lsm.simulation.Watchdog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs backup scripts, seed after seed, up to a number of backups or the first violation. */
final class SimulatedBackups {
  /** How many backups have a store in common. */
  private static final int OF_A_STORE = 25;

  private SimulatedBackups() {}

  /**
   * Makes {@code backups} backups.
   *
   * @param seed of the first store's script
   * @param progress is told after each store how far it is
   */
  static Result run(long seed, long backups, Watcher progress) {
    Coverage coverage = new Coverage();
    long start = System.nanoTime();
    long restored = 0;
    long crashes = 0;
    long stores = 0;
    Violation violation = null;
    while (restored < backups && violation == null) {
      int count = (int) Math.min(OF_A_STORE, backups - restored);
      AtomicReference<@Nullable BackupScript> script = new AtomicReference<>();
      violation = run(seed + stores, count, coverage, script);
      stores++;
      BackupScript done = script.get();
      restored += done == null ? 0 : done.restored();
      crashes += done == null ? 0 : done.crashes();
      progress.at(
          String.format(
              Locale.ROOT,
              "%,d of %,d backups of %,d stores, %,d crashes",
              restored,
              backups,
              stores,
              crashes),
          restored,
          backups);
    }
    String what =
        String.format(
            Locale.ROOT, "backups restored, each of one moment, beside %,d crashes,", crashes);
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Result(stores, what, restored, seconds, coverage.counts(), violation);
  }

  private static @Nullable Violation run(
      long seed, int count, Coverage coverage, AtomicReference<@Nullable BackupScript> script) {
    AtomicReference<@Nullable Violation> found = new AtomicReference<>();
    try {
      Watchdog.run(
          "seed " + seed,
          watchdog -> {
            try {
              BackupScript fresh = new BackupScript(seed, count, coverage);
              script.set(fresh);
              found.set(fresh.run());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      return found.get();
    } catch (Watchdog.HangError e) {
      return new Violation("--backups " + count, seed, -1, null, e);
    }
  }
}
