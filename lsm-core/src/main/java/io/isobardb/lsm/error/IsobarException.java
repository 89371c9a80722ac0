package io.isobardb.lsm.error;

import java.util.Objects;

/** The root of what the engine throws, besides {@link IllegalArgumentException}. */
public class IsobarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Without a cause.
   *
   * @param message what happened, where, and what to do
   */
  public IsobarException(String message) {
    super(message);
  }

  /**
   * With a cause.
   *
   * @param message what happened, where, and what to do
   * @param cause what it came from
   */
  public IsobarException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public String getMessage() {
    return Objects.toString(super.getMessage(), "");
  }
}
