package io.isobardb.lsm.typed;

/**
 * A field can't be read from what is stored. The record that has the field makes an {@link
 * IllegalArgumentException} of it that names both.
 */
final class UnreadableValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param how goes on after "the field 'x'"
   */
  UnreadableValueException(String how) {
    super(how, null, false, false);
  }

  /** A field had another type when it was stored. */
  static UnreadableValueException changed(String stored, String now) {
    return new UnreadableValueException(
        "was stored as "
            + stored
            + ", and is "
            + now
            + " now; give it its former type, or call the new one by another name");
  }
}
