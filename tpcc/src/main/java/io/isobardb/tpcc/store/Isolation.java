package io.isobardb.tpcc.store;

/** What a transaction is spared of what others do meanwhile. */
public enum Isolation {
  /** It sees what is committed at each read; rows read for update do not change until it ends. */
  READ_COMMITTED,
  /**
   * It sees what was committed at its first read, after the lock if that is a read for update; a
   * write to a row that was changed since is a conflict. TPC-C has no anomalies under it.
   */
  SNAPSHOT,
  /** As if there were no others: phantoms and write skew are conflicts, too. */
  SERIALIZABLE
}
