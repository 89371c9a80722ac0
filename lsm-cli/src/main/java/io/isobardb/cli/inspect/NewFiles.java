package io.isobardb.cli.inspect;

import io.isobardb.lsm.option.FileAccess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import picocli.CommandLine.Option;

/** Who else may use the files that a command makes. */
final class NewFiles {
  @Option(
      names = "--file-access",
      paramLabel = "WHO",
      description =
          "Who else may use what is made: owner (nobody), group (may read), umask (whoever that"
              + " lets). What is there keeps its permissions (default: owner).")
  private FileAccess access = FileAccess.OWNER;

  FileAccess access() {
    return access;
  }

  /** Makes a file, which must not be there, and opens it to be written. */
  OutputStream create(Path file) throws IOException {
    return Channels.newOutputStream(
        Files.newByteChannel(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode(file)));
  }

  private FileAttribute<?>[] mode(Path file) {
    boolean hasModes = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    if (!hasModes || access == FileAccess.UMASK) {
      return new FileAttribute<?>[0];
    }
    String mode = access == FileAccess.GROUP ? "rw-r-----" : "rw-------";
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))
    };
  }
}
