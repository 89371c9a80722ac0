package io.isobardb.bench.experiment;

/** An experiment in virtual time: what it measures is the same on every machine. */
interface VirtualExperiment extends Experiment {
  /** On a simulated clock nothing has to be rehearsed. */
  @Override
  default boolean rehearses() {
    return false;
  }
}
