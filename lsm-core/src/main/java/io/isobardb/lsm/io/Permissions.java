package io.isobardb.lsm.io;

import io.isobardb.lsm.option.FileAccess;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** The attributes that files and directories are made with. */
final class Permissions {
  private static final FileAttribute<?>[] NONE = {};

  private Permissions() {}

  /** Attributes of a new file in the file system of {@code path}. */
  static FileAttribute<?>[] ofFile(Path path, FileAccess access) {
    return of(path, access, "rw-------", "rw-r-----");
  }

  /** Attributes of a new directory in the file system of {@code path}. */
  static FileAttribute<?>[] ofDirectory(Path path, FileAccess access) {
    return of(path, access, "rwx------", "rwxr-x---");
  }

  private static FileAttribute<?>[] of(Path path, FileAccess access, String owner, String group) {
    boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
    if (!posix || access == FileAccess.UMASK) {
      return NONE;
    }
    String mode = access == FileAccess.OWNER ? owner : group;
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))
    };
  }
}
