package io.isobardb.lsm.sstable;

/** What pages are read for, which says what becomes of them in the buffer cache. */
public enum AccessMode {
  /** A client's read: what it reads is hot. */
  QUERY,
  /** A merge: what it reads must not displace what clients read. */
  MERGE
}
