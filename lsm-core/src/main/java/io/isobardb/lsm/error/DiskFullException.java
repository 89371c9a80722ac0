package io.isobardb.lsm.error;

/** The disk is full. Nothing acknowledged was lost; writes go on when space returns. */
public final class DiskFullException extends IsobarException {
  private static final long serialVersionUID = 1L;

  public DiskFullException(String message) {
    super(message);
  }

  public DiskFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
