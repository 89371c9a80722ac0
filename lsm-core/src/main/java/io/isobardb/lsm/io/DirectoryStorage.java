package io.isobardb.lsm.io;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.setting.ProcessLimits;
import io.isobardb.memory.system.ProcessMemory;
import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.SyncFailedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A directory of the file system.
 *
 * <p>An interrupt closes a {@code FileChannel} for everybody, so that channels must be opened anew
 * under way. For that, a file that is deleted or replaced while it is open only moves aside, to a
 * hidden name, and goes with its last handle; what a crash leaves of them is deleted by {@link
 * #lock}. Hidden too is {@value StoreLock#FILE}.
 *
 * <p>While the lock is held, names are looked up in the directory that was locked, whatever stands
 * at its path by now. Before each change by name, and after each sync, the storage checks that the
 * lock is still its own. A file that is opened anew must be the one that it was.
 *
 * <p>One opened by {@link #openToRead} opens files for reading only, and refuses all that would
 * change the directory.
 *
 * <p>Thread rule: any thread. Names are guarded by one lock, which is never held during I/O on
 * files.
 */
public final class DirectoryStorage implements Storage {
  /** File systems that change a file where it lies. */
  private static final Set<String> IN_PLACE =
      Set.of("ext2", "ext3", "ext4", "xfs", "tmpfs", "ntfs", "hfs");

  /** How the name of a file ends that was deleted while it was open, or tries direct I/O out. */
  private static final Pattern ASIDE_NAME = Pattern.compile(".+\\.isobar-[0-9]+-[0-9]+\\.deleted");

  /**
   * Where an open file is. Guarded by {@link #names}.
   *
   * <p>Invariant: while {@code handles > 0}, {@code name} leads to the file, unless somebody else
   * took the directory.
   */
  static final class Place {
    private String name;
    private final @Nullable Object key;
    private int handles;
    private boolean aside;

    private Place(String name, @Nullable Object key) {
      this.name = name;
      this.key = key;
    }
  }

  private final Path directory;

  private final boolean readOnly;

  /** The directories that were made for it, deepest first. */
  private final List<Path> made;

  /** Who else may use the files that are made. */
  private final FileAccess access;

  private final OpenFiles descriptors;

  /** What files' channels pass through; tests disturb them there. */
  private final UnaryOperator<FileChannel> channels;

  private final ReentrantLock names = new ReentrantLock();
  private final Map<String, Place> places = new HashMap<>();

  private long asideCount;
  private int openFiles;
  private @Nullable Boolean supportsDirect;

  /** Held while the lock is. */
  private volatile OpenDirectory files;

  private volatile @Nullable StoreLock lock;

  /** Held during a sync of the directory: one that comes after a failed one is to know that. */
  private final ReentrantLock syncing = new ReentrantLock();

  /** What the first sync failed of since the lock was taken. Guarded by {@link #syncing}. */
  private @Nullable Throwable syncFailure;

  private DirectoryStorage(
      Path directory,
      boolean readOnly,
      List<Path> made,
      FileAccess access,
      OpenFiles descriptors,
      UnaryOperator<FileChannel> channels) {
    this.directory = directory;
    this.descriptors = descriptors;
    this.readOnly = readOnly;
    this.made = made;
    this.access = access;
    this.channels = channels;
    this.files = OpenDirectory.byPath(directory, access);
  }

  /**
   * Opens a directory, without locking it.
   *
   * @param create whether to create it, and the directories above it, durably, if it isn't there
   * @throws NoSuchFileException if it isn't there and is not to be created
   * @throws NotDirectoryException if it is something else
   */
  public static DirectoryStorage open(Path dir, boolean create) throws IOException {
    return open(dir, create, ProcessLimits.openFiles(), FileAccess.OWNER);
  }

  /**
   * As {@link #open(Path, boolean)}.
   *
   * @param maxOpenFiles how many descriptors its files may hold, see {@link OpenFiles}
   * @param access who else may use what is made
   */
  public static DirectoryStorage open(Path dir, boolean create, int maxOpenFiles, FileAccess access)
      throws IOException {
    UnaryOperator<FileChannel> channels = UnaryOperator.identity();
    return open(dir, create, maxOpenFiles, access, channels, OpenFiles.OF_PROCESS);
  }

  /** Opens a directory whose files are read and written through what {@code channels} gives. */
  static DirectoryStorage open(
      Path dir, boolean create, int maxOpenFiles, UnaryOperator<FileChannel> channels)
      throws IOException {
    return open(dir, create, maxOpenFiles, FileAccess.OWNER, channels, OpenFiles.OF_PROCESS);
  }

  /** As above, in a process with these descriptors. */
  static DirectoryStorage open(
      Path dir,
      boolean create,
      int maxOpenFiles,
      FileAccess access,
      UnaryOperator<FileChannel> channels,
      OpenFiles.Descriptors process)
      throws IOException {
    Path absolute = Directories.named(Directories.onDisk(dir));
    List<Path> made = create ? Directories.createDurably(absolute, access) : List.of();
    Path real;
    try {
      real = Directories.named(Directories.real(absolute));
    } catch (IOException | RuntimeException e) {
      Directories.deleteEmpty(made, e);
      throw e;
    }
    OpenFiles descriptors = new OpenFiles(real.toString(), maxOpenFiles, process);
    return new DirectoryStorage(real, false, made, access, descriptors, channels);
  }

  /**
   * Opens a directory to look at what is there. No right to write is needed, and nothing is
   * changed.
   *
   * @throws NoSuchFileException if it isn't there
   * @throws NotDirectoryException if it is something else
   */
  public static DirectoryStorage openToRead(Path dir) throws IOException {
    return toRead(Directories.real(Directories.onDisk(dir)));
  }

  private static DirectoryStorage toRead(Path real) {
    OpenFiles descriptors =
        new OpenFiles(real.toString(), ProcessLimits.openFiles(), OpenFiles.OF_PROCESS);
    return new DirectoryStorage(
        real, true, List.of(), FileAccess.OWNER, descriptors, UnaryOperator.identity());
  }

  @Override
  public Storage toRead() {
    return toRead(directory);
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
        known = DirectIo.works(pathOf(asideName("probe-" + ProcessMemory.processId())));
        supportsDirect = known;
      }
      return known;
    } finally {
      names.unlock();
    }
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    checkToChange(name);
    return opening(
        () -> {
          try {
            ensureHeld();
            return register(name, mode, openChannel(name, mode, StandardOpenOption.CREATE_NEW));
          } catch (IOException e) {
            throw explain("can't be created", name, e, DataFile.BLOCK);
          }
        });
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    checkName(name);
    ChannelFile file =
        opening(
            () -> {
              try {
                return register(name, mode, openChannel(name, mode));
              } catch (IOException e) {
                throw notOpened(name, e);
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

  private ChannelFile register(String name, IoMode mode, FileChannel channel) throws IOException {
    Place place = places.get(name);
    if (place == null) {
      try {
        place = new Place(name, files.keyOf(name));
      } catch (IOException e) {
        channel.close();
        throw e;
      }
      places.put(name, place);
    }
    place.handles++;
    openFiles++;
    return new ChannelFile(this, place, name, mode, channel);
  }

  private FileChannel openChannel(String name, IoMode mode, OpenOption... more) throws IOException {
    return channels.apply(openPlainly(name, mode, more));
  }

  private FileChannel openPlainly(String name, IoMode mode, OpenOption... more) throws IOException {
    Set<OpenOption> options = new HashSet<>(List.of(more));
    options.add(StandardOpenOption.READ);
    if (!readOnly) {
      options.add(StandardOpenOption.WRITE);
      options.add(LinkOption.NOFOLLOW_LINKS);
    }
    if (mode == IoMode.DIRECT) {
      options.add(DirectIo.OPTION);
    }
    return files.open(name, options);
  }

  /** Opens the file at a place once more. */
  FileChannel reopen(Place place, IoMode mode) throws IOException {
    return opening(
        () -> {
          if (place.handles == 0) {
            throw new ClosedChannelException();
          }
          try {
            return same(place, openChannel(place.name, mode));
          } catch (IOException e) {
            throw notOpened(place.name, e);
          }
        });
  }

  /** Why a file can't be opened: one that is missing may have gone with the whole directory. */
  private IOException notOpened(String name, IOException cause) throws IOException {
    if (cause instanceof NoSuchFileException) {
      ensureHeld();
    }
    return FileErrors.explain("can't be opened", pathOf(name), cause);
  }

  /** Opens a handle to map the file by. */
  FileChannel openToMap(Place place) throws IOException {
    return opening(
        () -> {
          ensureHeld();
          return same(place, openPlainly(place.name, IoMode.BUFFERED));
        });
  }

  /** Opens a second, uninterruptible handle for syncs. */
  RandomAccessFile openForSync(Place place) throws IOException {
    return opening(
        () -> {
          try {
            ensureHeld();
            // To read is enough to sync, where files are told apart, and makes no file.
            String mode = place.key == null ? "rw" : "r";
            return same(place, new RandomAccessFile(pathOf(place.name).toFile(), mode));
          } catch (IOException e) {
            throw FileErrors.explain("can't be opened", pathOf(place.name), e);
          }
        });
  }

  /** What was opened, if it is the file that the place is about. */
  private <T extends Closeable> T same(Place place, T opened) throws IOException {
    boolean same = false;
    try {
      same = Objects.equals(place.key, files.keyOf(place.name));
    } finally {
      if (!same) {
        opened.close();
      }
    }
    if (!same) {
      throw new IOException("somebody put another file in its place");
    }
    return opened;
  }

  /** A handle of the file at {@code place} was closed. */
  void onReleased(Place place) throws IOException {
    names.lock();
    try {
      openFiles--;
      if (--place.handles == 0) {
        if (place.aside) {
          files.delete(place.name);
        } else {
          places.remove(place.name, place);
        }
      }
    } finally {
      names.unlock();
    }
  }

  @Override
  public List<String> list() throws IOException {
    List<String> found = new ArrayList<>(listAll());
    found.removeIf(DirectoryStorage::hidden);
    return found;
  }

  private List<String> listAll() throws IOException {
    try {
      return descriptors.retrying(files::list);
    } catch (IOException e) {
      throw FileErrors.explain("can't be listed", directory, e);
    }
  }

  /** Whether a file of this name is the storage's own. */
  public static boolean hidden(String name) {
    return name.equals(StoreLock.FILE) || ASIDE_NAME.matcher(name).matches();
  }

  @Override
  public boolean exists(String name) throws IOException {
    checkName(name);
    try {
      files.keyOf(name);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      throw FileErrors.explain("can't be looked at", pathOf(name), e);
    }
  }

  @Override
  public void rename(String from, String to) throws IOException {
    checkToChange(from);
    checkToChange(to);
    if (from.equals(to)) {
      return;
    }
    names.lock();
    try {
      Place replaced = places.get(to);
      ensureHeld();
      if (replaced != null) {
        String aside = nextAside(to);
        linkAside(to, aside);
        onMoved(replaced, to, aside);
      }
      files.rename(from, to);
      Place place = places.remove(from);
      if (place != null) {
        place.name = to;
        places.put(to, place);
      }
    } catch (IOException e) {
      throw explain("can't be renamed to " + to, from, e, DataFile.BLOCK);
    } finally {
      names.unlock();
    }
  }

  /**
   * Gives a file that is open another name before it loses its own. Where files can't have two, it
   * only goes on with the channels that it has: after an interrupt it can't be opened again.
   */
  private void linkAside(String name, String aside) throws IOException {
    try {
      Files.createLink(pathOf(aside), pathOf(name));
    } catch (NoSuchFileException e) {
      throw e;
    } catch (UnsupportedOperationException | FileSystemException e) {
      // The rename tells if there is more to it.
    }
  }

  @Override
  public boolean link(Storage from, String name) throws IOException {
    if (!(from.origin() instanceof DirectoryStorage other)) {
      return false;
    }
    checkToChange(name);
    ensureHeld();
    other.ensureHeld();
    try {
      Files.createLink(pathOf(name), other.pathOf(name));
      return true;
    } catch (NoSuchFileException | FileAlreadyExistsException e) {
      throw FileErrors.explain("can't be linked to", other.pathOf(name), e);
    } catch (UnsupportedOperationException | IOException e) {
      // Another file system, one without links, or one that has too many of them: copies do.
      return false;
    }
  }

  @Override
  public void delete(String name) throws IOException {
    checkToChange(name);
    names.lock();
    try {
      ensureHeld();
      Place place = places.get(name);
      if (place == null) {
        files.delete(name);
      } else {
        String aside = nextAside(name);
        files.rename(name, aside);
        onMoved(place, name, aside);
      }
    } catch (IOException e) {
      throw FileErrors.explain("can't be deleted", pathOf(name), e);
    } finally {
      names.unlock();
    }
  }

  @Override
  public boolean shrink(String name, long bytes) throws IOException {
    checkToChange(name);
    ensureHeld();
    return descriptors.retrying(() -> Directories.shrink(pathOf(name), bytes));
  }

  private String nextAside(String name) throws IOException {
    String aside = asideName(name);
    files.delete(aside);
    return aside;
  }

  private String asideName(String name) {
    StoreLock held = lock;
    long opening = held == null ? 0 : held.number();
    return name + ".isobar-" + opening + "-" + asideCount++ + ".deleted";
  }

  private void onMoved(Place place, String name, String aside) {
    places.remove(name);
    place.name = aside;
    place.aside = true;
  }

  @Override
  public void syncDirectory() throws IOException {
    checkWritable();
    ensureHeld();
    OpenDirectory synced = files;
    syncing.lock();
    try {
      Throwable before = syncFailure;
      if (before != null) {
        throw new IOException(
            directory + ": a sync has failed, and no later one tells what was lost by that",
            before);
      }
      synced.sync(() -> descriptors.retrying(() -> channels.apply(synced.openToSync())));
    } catch (SyncFailedException | DiskFullException e) {
      syncFailure = e;
      throw e;
    } finally {
      syncing.unlock();
    }
    ensureHeld();
  }

  @Override
  public void ensureHeld() throws IOException {
    StoreLock held = lock;
    if (held != null) {
      held.ensureHeld();
    }
  }

  @Override
  public boolean mayCopyOnWrite() {
    try {
      return !IN_PLACE.contains(
          descriptors
              .retrying(() -> Files.getFileStore(directory).type())
              .toLowerCase(Locale.ROOT));
    } catch (IOException | UnsupportedOperationException e) {
      return true;
    }
  }

  @Override
  public long usableBytes() throws IOException {
    try {
      return descriptors.retrying(() -> Files.getFileStore(directory).getUsableSpace());
    } catch (IOException e) {
      throw FileErrors.explain("can't be asked for its free space", directory, e);
    }
  }

  @Override
  public void lock() throws IOException {
    checkWritable();
    try {
      take(StoreLock::take);
    } catch (IOException | RuntimeException e) {
      Directories.deleteEmpty(made, e);
      throw e;
    }
    try {
      deleteLeftovers();
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  @Override
  public @Nullable String lockToRead() throws IOException {
    return take(StoreLock::takeToRead).unheldBecause();
  }

  private interface Taking {
    StoreLock take(OpenDirectory held, Path path) throws IOException;
  }

  private StoreLock take(Taking taking) throws IOException {
    names.lock();
    try {
      if (lock != null) {
        throw new IllegalStateException("locked already by this storage: " + directory);
      }
      OpenDirectory held = descriptors.retrying(() -> OpenDirectory.hold(directory, access));
      try {
        StoreLock taken = descriptors.retrying(() -> taking.take(held, directory));
        files = held;
        lock = taken;
        forgetFailure();
        return taken;
      } catch (IOException | RuntimeException e) {
        held.close();
        throw e;
      }
    } finally {
      names.unlock();
    }
  }

  /** Whoever takes the lock writes anew what was not synced. */
  private void forgetFailure() {
    syncing.lock();
    try {
      syncFailure = null;
    } finally {
      syncing.unlock();
    }
  }

  @Override
  public void describeHolder(String holder) {
    StoreLock held = lock;
    if (held != null) {
      held.describeHolder(holder);
    }
  }

  /**
   * Deletes what a crash left of files that were deleted while they were open, unless the directory
   * is somebody else's.
   */
  private void deleteLeftovers() throws IOException {
    names.lock();
    try {
      List<String> left = new ArrayList<>(listAll());
      left.removeIf(name -> !ASIDE_NAME.matcher(name).matches());
      if (left.isEmpty() || !(NewDirectory.isOwn(directory) || list().isEmpty())) {
        return;
      }
      for (String name : left) {
        if (places.values().stream().noneMatch(place -> place.name.equals(name))) {
          files.delete(name);
        }
      }
    } finally {
      names.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    names.lock();
    try {
      StoreLock held = lock;
      OpenDirectory opened = files;
      if (held != null) {
        held.release();
      }
      // Only now: after an error half-way another call goes on.
      lock = null;
      files = OpenDirectory.byPath(directory, access);
      opened.close();
    } finally {
      names.unlock();
    }
  }

  /** The lock's file goes, and the directories that were made for this and are empty. */
  @Override
  public void abandon(Throwable cause) {
    try {
      if (lock != null) {
        ensureHeld();
        files.delete(StoreLock.FILE);
      }
      close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    Directories.deleteEmpty(made, cause);
  }

  private void checkName(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..") || hidden(name)) {
      throw new IllegalArgumentException("not a name of a data file: " + name);
    }
    if (!directory.equals(directory.resolve(name).getParent())) {
      throw new IllegalArgumentException("not a plain file name: " + name);
    }
  }

  private void checkToChange(String name) {
    checkWritable();
    checkName(name);
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
   * @param bytesWanted by a write, or by a new file or name
   */
  IOException explain(String what, String name, IOException e, long bytesWanted) {
    return FileErrors.explainOrFull(what, pathOf(name), e, bytesWanted);
  }

  /** Where a file of this name is, for messages. */
  Path pathOf(String name) {
    return directory.resolve(name);
  }
}
