package io.isobardb.bench.search;

import java.util.List;

/**
 * What a search is for.
 *
 * @param metric to be as good as it can be
 * @param bounds that have to be kept
 */
record Goal(Metric metric, List<Bound> bounds) {
  Goal {
    bounds = List.copyOf(bounds);
  }
}
