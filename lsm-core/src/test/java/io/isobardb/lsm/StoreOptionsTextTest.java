package io.isobardb.lsm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.MergeSelection;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What options say of themselves can be given to another store. */
class StoreOptionsTextTest {
  @Test
  void toldAsTheyAreRead() {
    StoreOptions.Builder builder =
        StoreOptions.builder()
            .memoryBudget(100 << 20)
            .memoryTuner(
                t ->
                    t.interval(Duration.ofMinutes(3))
                        .writeWeight(2.5)
                        .readWeight(0.125)
                        .writeFloor(7 << 20)
                        .cacheFloor(9 << 20))
            .asyncSyncInterval(Duration.ofMillis(2500))
            .levels(Levels.fixed(8 << 20));
    ExperimentalOptions.set(
        builder,
        e ->
            e.tunerSamples(7)
                .tunerFixedStep(0.03125)
                .tunerMaxStep(0.25)
                .tunerBoldness(1.5)
                .tunerMinStep(3 << 20)
                .tunerMinGain(0.02)
                .mergeSelection(MergeSelection.OLDEST)
                .levelDropFactor(2.25)
                .activeTableSize(1 << 20));
    StoreOptions options = builder.build();
    assertEquals(options.toString(), read(options.toString()).toString());
    // What the process may open changes by the moment.
    StoreOptions defaults = StoreOptions.builder().maxOpenFiles(100).build();
    assertEquals(defaults.toString(), read(defaults.toString()).toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1500ms", "PT1.5S", "pt1.5s", "1.5s"})
  void durations(String text) {
    assertTrue(
        read("memoryTunerInterval=" + text).toString().contains("memoryTunerInterval=1500ms"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.5d", "PT", "soon", ""})
  void notDurations(String text) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> read("memoryTunerInterval=" + text));
    assertTrue(refused.getMessage().contains("memoryTunerInterval"), refused.getMessage());
  }

  private static StoreOptions read(String text) {
    Properties properties = new Properties();
    for (String option : text.split(" (?=[a-z])")) {
      String[] parts = option.split("=", 2);
      properties.setProperty(parts[0], parts[1]);
    }
    return StoreOptions.fromProperties(properties, "");
  }
}
