package io.isobardb.lsm.io;

import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.StoreLockedException;
import io.isobardb.memory.system.ProcessMemory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a store's directory: first an entry in a registry of this process, then a lock of the
 * operating system on the file {@value #FILE}, which holds who has it.
 *
 * <p>The registry comes first because closing any channel of a file drops the process's lock on it:
 * the file must not be opened while it is locked. The registry is the system properties, which all
 * class loaders share, and before that a map of this class, since a program may put back properties
 * that it saved: an entry of this class that the map lacks is left over, and replaced.
 *
 * <p>The lock can be lost all the same: the directory or the file is deleted, moved or replaced, or
 * somebody in this process reads the file and closes it. So who takes the lock writes a text there
 * that no other opening has: the process, and one more than the number that was there. {@link
 * #ensureHeld} looks whether path, file and text are still the same. The text is read with a handle
 * that is kept until the end, and that interrupts do not close.
 *
 * <p>No link is followed, and a file whose contents are not of this form is left as it is.
 */
final class StoreLock {
  static final String FILE = "LOCK";

  private static final String REGISTRY_PREFIX = "io.isobardb.lsm.locked:";

  private static final String MARK_START = " #";

  /** What an entry of this class ends with. One of another class loader's ends otherwise. */
  private static final String MARK =
      MARK_START + Integer.toHexString(System.identityHashCode(StoreLock.class));

  /** Who has locked what through this class, by key. */
  private static final Map<String, String> HOLDERS = new ConcurrentHashMap<>();

  private static final String OWNER = "process ";

  private static final String NUMBER = ", opening ";

  /** More than any content of the file has. */
  private static final int MOST_BYTES = 512;

  /** Channels that can't be closed without harm to somebody else's lock. */
  private static final List<FileChannel> ABANDONED = new CopyOnWriteArrayList<>();

  /** Locks the file in one of the two ways. */
  private interface Locking {
    StoreLock lock(OpenDirectory directory, Path file, String key) throws IOException;
  }

  private final OpenDirectory directory;
  private final Path path;
  private final String key;

  /** Null if the file could not be locked. */
  private final @Nullable FileChannel channel;

  /** The same file, to read what it holds; null if it is locked to be read. */
  private final @Nullable RandomAccessFile content;

  private final @Nullable Object fileKey;

  /** What the file holds as long as the lock is held. */
  private final String owner;

  private final @Nullable String unheldBecause;

  /** Guarded by this. */
  private boolean released;

  private StoreLock(
      OpenDirectory directory,
      Path path,
      String key,
      FileChannel channel,
      @Nullable RandomAccessFile content,
      String owner)
      throws IOException {
    this.directory = directory;
    this.path = path;
    this.key = key;
    this.channel = channel;
    this.content = content;
    this.owner = owner;
    this.fileKey = content == null ? null : directory.keyOf(FILE);
    this.unheldBecause = null;
  }

  private StoreLock(OpenDirectory directory, Path path, String key, String unheldBecause) {
    this.directory = directory;
    this.path = path;
    this.key = key;
    this.channel = null;
    this.content = null;
    this.owner = "";
    this.fileKey = null;
    this.unheldBecause = unheldBecause;
  }

  /**
   * Takes the lock of a directory.
   *
   * @param path its real path
   */
  static StoreLock take(OpenDirectory directory, Path path) throws IOException {
    return take(directory, path, StoreLock::lockToWrite);
  }

  /**
   * Takes the lock of a directory to look at what is there: creates and changes nothing.
   *
   * @param path its real path
   * @return a lock that may hold nothing but the entry in the registry; see {@link #unheldBecause}
   */
  static StoreLock takeToRead(OpenDirectory directory, Path path) throws IOException {
    return take(directory, path, StoreLock::lockToRead);
  }

  private static StoreLock take(OpenDirectory directory, Path path, Locking locking)
      throws IOException {
    String key = REGISTRY_PREFIX + path;
    register(path, key);
    boolean interrupted = Thread.interrupted();
    boolean taken = false;
    try {
      while (true) {
        try {
          StoreLock lock = locking.lock(directory, path.resolve(FILE), key);
          taken = true;
          return lock;
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (!taken) {
        unregister(key);
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Makes an entry, unless somebody in this process has one. */
  private static void register(Path path, String key) {
    String opener = "by thread '" + Thread.currentThread().getName() + "'";
    String holder = HOLDERS.putIfAbsent(key, opener);
    if (holder != null) {
      throw isOpen(path, holder);
    }
    boolean registered = false;
    try {
      Object entry = System.getProperties().putIfAbsent(key, opener + MARK);
      if (entry != null && !replacesLeftOver(key, entry, opener)) {
        String other = entry.toString();
        int mark = other.lastIndexOf(MARK_START);
        throw isOpen(path, mark < 0 ? other : other.substring(0, mark));
      }
      registered = true;
    } finally {
      if (!registered) {
        HOLDERS.remove(key);
      }
    }
  }

  private static StoreLockedException isOpen(Path path, String holder) {
    return new StoreLockedException(
        String.format(
            Locale.ROOT,
            "%s is open already in this process, %d: it was opened %s",
            path,
            ProcessMemory.processId(),
            holder));
  }

  private static boolean replacesLeftOver(String key, Object entry, String opener) {
    return entry.toString().endsWith(MARK)
        && System.getProperties().replace(key, entry, opener + MARK);
  }

  private static void unregister(String key) {
    System.getProperties().remove(key);
    HOLDERS.remove(key);
  }

  private static StoreLock lockToWrite(OpenDirectory directory, Path path, String key)
      throws IOException {
    FileChannel channel;
    try {
      channel =
          directory.open(
              FILE,
              Set.of(
                  StandardOpenOption.CREATE,
                  StandardOpenOption.READ,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS));
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      throw FileErrors.explainOrFull("can't be opened", path, e, DataFile.BLOCK);
    }
    lock(path, channel, false);
    RandomAccessFile content = null;
    StoreLock taken = null;
    try {
      content = new RandomAccessFile(path.toFile(), "r");
      String owner = write(path, channel, content);
      StoreLock lock = new StoreLock(directory, path, key, channel, content, owner);
      lock.ensureHeld();
      taken = lock;
      return taken;
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      throw FileErrors.explain("can't be read or written", path, e);
    } finally {
      if (taken == null) {
        close(channel, content);
      }
    }
  }

  private static void close(@Nullable FileChannel channel, @Nullable RandomAccessFile content)
      throws IOException {
    try (channel;
        content) {
      // Closing gives the lock back.
    }
  }

  /** Writes which process has the lock; gives what the file holds. */
  private static String write(Path path, FileChannel channel, RandomAccessFile content)
      throws IOException {
    String before = read(content);
    String owner = nextOwner(path, before);
    try {
      ByteBuffer text = ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8));
      channel.write(text, 0);
      channel.truncate(text.limit());
      return owner;
    } catch (IOException e) {
      if (!FileErrors.isFull(path, e, MOST_BYTES)) {
        throw e;
      }
      return read(content); // The lock is held. Others are not told by whom.
    }
  }

  /**
   * What the file is to hold, after {@code before}.
   *
   * @throws FormatException if that is somebody else's
   */
  private static String nextOwner(Path path, String before) {
    String known = before.replace("\0", "");
    if (!known.startsWith(OWNER) && !OWNER.startsWith(known)) {
      throw new FormatException(
          path
              + " is not a lock of Isobar: it holds something else; give another directory, or"
              + " move the file away");
    }
    return OWNER + ProcessMemory.processId() + " on " + host() + NUMBER + (number(known) + 1);
  }

  /** The number in a text, or 0 if it has none. */
  private static long number(String owner) {
    int at = owner.indexOf(NUMBER);
    try {
      return at < 0 ? 0 : Long.parseLong(owner.substring(at + NUMBER.length()));
    } catch (NumberFormatException e) {
      return 0; // Written in part when the disk was full, or the machine failed.
    }
  }

  /** A number that no earlier opening of the directory has. */
  long number() {
    return number(owner);
  }

  private static StoreLock lockToRead(OpenDirectory directory, Path path, String key)
      throws IOException {
    FileChannel channel;
    try {
      channel = directory.open(FILE, Set.of(StandardOpenOption.READ));
    } catch (NoSuchFileException e) {
      return new StoreLock(directory, path, key, "there is no file " + path);
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      String why = String.valueOf(FileErrors.explain("can't be opened", path, e).getMessage());
      return new StoreLock(directory, path, key, why);
    }
    try {
      lock(path, channel, true);
      return new StoreLock(directory, path, key, channel, null, "");
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException e) {
      return new StoreLock(directory, path, key, String.valueOf(e.getMessage()));
    }
  }

  /** Closes the channel unless it gets the lock. */
  private static void lock(Path path, FileChannel channel, boolean shared) throws IOException {
    boolean close = true;
    try {
      FileLock lock = channel.tryLock(0, Long.MAX_VALUE, shared);
      if (lock == null) {
        throw new StoreLockedException(path.getParent() + " is " + otherUse(channel, shared));
      }
      close = false;
    } catch (OverlappingFileLockException e) {
      // Somebody in this process has it, past the registry. Closing would drop that lock.
      close = false;
      ABANDONED.add(channel);
      throw new StoreLockedException(path.getParent() + " is open already in this process", e);
    } catch (IOException e) {
      throw FileErrors.explain("can't be locked", path, e);
    } finally {
      if (close) {
        channel.close();
      }
    }
  }

  /** What another process, which has the lock, does. */
  private static String otherUse(FileChannel channel, boolean shared) throws IOException {
    if (!shared && channel.tryLock(0, Long.MAX_VALUE, true) != null) {
      // A process that only reads does not write its name there.
      return "being looked at by another process (isobar check, dump or repair): wait for its end";
    }
    String owner = read(channel);
    return "open already in " + (owner.isEmpty() ? "another process" : owner);
  }

  /** Why other processes are not kept from writing, in words, or null if they are. */
  @Nullable String unheldBecause() {
    return unheldBecause;
  }

  private static String read(FileChannel channel) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(MOST_BYTES);
    channel.read(content, 0);
    return new String(content.array(), 0, content.position(), StandardCharsets.UTF_8);
  }

  private static String read(RandomAccessFile file) throws IOException {
    byte[] content = new byte[MOST_BYTES];
    file.seek(0);
    int length = Math.max(0, file.read(content));
    return new String(content, 0, length, StandardCharsets.UTF_8);
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

  /**
   * Checks that the lock still keeps others away, if it is one to write.
   *
   * @throws IOException if somebody else has the directory, or may have it, and says so
   */
  synchronized void ensureHeld() throws IOException {
    if (content == null) {
      return;
    }
    @Nullable String why;
    try {
      why = whyLost(content);
    } catch (IOException e) {
      throw FileErrors.explain("can't be looked at, so it may be lost", path, e);
    }
    if (why != null) {
      throw new IOException(
          path.getParent()
              + ": the lock was lost, so nothing is written any more: "
              + why
              + "; whoever opened the directory last has what was acknowledged before that. Close"
              + " the store, and find out who uses its directory");
    }
  }

  /** Null if it is held. */
  private @Nullable String whyLost(RandomAccessFile file) throws IOException {
    if (!directory.isInPlace()) {
      return "the directory was deleted, moved or replaced";
    }
    Object now;
    try {
      now = directory.keyOf(FILE);
    } catch (NoSuchFileException e) {
      return "somebody deleted the file " + FILE;
    }
    if (!Objects.equals(fileKey, now)) {
      return "somebody replaced the file " + FILE;
    }
    String held = read(file);
    if (held.equals(owner)) {
      return null;
    }
    return held.startsWith(OWNER) ? held + " has taken it" : "the file holds something else";
  }

  /** Tells other threads of this process what holds it. */
  void describeHolder(String holder) {
    HOLDERS.replace(key, holder);
    System.getProperties().replace(key, holder + MARK);
  }

  /** Gives the lock back, once, whether or not the file can be closed. The file stays. */
  synchronized void release() throws IOException {
    if (released) {
      return; // By now it may be somebody else's.
    }
    released = true;
    try {
      close(channel, content);
    } catch (IOException e) {
      throw FileErrors.explain("can't be closed", path, e);
    } finally {
      unregister(key);
    }
  }
}
