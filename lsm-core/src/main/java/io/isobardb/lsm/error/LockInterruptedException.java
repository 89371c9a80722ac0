package io.isobardb.lsm.error;

/**
 * A thread was interrupted while it waited for a key that another transaction had locked, or before
 * it would have had to wait.
 *
 * <p>Nothing was written, and the thread's flag is kept: it is set after the call. A transaction
 * that asked stands as before the call, unless that was the commit. Trying again does not help as
 * long as the flag is set, so this is no {@link TransactionAbortedException}. No other wait of a
 * store is ended by an interrupt.
 */
public final class LockInterruptedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key it was about, or where a range of keys begins. */
  private final byte[] key;

  /**
   * A wait for a lock was interrupted.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction waited, and for whom
   */
  public LockInterruptedException(String tree, byte[] key, String message) {
    super(message);
    this.tree = tree;
    this.key = key.clone();
  }

  /** {@return the name of the tree} */
  public String tree() {
    return tree;
  }

  /** {@return the key it was about, or where a range of keys begins} */
  public byte[] key() {
    return key.clone();
  }
}
