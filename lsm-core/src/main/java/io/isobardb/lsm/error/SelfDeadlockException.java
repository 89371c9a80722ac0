package io.isobardb.lsm.error;

/**
 * A thread asked for a lock that a transaction of its own holds: it would wait for itself.
 *
 * <p>Thrown for a write outside of the transaction, or within another one. Trying again does not
 * help, so this is no {@link TransactionAbortedException}. Nothing was written; the transaction
 * that holds the lock, and the one that asked for it, stand as before the call.
 */
public final class SelfDeadlockException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key that is locked. */
  private final byte[] key;

  /**
   * A thread would wait for itself.
   *
   * @param tree the name of the tree
   * @param key the key that is locked
   * @param message which transaction of this thread has the lock
   */
  public SelfDeadlockException(String tree, byte[] key, String message) {
    super(message);
    this.tree = tree;
    this.key = key.clone();
  }

  /** {@return the name of the tree} */
  public String tree() {
    return tree;
  }

  /** {@return the key that is locked} */
  public byte[] key() {
    return key.clone();
  }
}
