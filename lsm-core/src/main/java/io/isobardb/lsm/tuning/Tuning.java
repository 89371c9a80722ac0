package io.isobardb.lsm.tuning;

import io.isobardb.tuner.memory.TunerOptions;

/**
 * What a store's options say of the memory tuner.
 *
 * @param on whether it divides the memory
 * @param intervalNanos how long a cycle takes while little is written
 * @param logLimitBytes a cycle lasts until this many bytes were written, or longer; see {@link
 *     CycleRules}
 * @param options what it aims at and how boldly it goes; floors of 0 for what the store needs
 */
public record Tuning(boolean on, long intervalNanos, long logLimitBytes, TunerOptions options) {}
