package io.isobardb.lsm.error;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Something in a store's files that is not as it must be.
 *
 * @param file name of the file in the store's directory
 * @param offset byte offset of what is wrong, or {@link #WHOLE_FILE}
 * @param what what was expected and what was found
 */
public record Finding(String file, long offset, String what) {
  /** The offset of what concerns no particular place of the file. */
  public static final long WHOLE_FILE = -1;

  /**
   * {@return a finding about a file as a whole}
   *
   * @param file its name in the directory
   * @param what what is wrong with it
   */
  public static Finding of(String file, String what) {
    return new Finding(file, WHOLE_FILE, what);
  }

  /**
   * {@return what an exception says that was thrown while {@code file} was read}
   *
   * @param file its name in the directory
   * @param e a {@link CorruptionException} tells the file and the offset itself
   */
  public static Finding of(String file, Exception e) {
    if (e instanceof CorruptionException damage) {
      return new Finding(damage.file(), damage.offset(), damage.what());
    }
    boolean speaks =
        e instanceof IsobarException
            || e instanceof IOException
            || e instanceof UncheckedIOException;
    String message = e.getMessage();
    return of(file, speaks && message != null ? message : e.toString());
  }

  /**
   * {@return the same, said of a tree's file}
   *
   * @param tree its name
   */
  public Finding of(String tree) {
    return new Finding(file, offset, what + " (tree '" + tree + "')");
  }

  @Override
  public String toString() {
    return offset == WHOLE_FILE ? file + ": " + what : file + " at offset " + offset + ": " + what;
  }
}
