package io.isobardb.lsm.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.schedule.Watched;
import java.util.Base64;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Calls of the public API that nobody would make: each gets its answer, or is refused as its
 * documentation says.
 *
 * <p>An input is a script: see {@link ApiScript}. {@code -Disobar.api.seed=S} and {@code
 * -Disobar.api.seeds=N} run scripts that are drawn at random, {@code -Disobar.api.input=BASE64} one
 * that a failure has printed.
 */
@Tag("any-jdk")
class ApiFuzzTest {
  private static final long FIRST_SEED = Long.getLong("isobar.api.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.api.seeds", 60);

  @FuzzTest(maxDuration = "10m")
  void calls(byte[] script) {
    Watched.input("calls", script, () -> ApiPlay.play(script));
  }

  @Test
  void scriptsThatAreDrawnAtRandomFindNothingWrong() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      byte[] script = ApiScript.random(seed, 20 + (int) (seed % 8) * 30, ApiPlay.LETTERS);
      try {
        calls(script);
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  @Test
  void aScriptThatWasPrintedIsPlayedAgain() {
    String input = System.getProperty("isobar.api.input");
    if (input != null) {
      calls(Base64.getDecoder().decode(input));
    }
  }
}
