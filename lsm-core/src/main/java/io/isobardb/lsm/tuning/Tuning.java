package io.isobardb.lsm.tuning;

import io.isobardb.tuner.memory.TunerOptions;

/**
 * What a store's options say of the memory tuner.
 *
 * @param on whether it divides the memory
 * @param intervalNanos how long a cycle takes while little is written
 * @param logLimitBytes a cycle ends after this many bytes written, or twice the budget if that is
 *     more: enough for merges to show
 * @param options what it aims at and how boldly it goes; floors of 0 for what the store needs
 */
public record Tuning(boolean on, long intervalNanos, long logLimitBytes, TunerOptions options) {
  long cycleBytes(long budgetBytes) {
    return Math.max(logLimitBytes, 2 * budgetBytes);
  }
}
