package io.isobardb.bench.experiment;

/** An experiment on simulated stores: what it counts is the same on every machine. */
interface SimulatedExperiment extends VirtualExperiment {
  /** Enough for a disk with the usual records and log. */
  @Override
  default long heapBytes(Scale scale) {
    return SimulatedRig.heapBytes(scale.count(Bench.RECORDS), scale.log(Bench.LOG_GIGABYTES));
  }
}
