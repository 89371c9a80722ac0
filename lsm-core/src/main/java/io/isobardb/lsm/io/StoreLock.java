package io.isobardb.lsm.io;

import io.isobardb.lsm.error.StoreLockedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a store's directory: first an entry in a registry of this process, then a lock of the
 * operating system on the file {@value #FILE}, which holds who has it.
 *
 * <p>The registry comes first because closing any channel of a file drops the process's lock on it:
 * the file must not be opened while it is locked. The registry is the system properties, which all
 * class loaders share.
 */
final class StoreLock {
  static final String FILE = "LOCK";

  private static final String REGISTRY_PREFIX = "io.isobardb.lsm.locked:";

  /** Channels that can't be closed without harm to somebody else's lock. */
  private static final List<FileChannel> ABANDONED = new CopyOnWriteArrayList<>();

  private final Path path;
  private final String key;
  private final FileChannel channel;
  private final @Nullable Object fileKey;

  private StoreLock(Path path, String key, FileChannel channel, @Nullable Object fileKey) {
    this.path = path;
    this.key = key;
    this.channel = channel;
    this.fileKey = fileKey;
  }

  /**
   * Takes the lock of a directory.
   *
   * @param directory its real path
   */
  static StoreLock take(Path directory) throws IOException {
    String key = REGISTRY_PREFIX + directory;
    String owner = "process " + ProcessHandle.current().pid() + " on " + host();
    Properties registry = System.getProperties();
    if (registry.putIfAbsent(key, owner) != null) {
      throw new StoreLockedException(
          directory + " is open already in this process, " + ProcessHandle.current().pid());
    }
    boolean interrupted = Thread.interrupted();
    boolean taken = false;
    try {
      while (true) {
        try {
          StoreLock lock = lockFile(directory, key, owner);
          taken = true;
          return lock;
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (!taken) {
        registry.remove(key);
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static StoreLock lockFile(Path directory, String key, String owner) throws IOException {
    Path path = directory.resolve(FILE);
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean close = true;
    try {
      FileLock lock = channel.tryLock();
      if (lock == null) {
        throw new StoreLockedException(directory + " is open already in " + readOwner(channel));
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8)), 0);
      StoreLock taken = new StoreLock(path, key, channel, fileKey(path));
      close = false;
      return taken;
    } catch (OverlappingFileLockException e) {
      // Somebody in this process has it, past the registry. Closing would drop his lock.
      close = false;
      ABANDONED.add(channel);
      throw new StoreLockedException(directory + " is open already in this process", e);
    } finally {
      if (close) {
        channel.close();
      }
    }
  }

  private static String readOwner(FileChannel channel) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(256);
    if (channel.read(content, 0) <= 0) {
      return "another process";
    }
    return new String(content.array(), 0, content.position(), StandardCharsets.UTF_8);
  }

  private static String host() {
    for (String variable : List.of("HOSTNAME", "COMPUTERNAME")) {
      String name = System.getenv(variable);
      if (name != null && !name.isEmpty()) {
        return name;
      }
    }
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return "an unknown host";
    }
  }

  private static @Nullable Object fileKey(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /**
   * Checks that the lock file is still the one that was locked.
   *
   * @throws IOException if it was deleted or replaced, so that the lock protects nothing any more
   */
  void ensureValid() throws IOException {
    Object now = Files.exists(path) ? fileKey(path) : null;
    boolean same = fileKey == null ? Files.exists(path) : fileKey.equals(now);
    if (!same) {
      throw new IOException("the lock was lost: somebody deleted or replaced " + path);
    }
  }

  /** Gives the lock back. The file stays. */
  void release() throws IOException {
    try {
      channel.close();
    } finally {
      System.getProperties().remove(key);
    }
  }
}
