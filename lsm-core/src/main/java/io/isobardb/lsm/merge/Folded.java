package io.isobardb.lsm.merge;

/**
 * An entry that a {@link Folder} has made of several.
 *
 * @param kind {@link io.isobardb.lsm.entry.Kind#PUT}, {@code DELETE} or {@code MERGE}, or {@link
 *     #NONE}
 */
record Folded(byte[] key, long lsn, int kind, byte[] value) {
  /** Nothing is to be written. */
  static final int NONE = 0;
}
