package io.isobardb.lsm.error;

/** Another transaction, or a plain write, has changed what this one read or writes. */
public final class ConflictException extends TransactionAbortedException {
  private static final long serialVersionUID = 1L;

  /**
   * A transaction lost against another one.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction, what it did to the key, and what another had done
   */
  public ConflictException(String tree, byte[] key, String message) {
    super(tree, key, message);
  }
}
