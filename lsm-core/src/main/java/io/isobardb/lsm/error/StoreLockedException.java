package io.isobardb.lsm.error;

/** The directory is open already, in this process or another one. */
public final class StoreLockedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  public StoreLockedException(String message) {
    super(message);
  }

  public StoreLockedException(String message, Throwable cause) {
    super(message, cause);
  }
}
