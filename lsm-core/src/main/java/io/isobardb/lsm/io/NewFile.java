package io.isobardb.lsm.io;

import io.isobardb.lsm.option.FileAccess;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of a user's choice, beside the store: it is never synced, and no crash test sees it. */
public final class NewFile {
  private NewFile() {}

  /**
   * Creates a file. An interrupt of a thread that writes to it does no harm.
   *
   * @param access who else may read it
   * @throws java.nio.file.FileAlreadyExistsException if there is one
   */
  public static OutputStream create(Path file, FileAccess access) throws IOException {
    Directories.named(file);
    try {
      Files.createFile(file, Permissions.ofFile(file, access));
      return new FileOutputStream(file.toFile());
    } catch (IOException e) {
      throw FileErrors.explain("can't be created", file, e);
    } catch (UnsupportedOperationException e) {
      throw new IllegalArgumentException("give a file of the operating system, not " + file, e);
    }
  }
}
