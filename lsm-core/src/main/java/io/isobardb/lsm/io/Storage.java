package io.isobardb.lsm.io;

import java.io.IOException;
import java.util.List;

/**
 * The directory of a store. Names are plain file names; there are no subdirectories.
 *
 * <p>Thread rule: all methods may be called by any thread. Created, renamed and deleted names are
 * durable only after {@link #syncDirectory}. Interrupts are harmless, as with {@link DataFile}.
 */
public interface Storage extends AutoCloseable {
  /** Where it is, for messages. */
  String path();

  /** Whether {@link IoMode#DIRECT} works here. */
  boolean supportsDirect();

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

  /** Renames, replacing what stands there, atomically. */
  void rename(String from, String to) throws IOException;

  /** Deletes a file; no error if there is none. A file that is open may be deleted. */
  void delete(String name) throws IOException;

  /** Makes creations, renames and deletions durable. */
  void syncDirectory() throws IOException;

  /** Bytes that can still be written. */
  long usableBytes() throws IOException;

  /**
   * Takes the store's lock, against other processes and other stores of this process, whatever path
   * or class loader they came by. Held until the storage is closed.
   *
   * @throws io.isobardb.lsm.error.StoreLockedException if somebody holds it; names who, if known
   */
  void lock() throws IOException;

  /** Gives the lock back. Files still open stay open. */
  @Override
  void close() throws IOException;
}
