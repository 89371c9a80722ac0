package io.isobardb.lsm.option;

/** How a file's bytes reach the device. */
public enum IoMode {
  /** Past the page cache of the operating system, so that the buffer cache is the only cache. */
  DIRECT,
  /** Through the page cache of the operating system. */
  BUFFERED
}
