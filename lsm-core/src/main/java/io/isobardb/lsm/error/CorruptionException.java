package io.isobardb.lsm.error;

/** Stored bytes are not what was written. Names the file and the offset. */
public final class CorruptionException extends IsobarException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long offset;
  private final String what;

  /**
   * @param file name of the file in the store's directory
   * @param offset byte offset of the page or record that is wrong
   * @param what what was expected and what was found
   */
  public CorruptionException(String file, long offset, String what) {
    super("corrupt: " + file + " at offset " + offset + ": " + what);
    this.file = file;
    this.offset = offset;
    this.what = what;
  }

  public String file() {
    return file;
  }

  public long offset() {
    return offset;
  }

  /** The message without file and offset. */
  public String what() {
    return what;
  }
}
