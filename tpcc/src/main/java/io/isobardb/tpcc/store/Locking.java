package io.isobardb.tpcc.store;

/** When a conflict is found. */
public enum Locking {
  /** At the access: the row is locked, others wait; deadlocks are found. */
  PESSIMISTIC,
  /** At the commit, which fails. */
  OPTIMISTIC
}
