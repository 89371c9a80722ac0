package io.isobardb.lsm.io;

/** How a file's bytes reach the device. */
public enum IoMode {
  /**
   * Past the page cache of the operating system, so that the buffer cache is the only cache.
   * Offsets, lengths and memory must be aligned to {@link DataFile#BLOCK}.
   */
  DIRECT,
  /** Through the page cache of the operating system. */
  BUFFERED
}
