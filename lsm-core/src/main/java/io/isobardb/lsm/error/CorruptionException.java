package io.isobardb.lsm.error;

import org.jspecify.annotations.Nullable;

/**
 * Stored bytes are not what was written. Names the file with its directory, the offset and, of
 * SSTables, the tree.
 */
public final class CorruptionException extends IsobarException {
  private static final long serialVersionUID = 1L;

  /** The name of the file in the store's directory. */
  private final String file;

  /** Where the page or record begins that is wrong, in bytes. */
  private final long offset;

  /** The message without file, offset and tree. */
  private final String what;

  /** The name of the tree that the file belongs to; null if it is not known, or of none. */
  private final @Nullable String tree;

  /** The path of the store's directory; null until whoever knows it has added it. */
  private volatile @Nullable String directory;

  /**
   * Damage in a file of no tree, or of one that is not known.
   *
   * @param file name of the file in the store's directory
   * @param offset byte offset of the page or record that is wrong
   * @param what what was expected and what was found
   */
  public CorruptionException(String file, long offset, String what) {
    this(file, offset, what, null);
  }

  /**
   * Damage in a file of a tree.
   *
   * @param file its name in the store's directory
   * @param offset of the page or record, in bytes
   * @param what what is wrong with it
   * @param tree name of the tree that the file belongs to; null if it is not known, or of none
   */
  public CorruptionException(String file, long offset, String what, @Nullable String tree) {
    super(what);
    this.file = file;
    this.offset = offset;
    this.what = what;
    this.tree = tree;
  }

  /**
   * Says where the file is, unless that is known; the store does.
   *
   * @param path of the store's directory
   * @return this
   */
  public CorruptionException in(String path) {
    if (directory == null) {
      directory = path;
    }
    return this;
  }

  @Override
  public String getMessage() {
    String path = directory;
    return "corrupt: "
        + (path == null ? "" : path + "/")
        + file
        + " at offset "
        + offset
        + (tree == null ? "" : ", of tree '" + tree + "'")
        + ": "
        + what;
  }

  /** {@return path of the store's directory; null if it is not known} */
  public @Nullable String directory() {
    return directory;
  }

  /** {@return name of the file in the store's directory} */
  public String file() {
    return file;
  }

  /** {@return byte offset of the page or record that is wrong} */
  public long offset() {
    return offset;
  }

  /** {@return the message without file, offset and tree} */
  public String what() {
    return what;
  }

  /** {@return name of the tree that the file belongs to; null if it is not known, or of none} */
  public @Nullable String tree() {
    return tree;
  }
}
