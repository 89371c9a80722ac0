package io.isobardb.bench.search;

import java.util.Map;

/**
 * What a process is to run.
 *
 * @param kind in virtual time, simulated, or a recording
 * @param load its name among those of its kind, or the recording's file
 * @param part by which its usual sizes are multiplied
 * @param seconds how long requests arrive in virtual time
 * @param options of store and tree, by name
 * @param seed of all choices
 */
record TuneSpec(
    String kind, String load, double part, double seconds, Map<String, String> options, long seed) {
  static final String VIRTUAL = "virtual";
  static final String SIMULATED = "simulated";
  static final String RECORDED = "recorded";
}
