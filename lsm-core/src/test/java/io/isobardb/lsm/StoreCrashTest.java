package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Power fails; what is opened afterwards is a prefix of what was written.
 *
 * <p>{@code -Disobar.crash.seed=S} sets the first seed, {@code -Disobar.crash.seeds=N} how many
 * longer workloads follow.
 */
class StoreCrashTest {
  private static final long FIRST_SEED = Long.getLong("isobar.crash.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.crash.seeds", 3);

  @Test
  void atEveryMomentOfAShortScriptEveryKindOfCrashLeavesAPrefix() throws Exception {
    run(FIRST_SEED, 2, 2, 30, 400);
  }

  @Test
  void atSomeMomentsOfLongWorkloadsACrashLeavesAPrefix() throws Exception {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      run(seed, 0.04, 3, 250, 2500);
    }
  }

  private static void run(long seed, double share, int sessions, int operations, int valueBytes) {
    CrashScript script = new CrashScript(seed, share);
    try {
      script.run(sessions, operations, valueBytes);
    } catch (Throwable e) {
      throw new AssertionError(
          "replay with -Disobar.crash.seed=" + seed + " -Disobar.crash.seeds=1", e);
    }
    assertTrue(script.states() > 20, script.states() + " states: too few");
  }
}
