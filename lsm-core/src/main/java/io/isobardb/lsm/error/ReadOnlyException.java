package io.isobardb.lsm.error;

/** The store was opened to be read only; nothing was written. */
public final class ReadOnlyException extends IsobarException {
  private static final long serialVersionUID = 1L;

  public ReadOnlyException(String message) {
    super(message);
  }
}
