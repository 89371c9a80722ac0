package io.isobardb.lsm.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.io.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random scripts against a model, crashes included. One that fails is made short, printed, and
 * written to a file, which is to stay among the scripts in the resources with the fix.
 *
 * <p>{@code -Disobar.script.seeds=N} runs more, {@code -Disobar.script.seed=S} others, {@code
 * -Disobar.script=FILE} one that was saved.
 */
@Tag("any-jdk")
class StoreScriptTest {
  private static final long FIRST_SEED = Long.getLong("isobar.script.seed", 1);
  private static final int SEEDS = Integer.getInteger("isobar.script.seeds", 5);
  private static final int LINES = Integer.getInteger("isobar.script.lines", 120);

  private static void run(List<String> script) {
    ScriptRun.run(script, UnaryOperator.identity());
  }

  @Test
  void randomScriptsAgreeWithTheModel() throws IOException {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      ScriptReducer.check("seed-" + seed, StoreScript.random(seed, LINES), StoreScriptTest::run);
    }
  }

  @Test
  void oneHistoryEndsTheSameUnderEveryOptionSet() {
    List<String> script = StoreScript.random(FIRST_SEED, LINES);
    for (StoreOptions options : ScriptOptions.sets()) {
      try {
        ScriptRun.run(script, UnaryOperator.identity(), number -> options);
      } catch (AssertionError e) {
        throw new AssertionError("seed " + FIRST_SEED + " with " + options + ": " + e, e);
      }
    }
  }

  /** Scripts that failed once, and some that are worth keeping. */
  @ParameterizedTest
  @ValueSource(strings = {"crashes-between-flushes", "snapshot-over-merges"})
  void savedScriptsPass(String name) throws IOException {
    try (InputStream file = getClass().getResourceAsStream("scripts/" + name + ".script")) {
      run(new String(requireNonNull(file, name).readAllBytes(), UTF_8).lines().toList());
    }
  }

  @Test
  void aScriptThatWasSavedIsRunAgain() throws IOException {
    String file = System.getProperty("isobar.script");
    if (file != null) {
      run(Files.readAllLines(Path.of(file)));
    }
  }

  // ---- planted bugs

  @ParameterizedTest
  @ValueSource(strings = {".log", ".sst"})
  void aPlantedBugIsShownByAScriptOfAFewLines(String neverSynced) {
    UnaryOperator<Storage> disks = disk -> PlantedDisk.without(disk, neverSynced, "sync");
    for (long seed = 1; ; seed++) {
      assertTrue(seed < 50, "no script has found the planted bug");
      List<String> script = StoreScript.random(seed, LINES);
      try {
        ScriptRun.run(script, disks);
      } catch (AssertionError e) {
        List<String> lines = ScriptReducer.shortened(script, some -> ScriptRun.run(some, disks));
        System.out.println(neverSynced + " never synced: " + lines);
        assertTrue(lines.size() <= 4, () -> "not short: " + lines);
        assertTrue(lines.stream().anyMatch(line -> line.startsWith("crash")), lines::toString);
        // It is the bug that the script shows.
        run(lines);
        return;
      }
    }
  }

  @Test
  void onlyWhatIsNeededIsLeft() {
    List<Integer> numbers = IntStream.range(0, 500).boxed().toList();
    List<Integer> needed = List.of(3, 170, 171, 499);
    assertEquals(
        needed, new ScriptReducer(10_000).reduce(numbers, list -> list.containsAll(needed)));
    List<Integer> some = new ScriptReducer(5).reduce(numbers, list -> list.contains(7));
    assertFalse(some.isEmpty());
    assertTrue(some.contains(7) && some.size() < 500);
  }
}
