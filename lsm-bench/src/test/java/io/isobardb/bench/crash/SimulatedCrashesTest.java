package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.crash.CrashScript.Crashes;
import io.isobardb.bench.crash.SimulatedCrashes.Result;
import io.isobardb.cli.console.Progress.Watcher;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The short form of {@code crash-test --simulated}. {@code -Disobar.crash.seed=S} sets the first
 * seed, {@code -Disobar.crash.seeds=N} how many scripts there are, {@code -Disobar.crash.stride=K}
 * at which mutating calls they crash.
 */
@Tag("any-jdk")
class SimulatedCrashesTest {
  private static final long SHORT_SEED = 64;
  private static final long SHORT_SEEDS = 24;
  private static final long SEED = Long.getLong("isobar.crash.seed", SHORT_SEED);
  private static final long SEEDS = Long.getLong("isobar.crash.seeds", SHORT_SEEDS);
  private static final int STRIDE = Integer.getInteger("isobar.crash.stride", 197);
  private static final EnumSet<Survival> ALL = EnumSet.allOf(Survival.class);

  @Test
  void afterAnyCrashOfARandomScriptNothingIsLostTornOrMadeUpAndTheScriptsDoAllThereIs() {
    System.out.println("isobar.crash.seed=" + SEED + " isobar.crash.seeds=" + SEEDS);
    Result result = SimulatedCrashes.run(SEED, SEEDS, new Crashes(STRIDE, ALL, -1), Watcher.NONE);
    assertNull(
        result.violation(),
        () -> result.violation() == null ? "" : CrashReport.describe(result.violation()));
    if (SEED == SHORT_SEED && SEEDS == SHORT_SEEDS) {
      List<Happening> missing =
          result.counts().entrySet().stream()
              .filter(happening -> happening.getValue() == 0)
              .map(Map.Entry::getKey)
              .toList();
      assertEquals(List.of(), missing, "what never happened");
      assertTrue(result.states() > 300, result.states() + " states: too few");
    }
  }

  @Test
  void aSeedReplaysItsScriptWhateverCrashesAreLookedAt() {
    CrashScript often = new CrashScript(SEED, new Crashes(29, ALL, -1), new Coverage());
    CrashScript once =
        new CrashScript(SEED, new Crashes(1, EnumSet.of(Survival.ALL), 40), new Coverage());
    assertNull(often.run());
    assertNull(once.run());
    assertTrue(often.states() > once.states());
    assertEquals(often.traceHash(), once.traceHash());
  }
}
