package io.isobardb.lsm.tuning;

import io.isobardb.lsm.MemoryTunerOptions;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.tuner.memory.TunerOptions;
import org.jspecify.annotations.Nullable;

/**
 * What a store's options say of the memory tuner, and of planning levels, and of choosing runs.
 *
 * @param on whether it divides the memory
 * @param intervalNanos how long a cycle takes while little is written
 * @param logLimitBytes a cycle lasts until this many bytes were written, or longer; see {@link
 *     CycleRules}
 * @param options what it aims at and how boldly it goes; floors of 0 for what the store needs
 * @param levels how levels are shaped, if their sizes are to be planned; else null
 * @param shaping whether trees get other runs, and what a model has to know for that
 */
public record Tuning(
    boolean on,
    long intervalNanos,
    long logLimitBytes,
    TunerOptions options,
    @Nullable LevelingOptions levels,
    Shaping shaping) {

  /**
   * What is said of runs.
   *
   * @param adaptation whether the store chooses them
   * @param filtersByLevel whether small levels have larger filters
   * @param l0Start groups of L0 from which on it is merged down
   */
  public record Shaping(Adaptation adaptation, boolean filtersByLevel, int l0Start) {}

  /** What these options say. */
  public static Tuning of(StoreOptions options) {
    MemoryTunerOptions tuner = options.memoryTuner();
    ExperimentalOptions chosen = ExperimentalOptions.of(options);
    return new Tuning(
        tuner.on(),
        tuner.interval().toNanos(),
        options.logLimit(),
        new TunerOptions(
            tuner.writeWeight(),
            tuner.readWeight(),
            chosen.tunerSamples(),
            chosen.tunerFixedStep(),
            chosen.tunerMaxStep(),
            chosen.tunerBoldness(),
            chosen.tunerMinStep(),
            chosen.tunerMinGain(),
            tuner.writeFloor(),
            tuner.cacheFloor(),
            TunerOptions.DEFAULT.floorShare()),
        options.levels().kind() == Levels.Kind.OPTIMISED ? LevelingOptions.of(options) : null,
        new Shaping(chosen.adaptation(), chosen.filtersByLevel(), chosen.l0StartGroups()));
  }

  /** Whether anything is decided at all. */
  public boolean decides() {
    return on || levels != null;
  }
}
