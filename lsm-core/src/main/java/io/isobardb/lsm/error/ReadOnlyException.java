package io.isobardb.lsm.error;

/** The store was opened to be read only; nothing was written. */
public final class ReadOnlyException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Nothing was done.
   *
   * @param message which store, and what was asked of it
   */
  public ReadOnlyException(String message) {
    super(message);
  }
}
