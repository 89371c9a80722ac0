package io.isobardb.cli.inspect;

import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Where a command puts what it makes, by {@code --to}: nothing that is there is overwritten. */
final class Target {
  private Target() {}

  /**
   * Passes if a store may be made here: nothing is here, or an empty directory.
   *
   * @throws UsageException if something is here, or there is no directory to put it into
   */
  static void checkDirectory(Path target) throws IOException {
    if (Files.notExists(target)) {
      return;
    }
    if (!Files.isDirectory(target)) {
      throw new UsageException(
          "--to: " + target + " is a file; give an empty directory or a new one");
    }
    try (Stream<Path> held = Files.list(target)) {
      if (held.findAny().isPresent()) {
        throw new UsageException(
            "--to: " + target + " is not empty; give an empty directory or a new one");
      }
    }
  }

  /**
   * Passes if a file may be made here: nothing is here, and the directory for it is.
   *
   * @throws UsageException if not
   */
  static void checkFile(Path target) {
    if (Files.exists(target)) {
      throw new UsageException("--to: " + target + " exists already; give a file that does not");
    }
    Path parent = target.toAbsolutePath().normalize().getParent();
    if (parent != null && Files.notExists(parent)) {
      throw new UsageException("--to: there is no directory " + parent + "; make it first");
    }
  }

  /**
   * Passes if a file that may be made would not lie within a store.
   *
   * @throws UsageException if it would
   */
  static void checkOutside(Path target, Path store) throws IOException {
    Path parent = target.toAbsolutePath().normalize().getParent();
    if (parent != null && parent.toRealPath().startsWith(store.toRealPath())) {
      throw new UsageException(
          "--to: "
              + target
              + " would lie within the store in "
              + store
              + "; give a file elsewhere");
    }
  }
}
