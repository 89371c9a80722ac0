package io.isobardb.lsm.error;

import java.util.Objects;

/** The root of what the engine throws, besides {@link IllegalArgumentException}. */
public class IsobarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public IsobarException(String message) {
    super(message);
  }

  public IsobarException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public String getMessage() {
    return Objects.toString(super.getMessage(), "");
  }
}
