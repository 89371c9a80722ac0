package io.isobardb.lsm.io;

import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.memory.system.ProcessMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Locale;
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

  /** Locks the file in one of the two ways. */
  private interface Locking {
    StoreLock lock(Path file, String key) throws IOException;
  }

  private final Path path;
  private final String key;

  /** Null if the file could not be locked. */
  private final @Nullable FileChannel channel;

  private final @Nullable Object fileKey;
  private final @Nullable String unheldBecause;

  private StoreLock(Path path, String key, FileChannel channel) throws IOException {
    this.path = path;
    this.key = key;
    this.channel = channel;
    this.fileKey = fileKey(path);
    this.unheldBecause = null;
  }

  private StoreLock(Path path, String key, String unheldBecause) {
    this.path = path;
    this.key = key;
    this.channel = null;
    this.fileKey = null;
    this.unheldBecause = unheldBecause;
  }

  /**
   * Takes the lock of a directory.
   *
   * @param directory its real path
   */
  static StoreLock take(Path directory) throws IOException {
    return take(directory, StoreLock::lockToWrite);
  }

  /**
   * Takes the lock of a directory to look at what is there: creates and changes nothing.
   *
   * @param directory its real path
   * @return a lock that may hold nothing but the entry in the registry; see {@link #unheldBecause}
   */
  static StoreLock takeToRead(Path directory) throws IOException {
    return take(directory, StoreLock::lockToRead);
  }

  private static StoreLock take(Path directory, Locking locking) throws IOException {
    String key = REGISTRY_PREFIX + directory;
    Properties registry = System.getProperties();
    String opener = "by thread '" + Thread.currentThread().getName() + "'";
    Object other = registry.putIfAbsent(key, opener);
    if (other != null) {
      throw new StoreLockedException(
          String.format(
              Locale.ROOT,
              "%s is open already in this process, %d: it was opened %s",
              directory,
              ProcessMemory.processId(),
              other));
    }
    boolean interrupted = Thread.interrupted();
    boolean taken = false;
    try {
      while (true) {
        try {
          StoreLock lock = locking.lock(directory.resolve(FILE), key);
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

  private static StoreLock lockToWrite(Path path, String key) throws IOException {
    FileChannel channel;
    try {
      channel =
          FileChannel.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw FileErrors.explainOrFull("can't be opened", path, e);
    }
    StoreLock taken = lock(path, key, channel, false);
    try {
      String owner = "process " + ProcessMemory.processId() + " on " + host();
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8)), 0);
      return taken;
    } catch (IOException e) {
      if (FileErrors.saysFull(e)) {
        return taken; // The lock is held. Others are not told by whom.
      }
      channel.close();
      throw FileErrors.explain("can't be written", path, e);
    }
  }

  private static StoreLock lockToRead(Path path, String key) throws IOException {
    FileChannel channel;
    try {
      channel = FileChannel.open(path, StandardOpenOption.READ);
    } catch (NoSuchFileException e) {
      return new StoreLock(path, key, "there is no file " + path);
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      String why = String.valueOf(FileErrors.explain("can't be opened", path, e).getMessage());
      return new StoreLock(path, key, why);
    }
    try {
      return lock(path, key, channel, true);
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      String why = String.valueOf(FileErrors.explain("can't be locked", path, e).getMessage());
      return new StoreLock(path, key, why);
    }
  }

  /** Closes the channel unless it gets the lock. */
  private static StoreLock lock(Path path, String key, FileChannel channel, boolean shared)
      throws IOException {
    boolean close = true;
    try {
      FileLock lock = channel.tryLock(0, Long.MAX_VALUE, shared);
      if (lock == null) {
        throw new StoreLockedException(path.getParent() + " is " + otherUse(channel, shared));
      }
      StoreLock taken = new StoreLock(path, key, channel);
      close = false;
      return taken;
    } catch (OverlappingFileLockException e) {
      // Somebody in this process has it, past the registry. Closing would drop that lock.
      close = false;
      ABANDONED.add(channel);
      throw new StoreLockedException(path.getParent() + " is open already in this process", e);
    } finally {
      if (close) {
        channel.close();
      }
    }
  }

  /** What another process, which has the lock, does. */
  private static String otherUse(FileChannel channel, boolean shared) throws IOException {
    if (!shared && channel.tryLock(0, Long.MAX_VALUE, true) != null) {
      // Who only reads does not write its name there.
      return "being looked at by another process (isobar check, dump or repair): wait for its end";
    }
    return "open already in " + readOwner(channel);
  }

  /** Why other processes are not kept from writing, in words, or null if they are. */
  @Nullable String unheldBecause() {
    return unheldBecause;
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

  /** Says who holds it, to others of this process. */
  void describeHolder(String holder) {
    System.getProperties().replace(key, holder);
  }

  /** Gives the lock back. The file stays. */
  void release() throws IOException {
    FileChannel held = channel;
    try (held) {
      // Closing gives it back.
    } finally {
      System.getProperties().remove(key);
    }
  }
}
