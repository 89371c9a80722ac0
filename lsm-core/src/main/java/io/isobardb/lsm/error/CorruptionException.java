package io.isobardb.lsm.error;

import org.jspecify.annotations.Nullable;

/** Stored bytes are not what was written. Names the file, the offset and, of SSTables, the tree. */
public final class CorruptionException extends IsobarException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long offset;
  private final String what;
  private final @Nullable String tree;

  /**
   * @param file name of the file in the store's directory
   * @param offset byte offset of the page or record that is wrong
   * @param what what was expected and what was found
   */
  public CorruptionException(String file, long offset, String what) {
    this(file, offset, what, null);
  }

  /**
   * @param tree name of the tree that the file belongs to; null if it is not known, or of none
   */
  public CorruptionException(String file, long offset, String what, @Nullable String tree) {
    super(
        "corrupt: "
            + file
            + " at offset "
            + offset
            + (tree == null ? "" : ", of tree '" + tree + "'")
            + ": "
            + what);
    this.file = file;
    this.offset = offset;
    this.what = what;
    this.tree = tree;
  }

  public String file() {
    return file;
  }

  public long offset() {
    return offset;
  }

  /** The message without file, offset and tree. */
  public String what() {
    return what;
  }

  /** Name of the tree that the file belongs to; null if it is not known, or of none. */
  public @Nullable String tree() {
    return tree;
  }
}
