package io.isobardb.lsm.dataset;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.simulation.Watchdog;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Random histories of a dataset against a plain map, with crashes.
 *
 * <p>{@code -Disobar.seed=S} sets the first seed, {@code -Disobar.dataset.seeds=N} how many there
 * are.
 */
class DatasetModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.dataset.seeds", 4);

  @Test
  void aDatasetGivesWhatALookAtAllRecordsWould() {
    int crashes = 0;
    int stale = 0;
    int duplicates = 0;
    long dropped = 0;
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      String replay = "replay with -Disobar.seed=" + seed + " -Disobar.dataset.seeds=1";
      AtomicReference<DatasetHistory> watched = new AtomicReference<>();
      try {
        long each = seed;
        Watchdog.run(
            replay,
            watchdog -> {
              watched.set(new DatasetHistory(each));
              watched.get().run(120);
            });
      } catch (RuntimeException | Error e) {
        throw new AssertionError(replay + "; " + watched.get(), e);
      }
      DatasetHistory history = watched.get();
      crashes += history.crashes();
      stale += history.stale();
      duplicates += history.duplicates();
      dropped += history.dropped();
    }
    if (SEEDS >= 4) {
      assertTrue(crashes > 3, "crashes: " + crashes);
      assertTrue(stale > 20, "stale entries: " + stale);
      assertTrue(duplicates > 20, "duplicates: " + duplicates);
      assertTrue(dropped > 0, "dropped by merges: " + dropped);
    }
  }
}
