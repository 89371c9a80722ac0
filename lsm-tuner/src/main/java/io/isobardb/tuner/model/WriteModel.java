package io.isobardb.tuner.model;

/**
 * Estimates what inserts cost in one design of a log-structured store, once it is as full as it
 * gets. Implementations are immutable and pure.
 */
public interface WriteModel {
  /**
   * {@return the cost of an insert under this popularity of keys}
   *
   * @param popularity of the keys of one tree
   */
  WriteCost cost(Popularity popularity);
}
