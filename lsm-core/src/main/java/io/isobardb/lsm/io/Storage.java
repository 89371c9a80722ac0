package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The directory of a store. Names are plain file names; there are no subdirectories.
 *
 * <p>Thread rule: all methods may be called by any thread. Created, renamed and deleted names are
 * durable only after {@link #syncDirectory}. Interrupts are harmless, as with {@link DataFile}.
 */
public interface Storage extends AutoCloseable {
  /** Where it is, for messages. */
  String path();

  /** The storage that has the files: this one, unless it passes calls on to another one. */
  default Storage origin() {
    return this;
  }

  /**
   * The same directory, to read what is there: no right to write is needed. It takes no lock, and
   * is closed apart.
   */
  default Storage toRead() {
    return this;
  }

  /** Whether {@link IoMode#DIRECT} works here. */
  boolean supportsDirect();

  /** Whether what is changed here is gone when this is closed, and nobody else ever sees it. */
  default boolean discardsChanges() {
    return false;
  }

  /** Creates a file that must not exist yet, for reading and writing. */
  DataFile create(String name, IoMode mode) throws IOException;

  /**
   * Opens an existing file for reading and writing.
   *
   * @throws java.nio.file.NoSuchFileException if there is none
   */
  DataFile open(String name, IoMode mode) throws IOException;

  /** The names of all files, in no order. */
  List<String> list() throws IOException;

  boolean exists(String name) throws IOException;

  /**
   * Whether a store to a mapped file may find no room though the file has it, since what is changed
   * is written elsewhere.
   */
  default boolean mayCopyOnWrite() {
    return false;
  }

  /** Renames, replacing what stands there, atomically. */
  void rename(String from, String to) throws IOException;

  /**
   * Gives a file of another directory a name here, too, if both lie in one file system. The file
   * must not be written to any more.
   *
   * @return false if that can't be done
   */
  default boolean link(Storage from, String name) throws IOException {
    return false;
  }

  /** Deletes a file; no error if there is none. A file that is open may be deleted. */
  void delete(String name) throws IOException;

  /**
   * Frees the last {@code bytes} of a closed file that is about to be deleted: the system takes
   * long to delete a large one at once.
   *
   * @return false if nothing was done: the file is not larger than that, it has another name, or
   *     this storage deletes large files as fast as small ones
   */
  default boolean shrink(String name, long bytes) throws IOException {
    return false;
  }

  /** Makes creations, renames and deletions durable. */
  void syncDirectory() throws IOException;

  /** Bytes that can still be written. */
  long usableBytes() throws IOException;

  /**
   * The clock that tells how long calls take: {@code clock}, unless the storage is simulated and
   * lets their time pass later.
   */
  default Clock callClock(Clock clock) {
    return clock;
  }

  /** Descriptors of the system that its files hold now. */
  int descriptorsHeld();

  /**
   * Takes the store's lock, against other processes and other stores of this process, whatever path
   * or class loader they came by. Held until the storage is closed.
   *
   * @throws io.isobardb.lsm.error.StoreLockedException if somebody holds it; names who, if known
   */
  void lock() throws IOException;

  /**
   * Keeps others from writing while files are looked at, as {@link #lock} does, but changes
   * nothing: no file is made, and no right to write is needed. Others may do the same at the same
   * time, but not in this process.
   *
   * @return null; or, if others can't be excluded, why not, in words
   * @throws io.isobardb.lsm.error.StoreLockedException if somebody holds the lock to write
   */
  @Nullable String lockToRead() throws IOException;

  /**
   * Says who holds the lock, for messages to others of this process who want it.
   *
   * @param holder in words, such as {@code by thread 'main'}
   */
  default void describeHolder(String holder) {}

  /**
   * Checks that the lock, if it was taken to write, still keeps others away.
   *
   * @throws IOException if somebody else has the directory, or may have it
   */
  default void ensureHeld() throws IOException {}

  /**
   * As {@link #close}, for a directory that was to hold something and does not, because of {@code
   * cause}: what this has made itself goes, too. What fails meanwhile is suppressed in the cause.
   */
  default void abandon(Throwable cause) {
    try {
      close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** Gives the lock back. Files still open stay open. */
  @Override
  void close() throws IOException;
}
