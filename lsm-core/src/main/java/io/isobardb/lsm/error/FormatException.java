package io.isobardb.lsm.error;

/** The directory is not a store, or was written by a newer version. Nothing was changed. */
public final class FormatException extends IsobarException {
  private static final long serialVersionUID = 1L;

  public FormatException(String message) {
    super(message);
  }

  public FormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
