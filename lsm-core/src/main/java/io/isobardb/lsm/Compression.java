package io.isobardb.lsm;

/** How a tree's pages are stored on disk. In memory they are never compressed. */
public enum Compression {
  /** As they are. */
  NONE,
  /** LZ4: fast, about half the size for text. */
  LZ4
}
