package io.isobardb.lsm.io;

import io.isobardb.lsm.error.DiskFullException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A directory of the file system.
 *
 * <p>An interrupt closes a {@code FileChannel} for everybody, so that channels must be opened anew
 * under way. For that, a file that is deleted while it is open only moves aside, to a hidden name
 * that ends in {@value #ASIDE}, and goes with its last handle; what a crash leaves of them is
 * deleted by {@link #lock}. Hidden too is {@value StoreLock#FILE}.
 *
 * <p>Thread rule: any thread. Names are guarded by one lock, which is never held during I/O on
 * files.
 */
public final class DirectoryStorage implements Storage {
  private static final String ASIDE = ".deleted";
  private static final OpenOption DIRECT = directOption();

  /**
   * {@code ExtendedOpenOption.DIRECT}, found by its name: newer compilers warn of the type, and
   * nothing suppresses that, though module {@code jdk.unsupported} exports it.
   */
  private static OpenOption directOption() {
    try {
      for (Object option :
          Class.forName("com.sun.nio.file.ExtendedOpenOption").getEnumConstants()) {
        if (option.toString().equals("DIRECT")) {
          return (OpenOption) option;
        }
      }
    } catch (ClassNotFoundException e) {
      throw new ExceptionInInitializerError(e);
    }
    throw new ExceptionInInitializerError("the JDK has no direct I/O");
  }

  /**
   * Where an open file is. Guarded by {@link #names}.
   *
   * <p>Invariant: while {@code handles > 0}, {@code path} leads to the file.
   */
  static final class Place {
    private Path path;
    private int handles;
    private boolean aside;

    private Place(Path path) {
      this.path = path;
    }
  }

  private final Path directory;

  /** What files' channels pass through; tests disturb them there. */
  private final UnaryOperator<FileChannel> channels;

  private final ReentrantLock names = new ReentrantLock();
  private final Map<String, Place> places = new HashMap<>();
  private long asideCount;
  private int openFiles;
  private @Nullable Boolean supportsDirect;
  private @Nullable StoreLock lock;

  private DirectoryStorage(Path directory, UnaryOperator<FileChannel> channels) {
    this.directory = directory;
    this.channels = channels;
  }

  /**
   * Opens a directory, without locking it.
   *
   * @param create whether to create it, and the directories above it, durably, if it isn't there
   * @throws NoSuchFileException if it isn't there and is not to be created
   * @throws NotDirectoryException if it is something else
   */
  public static DirectoryStorage open(Path dir, boolean create) throws IOException {
    return open(dir, create, UnaryOperator.identity());
  }

  /** Opens a directory whose files are read and written through what {@code channels} gives. */
  static DirectoryStorage open(Path dir, boolean create, UnaryOperator<FileChannel> channels)
      throws IOException {
    Path absolute = dir.toAbsolutePath().normalize();
    if (create && !Files.exists(absolute)) {
      createDurably(absolute);
    }
    Path real = absolute.toRealPath();
    if (!Files.isDirectory(real)) {
      throw new NotDirectoryException(real.toString());
    }
    return new DirectoryStorage(real, channels);
  }

  private static void createDurably(Path dir) throws IOException {
    Path parent = dir.getParent();
    if (parent != null && !Files.exists(parent)) {
      createDurably(parent);
    }
    try {
      Files.createDirectory(dir);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(dir)) {
        throw e;
      }
    }
    if (parent != null) {
      syncDirectory(parent);
    }
  }

  @Override
  public String path() {
    return directory.toString();
  }

  /** Files opened and not closed. */
  public int openFiles() {
    names.lock();
    try {
      return openFiles;
    } finally {
      names.unlock();
    }
  }

  @Override
  public boolean supportsDirect() {
    names.lock();
    try {
      Boolean known = supportsDirect;
      if (known == null) {
        known = probeDirect();
        supportsDirect = known;
      }
      return known;
    } finally {
      names.unlock();
    }
  }

  /** Tries to write and read a block. */
  private boolean probeDirect() {
    boolean interrupted = Thread.interrupted();
    Path probe = directory.resolve("probe-" + ProcessHandle.current().pid() + ASIDE);
    try {
      try (FileChannel channel =
          FileChannel.open(
              probe,
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              DIRECT)) {
        ByteBuffer twice = ByteBuffer.allocateDirect(2 * DataFile.BLOCK);
        ByteBuffer block = twice.alignedSlice(DataFile.BLOCK).limit(DataFile.BLOCK);
        return channel.write(block, 0) == DataFile.BLOCK
            && channel.read(block.rewind(), 0) == DataFile.BLOCK;
      } finally {
        Files.deleteIfExists(probe);
      }
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    Path path = resolve(name);
    names.lock();
    try {
      FileChannel channel = openChannel(path, mode, StandardOpenOption.CREATE_NEW);
      return register(name, path, mode, channel);
    } catch (IOException e) {
      throw translate(e, name, 0);
    } finally {
      names.unlock();
    }
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    Path path = resolve(name);
    names.lock();
    try {
      return register(name, path, mode, openChannel(path, mode));
    } finally {
      names.unlock();
    }
  }

  private ChannelFile register(String name, Path path, IoMode mode, FileChannel channel) {
    Place place = places.computeIfAbsent(name, n -> new Place(path));
    place.handles++;
    openFiles++;
    return new ChannelFile(this, place, name, mode, channel);
  }

  private FileChannel openChannel(Path path, IoMode mode, OpenOption... more) throws IOException {
    List<OpenOption> options = new ArrayList<>(List.of(more));
    options.add(StandardOpenOption.READ);
    options.add(StandardOpenOption.WRITE);
    if (mode == IoMode.DIRECT) {
      options.add(DIRECT);
    }
    return channels.apply(FileChannel.open(path, options.toArray(new OpenOption[0])));
  }

  /** Opens the file at a place once more. */
  FileChannel reopen(Place place, IoMode mode) throws IOException {
    names.lock();
    try {
      if (place.handles == 0) {
        throw new ClosedChannelException();
      }
      return openChannel(place.path, mode);
    } finally {
      names.unlock();
    }
  }

  /** Opens a second, uninterruptible handle for syncs. */
  RandomAccessFile openForSync(Place place) throws IOException {
    names.lock();
    try {
      return new RandomAccessFile(place.path.toFile(), "rw");
    } finally {
      names.unlock();
    }
  }

  /** A handle of the file at {@code place} was closed. */
  void released(Place place) throws IOException {
    names.lock();
    try {
      openFiles--;
      if (--place.handles == 0) {
        if (place.aside) {
          Files.deleteIfExists(place.path);
        } else {
          places.values().remove(place);
        }
      }
    } finally {
      names.unlock();
    }
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      return paths
          .map(path -> path.getFileName().toString())
          .filter(name -> !hidden(name))
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** Whether a file of this name is the storage's own. */
  static boolean hidden(String name) {
    return name.equals(StoreLock.FILE) || name.endsWith(ASIDE);
  }

  @Override
  public boolean exists(String name) throws IOException {
    return Files.exists(resolve(name), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Path source = resolve(from);
    Path target = resolve(to);
    if (from.equals(to)) {
      return;
    }
    names.lock();
    try {
      Place replaced = places.get(to);
      if (replaced != null) {
        Path aside = nextAside(to);
        Files.createLink(aside, target);
        moved(replaced, to, aside);
      }
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
      Place place = places.remove(from);
      if (place != null) {
        place.path = target;
        places.put(to, place);
      }
    } catch (IOException e) {
      throw translate(e, from, 0);
    } finally {
      names.unlock();
    }
  }

  @Override
  public void delete(String name) throws IOException {
    Path path = resolve(name);
    names.lock();
    try {
      Place place = places.get(name);
      if (place == null) {
        Files.deleteIfExists(path);
      } else {
        Path aside = nextAside(name);
        Files.move(path, aside, StandardCopyOption.ATOMIC_MOVE);
        moved(place, name, aside);
      }
    } finally {
      names.unlock();
    }
  }

  private Path nextAside(String name) throws IOException {
    Path aside = directory.resolve(name + "." + asideCount++ + ASIDE);
    Files.deleteIfExists(aside);
    return aside;
  }

  private void moved(Place place, String name, Path aside) {
    places.remove(name);
    place.path = aside;
    place.aside = true;
  }

  @Override
  public void syncDirectory() throws IOException {
    StoreLock held = lockHeld();
    if (held != null) {
      held.ensureValid();
    }
    syncDirectory(directory);
  }

  private static void syncDirectory(Path dir) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try (FileChannel channel = FileChannel.open(dir, StandardOpenOption.READ)) {
          channel.force(true);
          return;
        } catch (ClosedChannelException e) {
          // Only an interrupt of this thread closes a channel that no other thread knows.
          interrupted |= Thread.interrupted();
        }
      }
    } catch (IOException e) {
      throw translate(e, dir.toString(), null, 0);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public long usableBytes() throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  @Override
  public void lock() throws IOException {
    names.lock();
    try {
      if (lock != null) {
        throw new IllegalStateException("locked already by this storage: " + directory);
      }
      StoreLock taken = StoreLock.take(directory);
      try {
        deleteLeftovers();
      } catch (IOException | RuntimeException e) {
        taken.release();
        throw e;
      }
      lock = taken;
    } finally {
      names.unlock();
    }
  }

  private void deleteLeftovers() throws IOException {
    List<Path> leftovers;
    try (Stream<Path> paths = Files.list(directory)) {
      leftovers = paths.filter(path -> path.getFileName().toString().endsWith(ASIDE)).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    for (Path path : leftovers) {
      if (places.isEmpty() || places.values().stream().noneMatch(p -> p.path.equals(path))) {
        Files.deleteIfExists(path);
      }
    }
  }

  private @Nullable StoreLock lockHeld() {
    names.lock();
    try {
      return lock;
    } finally {
      names.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    names.lock();
    try {
      StoreLock held = lock;
      lock = null;
      if (held != null) {
        held.release();
      }
    } finally {
      names.unlock();
    }
  }

  private Path resolve(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..") || hidden(name)) {
      throw new IllegalArgumentException("not a name of a data file: " + name);
    }
    Path path = directory.resolve(name);
    if (!directory.equals(path.getParent())) {
      throw new IllegalArgumentException("not a plain file name: " + name);
    }
    return path;
  }

  /** The exception to throw for {@code e}; a full disk is thrown right here. */
  IOException translate(IOException e, String name, long bytesWanted) {
    return translate(e, name, directory, bytesWanted);
  }

  private static IOException translate(
      IOException e, String name, @Nullable Path directory, long bytesWanted) {
    String message = String.valueOf(e.getMessage());
    boolean full =
        message.contains("No space left on device") || message.contains("Disk quota exceeded");
    if (!full && directory != null && bytesWanted > 0) {
      // The system's message may be in another language.
      try {
        full = Files.getFileStore(directory).getUsableSpace() < DataFile.BLOCK;
      } catch (IOException unknown) {
        e.addSuppressed(unknown);
      }
    }
    if (full) {
      throw new DiskFullException("the disk is full: " + name, e);
    }
    return e;
  }
}
