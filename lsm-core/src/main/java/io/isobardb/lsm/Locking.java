package io.isobardb.lsm;

/** When a transaction finds out that others write the same keys. */
public enum Locking {
  /** When it commits: until then it waits for nobody, and nobody for it. */
  OPTIMISTIC,

  /**
   * When it writes a key, or reads it for update: it locks the key, or waits for the transaction
   * that did.
   */
  PESSIMISTIC
}
