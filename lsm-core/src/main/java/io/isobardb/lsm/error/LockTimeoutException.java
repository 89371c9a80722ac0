package io.isobardb.lsm.error;

/** A key stayed locked by another transaction for longer than this one would wait. */
public final class LockTimeoutException extends TransactionAbortedException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key it was about, or where a range of keys begins. */
  private final byte[] key;

  /**
   * A lock was not to be had in time.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction waited, how long, and for whom
   */
  public LockTimeoutException(String tree, byte[] key, String message) {
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
