package io.isobardb.lsm;

/** How a tree's pages are stored on disk. In memory they are never compressed. */
public enum Compression {
  /** As they are. */
  NONE(0),
  /** LZ4: fast, about half the size for text. */
  LZ4(1);

  private final int code;

  Compression(int code) {
    this.code = code;
  }

  /** As stored in files; never renumbered. */
  int code() {
    return code;
  }

  static Compression of(int code) {
    for (Compression compression : values()) {
      if (compression.code == code) {
        return compression;
      }
    }
    throw new IllegalArgumentException("unknown compression code " + code);
  }
}
