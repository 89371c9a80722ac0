package io.isobardb.lsm.io;

import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.setting.ProcessLimits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a store or a directory of backups is made. It must not lie within another one, which would
 * take it along when it is moved or deleted. That is checked before anything is made, for the path
 * without links.
 */
public final class NewDirectory {
  /** The file that tells a directory of backups. */
  public static final String BACKUPS = "BACKUPS";

  private static final String STORE = "CURRENT";

  /** How the file that tells a store begins, little-endian. */
  public static final long STORE_MAGIC = 0x5543_5241_424F_5349L; // "ISOBARCU"

  private NewDirectory() {}

  /** Makes files in a directory. */
  @FunctionalInterface
  public interface Filler {
    void fill(DirectoryStorage target) throws IOException;
  }

  /**
   * Opens a directory of backups, or one to hold them, which is made if it isn't there.
   *
   * @throws IllegalArgumentException if there are no backups, and it lies within a store or within
   *     other backups
   */
  public static DirectoryStorage forBackups(Path directory, FileAccess access) throws IOException {
    checkPlace(directory);
    return open(directory, access);
  }

  /**
   * As {@link #forBackups(Path, FileAccess)}, for a path given by a caller who may be on another
   * machine.
   *
   * @throws IllegalArgumentException if it is no full path, too
   */
  public static DirectoryStorage forBackups(String path, FileAccess access) throws IOException {
    Path named = Path.of(path);
    if (!named.isAbsolute()) {
      throw new IllegalArgumentException(
          "give the full path of a directory on the store's machine, not '" + path + "'");
    }
    return forBackups(named, access);
  }

  /**
   * Passes if a store may be opened in a directory, and made there if there is none.
   *
   * @throws IllegalArgumentException if there is none, and it lies within a store or within backups
   */
  public static void checkForStore(Path directory) throws IOException {
    if (!Files.exists(directory.resolve(STORE))) {
      checkPlace(directory);
    }
  }

  /**
   * Has a store made in a directory, which is created if it isn't there. If that fails, it is as it
   * was.
   *
   * @throws IllegalArgumentException if it lies within a store or within backups
   */
  public static void fill(Path directory, FileAccess access, Filler filler) throws IOException {
    checkPlace(directory);
    DirectoryStorage made = open(directory, access);
    try {
      filler.fill(made);
      made.close();
    } catch (Throwable e) {
      made.abandon(e);
      throw e;
    }
  }

  /**
   * As {@link #fill(Path, FileAccess, Filler)}, for a store that is made of another one's files,
   * which nothing else may tell to be a store any more.
   *
   * @throws IllegalArgumentException if one of the directories is or lies within the other, too
   */
  public static void fill(Path directory, Path source, FileAccess access, Filler filler)
      throws IOException {
    Path place = withoutLinks(directory);
    Path from = withoutLinks(source);
    if (place.startsWith(from) || from.startsWith(place)) {
      throw new IllegalArgumentException(
          "the new store in "
              + place
              + " and the store in "
              + from
              + " would lie within one another; give a directory elsewhere");
    }
    fill(directory, access, filler);
  }

  private static DirectoryStorage open(Path directory, FileAccess access) throws IOException {
    return DirectoryStorage.open(directory, true, ProcessLimits.openFiles(), access);
  }

  private static void checkPlace(Path directory) throws IOException {
    Path place = withoutLinks(directory);
    if (Files.isRegularFile(place.resolve(BACKUPS))) {
      return; // Backups that are there can be used; for a store it is not empty.
    }
    for (Path above = place.getParent(); above != null; above = above.getParent()) {
      String what = kind(above);
      if (what != null) {
        throw new IllegalArgumentException(
            place
                + " would lie within the "
                + what
                + " in "
                + above
                + ", and be lost with it; give a directory elsewhere");
      }
    }
  }

  /** What a directory is, or null if it is neither. */
  private static @Nullable String kind(Path directory) {
    if (Files.isRegularFile(directory.resolve(BACKUPS))) {
      return "backups";
    }
    // Many directories have something that is called CURRENT, in some case.
    return Files.isRegularFile(directory.resolve(STORE))
            && Files.isRegularFile(directory.resolve(StoreLock.FILE))
        ? "store"
        : null;
  }

  /** Whether a directory is, by the files that tell it, a store or holds backups. */
  static boolean isOwn(Path directory) throws IOException {
    Path marker = directory.resolve(BACKUPS);
    Path current = directory.resolve(STORE);
    if (Files.isRegularFile(marker, LinkOption.NOFOLLOW_LINKS)) {
      return Files.size(marker) == 0;
    }
    if (!Files.isRegularFile(current, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (InputStream content = Files.newInputStream(current)) {
      byte[] begin = content.readNBytes(Long.BYTES);
      long magic = 0;
      for (int i = begin.length - 1; i >= 0; i--) {
        magic = magic << 8 | begin[i] & 0xFF;
      }
      return magic == STORE_MAGIC;
    }
  }

  /** The path that a directory has, or would have. */
  private static Path withoutLinks(Path directory) throws IOException {
    Path path = Directories.onDisk(directory);
    Path there = path;
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    try {
      return there.toRealPath().resolve(there.relativize(path)).normalize();
    } catch (IOException e) {
      throw FileErrors.explain("can't be opened", there, e);
    }
  }
}
