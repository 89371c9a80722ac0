package io.isobardb.lsm.error;

/**
 * The store, or a cursor or snapshot taken from it, is closed; or, as {@link TreeDroppedException},
 * the tree was dropped.
 */
public class StoreClosedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause: the caller closed the store.
   *
   * @param message what is closed
   */
  public StoreClosedException(String message) {
    super(message);
  }

  /**
   * Closed for a reason.
   *
   * @param message what is closed, and why
   * @param cause the reason
   */
  public StoreClosedException(String message, Throwable cause) {
    super(message, cause);
  }
}
