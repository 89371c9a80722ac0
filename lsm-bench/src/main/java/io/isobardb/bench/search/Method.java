package io.isobardb.bench.search;

/** How a search comes to the next setting. */
enum Method {
  /** Where a Gaussian process expects the most. */
  GP,
  /** Where a random forest expects the most, and every eleventh time anywhere. */
  FOREST,
  /** Anywhere. */
  RANDOM,
  /** Each in turn of values spread evenly. */
  GRID;

  /** Whether it learns from what was run. */
  boolean learns() {
    return this == GP || this == FOREST;
  }
}
