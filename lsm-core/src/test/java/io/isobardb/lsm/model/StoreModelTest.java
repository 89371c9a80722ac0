package io.isobardb.lsm.model;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.io.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Random histories of a whole simulated store, against a model that keeps every version. One that
 * fails is made short, printed, and written to a file.
 *
 * <p>{@code -Disobar.model.seed=S} sets the first seed, {@code -Disobar.model.seeds=N} how many
 * follow each other; {@code -Disobar.model.script=FILE} runs one that was saved.
 */
class StoreModelTest {
  private static final long FIRST_SEED = Long.getLong("isobar.model.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.model.seeds", 4);
  private static final int OPERATIONS = Integer.getInteger("isobar.model.operations", 800);

  private long flushes;
  private long merges;
  private long refused;

  private void run(List<String> script) {
    StoreHistory history = new StoreHistory(script);
    history.run();
    flushes += history.flushes();
    merges += history.merges();
    refused += history.refused();
  }

  @Test
  void everyReadAgreesWithTheModelUnderEveryOptionSet() throws IOException {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      ScriptReducer.check("model-seed-" + seed, HistoryScript.random(seed, OPERATIONS), this::run);
    }
    assertTrue(flushes > 0 && merges > 0, flushes + " flushes, " + merges + " merges: too quiet");
    assertTrue(refused > 0, "no write was refused");
  }

  @Test
  void aHistoryThatWasSavedIsRunAgain() throws IOException {
    String file = System.getProperty("isobar.model.script");
    if (file != null) {
      run(Files.readAllLines(Path.of(file)));
    }
  }

  @Test
  void aPlantedBugIsShownByAHistoryOfAFewLines() {
    UnaryOperator<Storage> disks = disk -> PlantedDisk.without(disk, ".sst", "write");
    List<String> script = HistoryScript.random(FIRST_SEED + 3, OPERATIONS);
    List<String> lines =
        ScriptReducer.shortened(script, some -> new StoreHistory(some, disks).run());
    System.out.println(".sst never written: " + lines);
    assertTrue(lines.size() <= 4, () -> "not short: " + lines);
    // It is the bug that the history shows.
    run(lines);
  }
}
