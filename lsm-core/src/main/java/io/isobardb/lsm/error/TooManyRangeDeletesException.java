package io.isobardb.lsm.error;

/**
 * Range deletes hold all the memory that they may, and no flush or merge can give any of it back.
 * What the call was to write was not written, and will not be later. Other writes go on. The
 * message says how to make room.
 */
public final class TooManyRangeDeletesException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /**
   * Nothing was written.
   *
   * @param message how much they take, and how much they may
   */
  public TooManyRangeDeletesException(String message) {
    super(message);
  }
}
