/** Decisions on memory, and models of what LSM-trees cost: pure functions of numbers. */
module io.isobardb.tuner {
  requires static org.jspecify;

  exports io.isobardb.tuner.memory;
  exports io.isobardb.tuner.model;
}
