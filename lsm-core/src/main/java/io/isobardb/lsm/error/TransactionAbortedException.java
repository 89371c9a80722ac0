package io.isobardb.lsm.error;

/** A transaction could not go on because of others; none of it was written, and a retry may do. */
public class TransactionAbortedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key it was about, or where a range of keys begins. */
  private final byte[] key;

  /**
   * For those below, and for other reasons.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction, and why it can't go on
   */
  public TransactionAbortedException(String tree, byte[] key, String message) {
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
