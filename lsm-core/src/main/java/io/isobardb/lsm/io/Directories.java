package io.isobardb.lsm.io;

import io.isobardb.lsm.option.FileAccess;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Making directories, and finding them. */
final class Directories {
  private Directories() {}

  /**
   * The full path of a directory that is, or is to be, on a disk. Nothing is looked at.
   *
   * @throws IllegalArgumentException if it is in an archive, in memory or the like
   */
  static Path onDisk(Path dir) {
    Path absolute = dir.toAbsolutePath().normalize();
    try {
      absolute.toFile();
      return absolute;
    } catch (UnsupportedOperationException e) {
      throw new IllegalArgumentException(
          "give a directory of the operating system's files, such as Path.of(...), not "
              + absolute
              + " of "
              + dir.getFileSystem().provider().getScheme()
              + ": its files could not be locked and synced",
          e);
    }
  }

  /**
   * The path, if its text leads to the same place. Some files are opened by text, since an
   * interrupt does not close those.
   *
   * @throws IllegalArgumentException if a name has bytes that this JVM can't take for characters
   */
  static Path named(Path dir) {
    try {
      if (dir.getFileSystem().getPath(dir.toString()).equals(dir)) {
        return dir;
      }
    } catch (InvalidPathException e) {
      // Such bytes became characters that the encoding does not have.
    }
    throw new IllegalArgumentException(
        dir
            + ": a name in this path has bytes that are no characters in this JVM's encoding of file"
            + " names, "
            + System.getProperty("sun.jnu.encoding")
            + "; start the JVM in a locale that has them, such as C.UTF-8, or rename it");
  }

  /**
   * The path of a directory without links.
   *
   * @throws NotDirectoryException if it is something else
   */
  static Path real(Path dir) throws IOException {
    try {
      Path real = dir.toRealPath();
      if (!Files.readAttributes(real, BasicFileAttributes.class).isDirectory()) {
        throw new NotDirectoryException(real.toString());
      }
      return real;
    } catch (IOException e) {
      throw FileErrors.explain("can't be opened", dir, e);
    }
  }

  /**
   * Makes a directory, and those above it that are not there. If that fails, none is left.
   *
   * @return what was made, deepest first; empty if it is there
   */
  static List<Path> createDurably(Path dir, FileAccess access) throws IOException {
    Deque<Path> missing = new ArrayDeque<>();
    for (Path at = dir; at != null && !Files.exists(at); at = at.getParent()) {
      missing.push(at);
    }
    List<Path> made = new ArrayList<>();
    try {
      for (Path one : missing) {
        if (create(one, access)) {
          made.add(0, one);
        }
        Path parent = one.getParent();
        if (parent != null) {
          OpenDirectory above = OpenDirectory.byPath(parent, access);
          above.sync(above::openToSync);
        }
      }
      return made;
    } catch (IOException | RuntimeException e) {
      deleteEmpty(made, e);
      throw e;
    }
  }

  /** Makes a directory, unless somebody else just did. */
  private static boolean create(Path dir, FileAccess access) throws IOException {
    try {
      Files.createDirectory(dir, Permissions.ofDirectory(dir, access));
      return true;
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(dir)) {
        throw FileErrors.explain("can't be created", dir, inTheWay(dir, e));
      }
      return false;
    } catch (IOException e) {
      throw FileErrors.explainOrFull("can't be created", dir, e, DataFile.BLOCK);
    }
  }

  /** Deletes directories after a failure, unless somebody else has something there. */
  static void deleteEmpty(List<Path> directories, Throwable cause) {
    try {
      for (Path directory : directories) {
        Files.deleteIfExists(directory);
      }
    } catch (DirectoryNotEmptyException e) {
      // Those above are not empty, either.
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** Says more of what is there instead of a directory. */
  private static IOException inTheWay(Path dir, FileAlreadyExistsException e) throws IOException {
    return Files.isSymbolicLink(dir)
        ? new FileSystemException(
            e.getFile(),
            null,
            "it is a link to " + Files.readSymbolicLink(dir) + ", which is no directory")
        : e;
  }

  /**
   * Truncates a file by so many bytes, if it has more and no other name: with one it is part of
   * another store, or of a backup. Whether it did.
   */
  static boolean shrink(Path file, long bytes) throws IOException {
    if (!hasOneName(file)) {
      return false;
    }
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      long left = channel.size() - bytes;
      if (left > 0) {
        channel.truncate(left);
      }
      return left > 0;
    } catch (IOException e) {
      throw FileErrors.explain("can't be truncated", file, e);
    }
  }

  /** Whether a file is known to have no other name in the file system. */
  private static boolean hasOneName(Path file) throws IOException {
    try {
      return Files.getAttribute(file, "unix:nlink") instanceof Integer links && links == 1;
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      return false; // This system does not tell.
    }
  }
}
