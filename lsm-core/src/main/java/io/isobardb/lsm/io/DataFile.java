package io.isobardb.lsm.io;

import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;

/**
 * An open file with positional reads and writes from and to off-heap memory.
 *
 * <p>Thread rule: all methods may be called by any thread, at once. An interrupt of the calling
 * thread neither fails a call nor harms the file; the thread's interrupt flag is kept. Every call
 * does all of its work or throws; there are no short writes to the caller.
 *
 * <p>Errors: {@link IOException} as the device gave it ({@code DiskFullException} of {@code
 * lsm.error} when there is no room). What a failed write or sync left behind is unknown.
 */
public interface DataFile extends AutoCloseable {
  /** The unit of alignment for {@link IoMode#DIRECT}, in bytes. */
  int BLOCK = 4096;

  /** The file's name in its directory. */
  String name();

  /**
   * Reads into memory until {@code length} bytes are read or the file ends.
   *
   * @return bytes read; fewer than {@code length} only at the end of the file
   */
  int read(long offset, Memory target, int targetOffset, int length) throws IOException;

  /** Writes all bytes, extending the file if need be. They are durable after {@link #sync}. */
  void write(long offset, Memory source, int sourceOffset, int length) throws IOException;

  /**
   * Writes {@code count} regions of {@code length} bytes each, one after another in the file, with
   * as few system calls as possible.
   */
  void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
      throws IOException;

  /**
   * Maps a part of the file into memory, once. The system owns what is stored there: it outlives
   * the process, even one that is killed, and becomes durable with the next {@link #sync}. Reads
   * and writes of the file see the same bytes.
   *
   * <p>The file must be that long. A block may be stored to once it was written, so that the file
   * system has given it space: a store to memory can't report a full disk. Access after {@link
   * #close} is a defect.
   *
   * @param offset a multiple of {@link #BLOCK}
   * @return {@code length} bytes, readable and writable
   * @throws IOException if the file system can't map files
   */
  Memory map(long offset, int length) throws IOException;

  /**
   * Makes all that was written or stored in mapped memory durable, the file's size included.
   *
   * @throws IOException if it failed, for lack of room too: what was to be synced may be lost even
   *     if it can be read, and a second try would not tell
   */
  void sync() throws IOException;

  /**
   * Whether it holds a descriptor of the system now. One that was opened to be read may give its
   * descriptor back between calls.
   */
  boolean holdsDescriptor();

  /** The size in bytes. */
  long size() throws IOException;

  /** Cuts the file off at {@code size} bytes. */
  void truncate(long size) throws IOException;

  @Override
  void close() throws IOException;
}
