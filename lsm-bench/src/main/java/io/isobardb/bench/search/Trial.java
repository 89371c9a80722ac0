package io.isobardb.bench.search;

import java.util.List;
import java.util.Map;

/**
 * One run of a setting, and what came of it. Immutable.
 *
 * @param phase why it was run
 * @param setting a value for each knob; of the defaults those that they have
 * @param seed of the run
 * @param seconds it took
 * @param failure why it came to nothing; empty if it did not
 * @param figures by metric; none if it failed
 */
record Trial(
    Phase phase,
    List<String> setting,
    long seed,
    double seconds,
    String failure,
    Map<Metric, Double> figures) {
  /** Why a setting is run. */
  enum Phase {
    /** What a store has if nothing is set: to compare with. */
    DEFAULTS,
    /** The search wants to know. */
    SEARCH,
    /** It is the best one so far, which may be luck. */
    REPEAT,
    /** The best one without one of its knobs. */
    WITHOUT,
    /** The best one, in turns with the defaults. */
    PAIR_BEST,
    /** The defaults, in turns with the best one. */
    PAIR_DEFAULTS
  }

  Trial {
    setting = List.copyOf(setting);
    figures = Map.copyOf(figures);
  }

  boolean isFailed() {
    return !failure.isEmpty();
  }

  /** The figure of a metric; NaN if it failed. */
  double figure(Metric metric) {
    return figures.getOrDefault(metric, Double.NaN);
  }
}
