package io.isobardb.lsm.merge;

/**
 * An entry that a {@link Folder} has made of several.
 *
 * @param kind {@link io.isobardb.lsm.entry.Kind#PUT}, {@code DELETE} or {@code MERGE}, or {@link
 *     #NONE}
 * @param expiry when it expires, or {@link io.isobardb.lsm.expiry.Expiry#NEVER}
 */
record Folded(byte[] key, long lsn, int kind, byte[] value, long expiry) {
  /** Nothing is to be written. */
  static final int NONE = 0;
}
