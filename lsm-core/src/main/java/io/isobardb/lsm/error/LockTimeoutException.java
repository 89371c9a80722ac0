package io.isobardb.lsm.error;

/** A key stayed locked by another transaction for longer than this one would wait. */
public final class LockTimeoutException extends TransactionAbortedException {
  private static final long serialVersionUID = 1L;

  /**
   * A lock was not to be had in time.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transaction waited, how long, and for whom
   */
  public LockTimeoutException(String tree, byte[] key, String message) {
    super(tree, key, message);
  }
}
