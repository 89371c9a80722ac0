package io.isobardb.lsm.error;

/** A transaction could not go on because of others; none of it was written, and a retry may do. */
public class TransactionAbortedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * For those below, and for other reasons.
   *
   * @param message which transaction, and why it can't go on
   */
  public TransactionAbortedException(String message) {
    super(message);
  }
}
