package io.isobardb.bench.experiment;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.StoreOptions;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * What all points of a run have in common. Immutable.
 *
 * @param scale by which points are made
 * @param seeds of all choices, of which each point has one
 * @param threads that do operations
 * @param options of the stores, by name; what an experiment sets itself comes before them
 */
record RunSettings(Scale scale, List<Long> seeds, int threads, Map<String, String> options) {
  RunSettings {
    seeds = List.copyOf(seeds);
    options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
  }

  /**
   * Options for a store of which nothing is set but these.
   *
   * @throws UsageException if one is unknown, or out of its range
   */
  StoreOptions.Builder storeOptions() {
    Properties properties = new Properties();
    options.forEach(properties::setProperty);
    return UsageException.ofArguments(() -> StoreOptions.fromProperties(properties, ""))
        .toBuilder();
  }
}
