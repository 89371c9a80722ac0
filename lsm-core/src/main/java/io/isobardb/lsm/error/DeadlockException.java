package io.isobardb.lsm.error;

/** Transactions waited for each other in a circle; this one was chosen to give up. */
public final class DeadlockException extends TransactionAbortedException {
  private static final long serialVersionUID = 1L;

  /**
   * Transactions wait for each other.
   *
   * @param tree the name of the tree
   * @param key the key it was about, or where a range of keys begins
   * @param message which transactions wait for each other
   */
  public DeadlockException(String tree, byte[] key, String message) {
    super(tree, key, message);
  }
}
