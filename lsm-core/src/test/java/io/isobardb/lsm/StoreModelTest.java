package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/**
 * Random histories of a whole simulated store, against a model that keeps every version.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.seeds=N} how many
 * follow each other.
 */
class StoreModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.seeds", 6);
  private static final int OPERATIONS = Integer.getInteger("isobar.model.operations", 800);

  @Test
  void everyReadAgreesWithTheModelUnderEveryOptionSet() throws Exception {
    long flushes = 0;
    long merges = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      StoreHistory history = new StoreHistory(seed);
      try {
        history.run(OPERATIONS);
      } catch (Throwable e) {
        throw new AssertionError(
            "replay with -Disobar.model.seed=" + seed + " -Disobar.model.seeds=1; " + history, e);
      }
      flushes += history.flushes();
      merges += history.merges();
    }
    assertTrue(flushes > 0 && merges > 0, flushes + " flushes, " + merges + " merges: too quiet");
  }
}
