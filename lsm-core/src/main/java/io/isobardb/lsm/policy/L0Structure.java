package io.isobardb.lsm.policy;

/** How L0 is kept: where a flushed SSTable goes, and which one leaves first. */
public enum L0Structure {
  /** Every SSTable is a group of its own: a list by age, as without range partitioning. */
  ORIGINAL,
  /** Groups of disjoint SSTables; the leftmost SSTable of the oldest group leaves first. */
  GROUPED,
  /** Groups; the smallest leaves first, by the SSTable with the least to rewrite in L1. */
  GREEDY_GROUPED
}
