package io.isobardb.lsm.error;

/** The directory is not a store, or was written by a newer version. Nothing was changed. */
public final class FormatException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause.
   *
   * @param message which file or directory, and what it is instead
   */
  public FormatException(String message) {
    super(message);
  }

  /**
   * With a cause.
   *
   * @param message which file or directory, and what it is instead
   * @param cause what failed while it was read
   */
  public FormatException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * {@return a file that a newer release wrote}
   *
   * @param file its name, or its path
   * @param found the format version it has
   * @param known the newest one that can be read
   */
  public static FormatException newer(String file, int found, int known) {
    return new FormatException(
        file
            + " has format version "
            + found
            + ", but this release reads up to version "
            + known
            + "; open the store with the release that wrote it, or with a later one (if no later release"
            + " ever had this store, the file is damaged: check it, or take it from a backup)");
  }
}
