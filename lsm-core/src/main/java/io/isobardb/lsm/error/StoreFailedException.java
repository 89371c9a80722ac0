package io.isobardb.lsm.error;

/**
 * A background error or a failed sync stopped the store from writing. Reads go on; to write again,
 * close the store, mend the cause that is given, and open it anew.
 *
 * <p>The outcome of the write that throws this is unknown: others may see it until the store is
 * closed, and it is there after the next opening, or not.
 */
public final class StoreFailedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause.
   *
   * @param message what the store can't do any more
   */
  public StoreFailedException(String message) {
    super(message);
  }

  /**
   * With a cause.
   *
   * @param message what the store can't do any more
   * @param cause the first failure, such as that of a sync
   */
  public StoreFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
