package io.isobardb.lsm.error;

/** Another transaction, or a plain write, has changed what this one read or writes. */
public final class ConflictException extends TransactionAbortedException {
  private static final long serialVersionUID = 1L;

  /** The name of the tree. */
  private final String tree;

  /** The key it was about, or where a range of keys begins. */
  private final byte[] key;

  /**
   * A transaction lost against another one.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction, what it did to the key, and what another had done
   */
  public ConflictException(String tree, byte[] key, String message) {
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
