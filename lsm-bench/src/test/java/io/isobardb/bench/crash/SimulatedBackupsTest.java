package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Progress.Watcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The short form of {@code crash-test --backups}. {@code -Disobar.crash.seed=S} sets the first
 * seed, {@code -Disobar.crash.backups=N} how many backups are made.
 */
@Tag("any-jdk")
class SimulatedBackupsTest {
  private static final long SEED = Long.getLong("isobar.crash.seed", 1);
  private static final long BACKUPS = Long.getLong("isobar.crash.backups", 20);

  @Test
  void eachBackupUnderLoadIsOfOneMomentWhateverCrashesComeInBetween() {
    System.out.println("isobar.crash.seed=" + SEED + " isobar.crash.backups=" + BACKUPS);
    Result result = SimulatedBackups.run(SEED, BACKUPS, Watcher.NONE);
    assertNull(
        result.violation(),
        () -> result.violation() == null ? "" : CrashReport.describe(result.violation()));
    assertEquals(BACKUPS, result.states());
    assertTrue(result.counts().get(Happening.RECOVERED) > 0, "no power failure");
  }
}
