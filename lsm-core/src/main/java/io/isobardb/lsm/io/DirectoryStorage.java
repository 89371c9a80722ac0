package io.isobardb.lsm.io;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A directory of the file system.
 *
 * <p>An interrupt closes a {@code FileChannel} for everybody, so that channels must be opened anew
 * under way. For that, a file that is deleted while it is open only moves aside, to a hidden name
 * that ends in {@value #ASIDE}, and goes with its last handle; what a crash leaves of them is
 * deleted by {@link #lock}. Hidden too is {@value StoreLock#FILE}.
 *
 * <p>One opened by {@link #openToRead} opens files for reading only, and refuses all that would
 * change the directory.
 *
 * <p>Thread rule: any thread. Names are guarded by one lock, which is never held during I/O on
 * files.
 */
public final class DirectoryStorage implements Storage {
  private static final String ASIDE = ".deleted";

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

  private final boolean readOnly;

  /** Whether the directory was not there before. */
  private final boolean made;

  private final OpenFiles descriptors;

  /** What files' channels pass through; tests disturb them there. */
  private final UnaryOperator<FileChannel> channels;

  private final ReentrantLock names = new ReentrantLock();
  private final Map<String, Place> places = new HashMap<>();

  private long asideCount;
  private int openFiles;
  private @Nullable Boolean supportsDirect;
  private @Nullable StoreLock lock;

  private DirectoryStorage(
      Path directory,
      boolean readOnly,
      boolean made,
      int maxOpenFiles,
      UnaryOperator<FileChannel> channels) {
    this.directory = directory;
    this.descriptors = new OpenFiles(directory.toString(), maxOpenFiles);
    this.readOnly = readOnly;
    this.made = made;
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
    return open(dir, create, OpenFiles.defaultLimit());
  }

  /**
   * As {@link #open(Path, boolean)}.
   *
   * @param maxOpenFiles how many descriptors its files may hold, see {@link OpenFiles}
   */
  public static DirectoryStorage open(Path dir, boolean create, int maxOpenFiles)
      throws IOException {
    return open(dir, create, maxOpenFiles, UnaryOperator.identity());
  }

  /** A quarter of the descriptors that the process may still take, 16 to 10,000. */
  public static int defaultMaxOpenFiles() {
    return OpenFiles.defaultLimit();
  }

  /** Opens a directory whose files are read and written through what {@code channels} gives. */
  static DirectoryStorage open(
      Path dir, boolean create, int maxOpenFiles, UnaryOperator<FileChannel> channels)
      throws IOException {
    Path absolute = dir.toAbsolutePath().normalize();
    boolean made = create && !Files.exists(absolute);
    if (made) {
      Directories.createDurably(absolute);
    }
    return new DirectoryStorage(Directories.real(absolute), false, made, maxOpenFiles, channels);
  }

  /**
   * Opens a directory to look at what is there. No right to write is needed, and nothing is
   * changed.
   *
   * @throws NoSuchFileException if it isn't there
   * @throws NotDirectoryException if it is something else
   */
  public static DirectoryStorage openToRead(Path dir) throws IOException {
    Path real = Directories.real(dir.toAbsolutePath().normalize());
    return new DirectoryStorage(
        real, true, false, OpenFiles.defaultLimit(), UnaryOperator.identity());
  }

  @Override
  public Storage toRead() {
    return new DirectoryStorage(
        directory, true, false, OpenFiles.defaultLimit(), UnaryOperator.identity());
  }

  @Override
  public String path() {
    return directory.toString();
  }

  /** The descriptors of its files. */
  OpenFiles descriptors() {
    return descriptors;
  }

  @Override
  public int descriptorsHeld() {
    return descriptors.held();
  }

  /** Files opened and not closed, whether they hold a descriptor or not. */
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
        known = DirectIo.worksIn(directory, ASIDE);
        supportsDirect = known;
      }
      return known;
    } finally {
      names.unlock();
    }
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    Path path = resolveToChange(name);
    return opening(
        () -> {
          try {
            FileChannel channel = openChannel(path, mode, StandardOpenOption.CREATE_NEW);
            return register(name, path, mode, channel);
          } catch (IOException e) {
            throw explain("can't be created", name, e, 0);
          }
        });
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    Path path = resolve(name);
    ChannelFile file =
        opening(
            () -> {
              try {
                return register(name, path, mode, openChannel(path, mode));
              } catch (IOException e) {
                throw FileErrors.explain("can't be opened", path, e);
              }
            });
    descriptors.mayPark(file);
    return file;
  }

  /** Opens a file under the lock of names. */
  private <T> T opening(OpenFiles.Opener<T> opener) throws IOException {
    return descriptors.opening(
        () -> {
          names.lock();
          try {
            return opener.open();
          } finally {
            names.unlock();
          }
        });
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
    if (!readOnly) {
      options.add(StandardOpenOption.WRITE);
    }
    if (mode == IoMode.DIRECT) {
      options.add(DirectIo.OPTION);
    }
    return channels.apply(FileChannel.open(path, options.toArray(new OpenOption[0])));
  }

  /** Opens the file at a place once more. */
  FileChannel reopen(Place place, IoMode mode) throws IOException {
    return opening(
        () -> {
          if (place.handles == 0) {
            throw new ClosedChannelException();
          }
          try {
            return openChannel(place.path, mode);
          } catch (IOException e) {
            throw FileErrors.explain("can't be opened", place.path, e);
          }
        });
  }

  /** Opens a second, uninterruptible handle for syncs. */
  RandomAccessFile openForSync(Place place) throws IOException {
    return opening(
        () -> {
          try {
            return new RandomAccessFile(place.path.toFile(), "rw");
          } catch (IOException e) {
            throw FileErrors.explain("can't be opened", place.path, e);
          }
        });
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
    List<String> found = new ArrayList<>();
    for (Path path : paths()) {
      String name = path.getFileName().toString();
      if (!hidden(name)) {
        found.add(name);
      }
    }
    return found;
  }

  private List<Path> paths() throws IOException {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> paths =
        descriptors.retrying(() -> Files.newDirectoryStream(directory))) {
      paths.forEach(found::add);
    } catch (DirectoryIteratorException e) {
      throw FileErrors.explain("can't be listed", directory, requireNonNull(e.getCause()));
    } catch (IOException e) {
      throw FileErrors.explain("can't be listed", directory, e);
    }
    return found;
  }

  /** Whether a file of this name is the storage's own. */
  public static boolean hidden(String name) {
    return name.equals(StoreLock.FILE) || name.endsWith(ASIDE);
  }

  @Override
  public boolean exists(String name) throws IOException {
    Path path = resolve(name);
    try {
      Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw FileErrors.explain("can't be looked at", path, e);
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Path source = resolveToChange(from);
    Path target = resolveToChange(to);
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
      throw explain("can't be renamed to " + to, from, e, 0);
    } finally {
      names.unlock();
    }
  }

  @Override
  public boolean link(Storage from, String name) throws IOException {
    if (!(from.origin() instanceof DirectoryStorage other)) {
      return false;
    }
    Path target = resolveToChange(name);
    try {
      Files.createLink(target, other.resolve(name));
      return true;
    } catch (NoSuchFileException | FileAlreadyExistsException e) {
      throw FileErrors.explain("can't be linked to", other.resolve(name), e);
    } catch (UnsupportedOperationException | IOException e) {
      // Another file system, one without links, or one that has too many of them: copies do.
      return false;
    }
  }

  @Override
  public void delete(String name) throws IOException {
    Path path = resolveToChange(name);
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
    } catch (IOException e) {
      throw FileErrors.explain("can't be deleted", path, e);
    } finally {
      names.unlock();
    }
  }

  @Override
  public boolean shrink(String name, long bytes) throws IOException {
    return Directories.shrink(resolveToChange(name), bytes);
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
    checkWritable();
    StoreLock held = lockHeld();
    if (held != null) {
      held.ensureValid();
    }
    descriptors.retrying(
        () -> {
          Directories.sync(directory);
          return true;
        });
  }

  @Override
  public long usableBytes() throws IOException {
    try {
      return Files.getFileStore(directory).getUsableSpace();
    } catch (IOException e) {
      throw FileErrors.explain("can't be asked for its free space", directory, e);
    }
  }

  @Override
  public void lock() throws IOException {
    checkWritable();
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

  @Override
  public @Nullable String lockToRead() throws IOException {
    names.lock();
    try {
      if (lock != null) {
        throw new IllegalStateException("locked already by this storage: " + directory);
      }
      lock = StoreLock.takeToRead(directory);
      return lock.unheldBecause();
    } finally {
      names.unlock();
    }
  }

  @Override
  public void describeHolder(String holder) {
    StoreLock held = lockHeld();
    if (held != null) {
      held.describeHolder(holder);
    }
  }

  private void deleteLeftovers() throws IOException {
    for (Path path : paths()) {
      if (path.getFileName().toString().endsWith(ASIDE)
          && places.values().stream().noneMatch(place -> place.path.equals(path))) {
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
      if (held != null) {
        held.release();
      }
      // Last: after an error half-way another call goes on.
      lock = null;
    } finally {
      names.unlock();
    }
  }

  /**
   * As {@link #close}, for a directory that was to become a store and did not: the lock's file goes
   * with the lock, and the directory, too, if it was made for this and is empty.
   */
  public void abandon() throws IOException {
    if (lockHeld() != null) {
      Files.deleteIfExists(directory.resolve(StoreLock.FILE));
    }
    close();
    if (made) {
      try {
        Files.deleteIfExists(directory);
      } catch (DirectoryNotEmptyException e) {
        // Somebody else's file is there.
      }
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

  private Path resolveToChange(String name) {
    checkWritable();
    return resolve(name);
  }

  private void checkWritable() {
    if (readOnly) {
      throw new IllegalStateException(directory + " was opened to be read only");
    }
  }

  /**
   * The exception to throw for {@code e}, as {@link FileErrors#explain} makes it; a full disk is
   * thrown right here.
   *
   * @param bytesWanted by a write; 0 if it was none
   */
  IOException explain(String what, String name, IOException e, long bytesWanted) {
    Path path = pathOf(name);
    if (bytesWanted > 0 && !FileErrors.saysFull(e)) {
      // The system's message may be in another language.
      try {
        if (Files.getFileStore(directory).getUsableSpace() < DataFile.BLOCK) {
          throw FileErrors.full(what, path, e);
        }
      } catch (IOException unknown) {
        e.addSuppressed(unknown);
      }
    }
    return FileErrors.explainOrFull(what, path, e);
  }

  /** Where a file of this name is, for messages. */
  Path pathOf(String name) {
    return directory.resolve(name);
  }
}
