package io.isobardb.lsm.error;

/**
 * The disk is full. What the call was to write was not written, and will not be later: it can be
 * tried again. Nothing acknowledged was lost. Writes go on by themselves when space returns.
 */
public final class DiskFullException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause: the store itself looked for room.
   *
   * @param message which directory, what was to be done, and how much room is missing
   */
  public DiskFullException(String message) {
    super(message);
  }

  /**
   * For what the system refused.
   *
   * @param message what was to be done
   * @param cause the refusal
   */
  public DiskFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
