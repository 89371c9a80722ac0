package io.isobardb.lsm.io;

import io.isobardb.lsm.option.FileAccess;
import java.io.IOException;
import java.io.SyncFailedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory in which files are found by name. While it is held, names are looked up in the
 * directory that was opened, whatever stands at its path by now, if the system can do that. No link
 * is followed.
 *
 * <p>Thread rule: any thread.
 */
final class OpenDirectory implements AutoCloseable {
  private final Path path;

  /** Who else may use the files that are made. */
  private final FileAccess access;

  /** Null if names are looked up by path. */
  private final @Nullable SecureDirectoryStream<Path> held;

  /** Identifies the directory; null if it is not held, or the system does not tell. */
  private final @Nullable Object key;

  private OpenDirectory(
      Path path,
      FileAccess access,
      @Nullable SecureDirectoryStream<Path> held,
      @Nullable Object key) {
    this.path = path;
    this.access = access;
    this.held = held;
    this.key = key;
  }

  /** Looks names up by path. */
  static OpenDirectory byPath(Path path, FileAccess access) {
    return new OpenDirectory(path, access, null, null);
  }

  /** Opens a directory, to be held until {@link #close}. */
  static OpenDirectory hold(Path path, FileAccess access) throws IOException {
    DirectoryStream<Path> stream;
    try {
      stream = Files.newDirectoryStream(path);
    } catch (IOException e) {
      throw FileErrors.explain("can't be opened", path, e);
    }
    if (stream instanceof SecureDirectoryStream<Path> secure) {
      try {
        Object key =
            secure.getFileAttributeView(BasicFileAttributeView.class).readAttributes().fileKey();
        return new OpenDirectory(path, access, secure, key);
      } catch (IOException | RuntimeException e) {
        secure.close();
        throw e;
      }
    }
    stream.close();
    return new OpenDirectory(path, access, null, fileKey(path));
  }

  private static @Nullable Object fileKey(Path file, LinkOption... links) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, links).fileKey();
  }

  /** Whether its path still leads to it, be it through links, as far as the system tells. */
  boolean isInPlace() throws IOException {
    try {
      return Objects.equals(key, fileKey(path));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  FileChannel open(String name, Set<? extends OpenOption> options) throws IOException {
    FileAttribute<?>[] attributes = Permissions.ofFile(path, access);
    return held == null
        ? FileChannel.open(path.resolve(name), options, attributes)
        : (FileChannel) held.newByteChannel(relative(name), options, attributes);
  }

  private Path relative(String name) {
    return path.getFileSystem().getPath(name);
  }

  /**
   * What identifies a file; null if the system does not tell.
   *
   * @throws NoSuchFileException if there is none of this name
   */
  @Nullable Object keyOf(String name) throws IOException {
    return held == null
        ? fileKey(path.resolve(name), LinkOption.NOFOLLOW_LINKS)
        : held.getFileAttributeView(
                relative(name), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .readAttributes()
            .fileKey();
  }

  /** Does nothing if there is none. */
  void delete(String name) throws IOException {
    if (held == null) {
      Files.deleteIfExists(path.resolve(name));
      return;
    }
    try {
      held.deleteFile(relative(name));
    } catch (NoSuchFileException e) {
      // As it is to be.
    }
  }

  /** Renames, replacing what stands there, atomically. */
  void rename(String from, String to) throws IOException {
    if (held == null) {
      Files.move(path.resolve(from), path.resolve(to), StandardCopyOption.ATOMIC_MOVE);
    } else {
      held.move(relative(from), held, relative(to));
    }
  }

  List<String> list() throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> files =
        held == null ? Files.newDirectoryStream(path) : held.newDirectoryStream(relative("."))) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    } catch (DirectoryIteratorException e) {
      throw Objects.requireNonNull(e.getCause());
    }
    return names;
  }

  /** Opens a handle for {@link #sync}. */
  FileChannel openToSync() throws IOException {
    try {
      Set<StandardOpenOption> toRead = Set.of(StandardOpenOption.READ);
      return held == null ? FileChannel.open(path, toRead) : open(".", toRead);
    } catch (IOException e) {
      throw FileErrors.explain("can't be synced", path, e);
    }
  }

  /**
   * Makes its names durable. An interrupt is kept, and does no harm.
   *
   * @param opener gives what {@link #openToSync} gives
   * @throws SyncFailedException if the sync failed: another one may succeed though names are lost
   */
  void sync(OpenFiles.Opener<FileChannel> opener) throws IOException {
    boolean interrupted = Thread.interrupted();
    try (FileChannel handle = opener.open()) {
      sync(handle, opener);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void sync(FileChannel handle, OpenFiles.Opener<FileChannel> opener) throws IOException {
    boolean interrupted = Thread.interrupted();
    // An interrupt hides the error of the sync that it breaks off. A handle opened before sees it.
    try (FileChannel next = opener.open()) {
      try {
        handle.force(true);
      } catch (ClosedChannelException e) {
        // Only an interrupt of this thread closes a channel that no other thread knows.
        sync(next, opener);
      } catch (IOException e) {
        throw syncFailed(e);
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Told apart from the failure of a call that may be made once more. */
  private IOException syncFailed(IOException e) {
    IOException explained = FileErrors.explainOrFull("can't be synced", path, e, 0);
    SyncFailedException failed = new SyncFailedException(explained.getMessage());
    failed.initCause(e);
    return failed;
  }

  @Override
  public void close() throws IOException {
    if (held != null) {
      held.close();
    }
  }
}
