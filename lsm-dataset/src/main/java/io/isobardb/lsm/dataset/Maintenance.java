package io.isobardb.lsm.dataset;

/** How an index is kept in step with the records. */
public enum Maintenance {
  /**
   * A write reads the record it replaces and removes its index entries. Writes cost a read, and
   * reads of the index alone need not look at records.
   */
  EAGER,

  /**
   * A write adds index entries and reads nothing. Entries of replaced records stay behind, stale. A
   * reader of the index looks at the record, too, and passes over what does not fit it any more.
   * Merges leave them out where that takes no read from disk, unless the index is unique or the
   * dataset unlogged; {@link Dataset#repair} removes them all.
   */
  VALIDATION
}
