/**
 * Decisions on memory, models of what LSM-trees cost, and of workloads: pure functions of numbers.
 */
module io.isobardb.tuner {
  requires static org.jspecify;

  exports io.isobardb.tuner.memory;
  exports io.isobardb.tuner.model;
  exports io.isobardb.tuner.shape;
  exports io.isobardb.tuner.workload;
}
