package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Many short histories in which features meet that other histories have one by one.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.combined=N} how many
 * follow each other; {@code -Disobar.model.script=FILE} runs one that was saved.
 */
class CombinedHistoryTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.combined", 4);
  private static final int OPERATIONS = Integer.getInteger("isobar.model.operations", 150);

  private long merges;
  private long states;

  private void run(List<String> script) {
    try {
      CombinedHistory history = new CombinedHistory(script);
      history.run();
      merges += history.merges();
      states += history.states();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whateverMeetsNothingIsLost() throws IOException {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      ScriptReducer.check(
          "combined-seed-" + seed, CombinedHistory.random(seed, OPERATIONS), this::run);
    }
    assertTrue(merges > 0 && states > 0, merges + " merges, " + states + " crashes: too quiet");
  }

  @Test
  void aHistoryThatWasSavedIsRunAgain() throws IOException {
    String file = System.getProperty("isobar.model.script");
    if (file != null) {
      run(Files.readAllLines(Path.of(file)));
    }
  }
}
