package io.isobardb.lsm.error;

/**
 * The store, or a cursor or snapshot taken from it, is closed; or, as {@link TreeDroppedException},
 * the tree was dropped.
 */
public class StoreClosedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  public StoreClosedException(String message) {
    super(message);
  }

  public StoreClosedException(String message, Throwable cause) {
    super(message, cause);
  }
}
