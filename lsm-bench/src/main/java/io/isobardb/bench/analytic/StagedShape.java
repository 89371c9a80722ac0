package io.isobardb.bench.analytic;

/**
 * The shape that COLA and SAMT share: stages that take so many merges from the stage before.
 *
 * @param bufferEntries requests that the first stage takes at a time; more than 0
 * @param growth merges that a stage takes before it is merged into the next, 2 or more
 */
record StagedShape(double bufferEntries, int growth) {
  private static final int MAX_STAGES = 64;

  StagedShape {
    if (!(bufferEntries > 0)) {
      throw new IllegalArgumentException("the buffer must hold more than 0, not " + bufferEntries);
    }
    if (growth < 2) {
      throw new IllegalArgumentException("the growth factor must be 2 or more, not " + growth);
    }
  }

  /** Stages on disk: the last one is the first that could hold all keys. */
  int stages(double keys) {
    int stages = 1;
    for (double holds = bufferEntries * growth; holds < keys; holds *= growth) {
      stages++;
      if (stages > MAX_STAGES) {
        throw new IllegalArgumentException("too many stages for " + keys + " keys");
      }
    }
    return stages;
  }
}
