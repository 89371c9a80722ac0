package io.isobardb.tuner.model;

/**
 * Estimates what inserts cost in one design of a log-structured store, once it is as full as it
 * gets. Implementations are immutable and pure.
 */
public interface WriteModel {
  /** The cost of an insert under this popularity of keys. */
  WriteCost cost(Popularity popularity);
}
