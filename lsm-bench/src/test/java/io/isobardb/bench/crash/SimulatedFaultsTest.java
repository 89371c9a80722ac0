package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Progress.Watcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The short form of {@code crash-test --simulated --faults}. {@code -Disobar.crash.seed=S} sets the
 * first seed, {@code -Disobar.fault.stride=K} which calls fail.
 */
@Tag("any-jdk")
class SimulatedFaultsTest {
  private static final long SEED = Long.getLong("isobar.crash.seed", 1);
  private static final int STRIDE = Integer.getInteger("isobar.fault.stride", 211);

  @Test
  void aCallThatFailsOnceOrForEverOrForWantOfRoomIsToldAndLosesNothing() throws Exception {
    System.out.println("isobar.crash.seed=" + SEED + " isobar.fault.stride=" + STRIDE);
    Result result = SimulatedFaults.run(SEED, 4, STRIDE, -1, Watcher.NONE);
    assertNull(
        result.violation(),
        () -> result.violation() == null ? "" : CrashReport.describe(result.violation()));
    assertTrue(result.states() > 20, result.states() + " faults: too few");
  }
}
