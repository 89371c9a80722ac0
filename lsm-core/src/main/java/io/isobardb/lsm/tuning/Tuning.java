package io.isobardb.lsm.tuning;

import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.tuner.memory.TunerOptions;
import org.jspecify.annotations.Nullable;

/**
 * What a store's options say of the memory tuner, and of planning levels.
 *
 * @param on whether it divides the memory
 * @param intervalNanos how long a cycle takes while little is written
 * @param logLimitBytes a cycle lasts until this many bytes were written, or longer; see {@link
 *     CycleRules}
 * @param options what it aims at and how boldly it goes; floors of 0 for what the store needs
 * @param levels how levels are shaped, if their sizes are to be planned; else null
 */
public record Tuning(
    boolean on,
    long intervalNanos,
    long logLimitBytes,
    TunerOptions options,
    @Nullable LevelingOptions levels) {

  /** Whether anything is decided at all. */
  public boolean decides() {
    return on || levels != null;
  }
}
