package io.isobardb.lsm.dataset;

import io.isobardb.lsm.error.ShownKey;
import java.util.Arrays;

/**
 * A record that was found by an index.
 *
 * @param indexKey under which it was found
 * @param key its key in the primary tree
 * @param value the record
 */
public record IndexEntry(byte[] indexKey, byte[] key, byte[] value) {
  @Override
  public boolean equals(Object other) {
    return other instanceof IndexEntry entry
        && Arrays.equals(indexKey, entry.indexKey)
        && Arrays.equals(key, entry.key)
        && Arrays.equals(value, entry.value);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * Arrays.hashCode(indexKey) + Arrays.hashCode(key)) + Arrays.hashCode(value);
  }

  @Override
  public String toString() {
    return ShownKey.of(indexKey) + " -> " + ShownKey.of(key) + ", " + value.length + " bytes";
  }
}
