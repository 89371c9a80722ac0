package io.isobardb.lsm.sstable;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * The one hash of a key that all filters use, in memory and on disk: XXH3 with 64 bits. Part of the
 * file format.
 */
public final class KeyHash {
  private static final Hasher64 HASHER = Hashing.xxh3_64();

  private KeyHash() {}

  /** The hash of a key. Allocates nothing. */
  public static long hash(byte[] key, int offset, int length) {
    return HASHER.hashBytesToLong(key, offset, length);
  }
}
