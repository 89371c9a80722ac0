package io.isobardb.lsm.error;

/** The directory is open already, in this process or another one. */
public final class StoreLockedException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause: this process has it.
   *
   * @param message which directory, and who has it
   */
  public StoreLockedException(String message) {
    super(message);
  }

  /**
   * With a cause.
   *
   * @param message which directory, and who has it
   * @param cause what asking for the lock threw
   */
  public StoreLockedException(String message, Throwable cause) {
    super(message, cause);
  }
}
