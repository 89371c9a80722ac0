package io.isobardb.lsm.dataset;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.ShownKey;
import java.util.Arrays;

/**
 * Layout of the keys of index entries.
 *
 * <pre>
 *   not unique   | index key, 00 written as 00 FF | 00 00 | primary key |   value: empty
 *   unique       | index key |                                              value: primary key
 * </pre>
 *
 * <p>Why composite keys are in the order of (index key, primary key), both as unsigned bytes: take
 * two index keys of which neither begins with the other: at the first byte that differs, what is
 * written differs too, in the same direction, since 00 is followed by FF and nothing else in both.
 * If one is the beginning of the other, the shorter one goes on with 00 00, and the longer one with
 * a byte above 00 or with 00 FF. If they are equal, what is written for them is, and the primary
 * keys decide. The first 00 00 is the end of the index key, since within it only FF follows 00.
 */
final class EntryKey {
  private static final byte ESCAPED = (byte) 0xFF;

  private EntryKey() {}

  /** What all entries of an index key begin with, and none before them reaches. */
  static byte[] start(byte[] indexKey) {
    return of(indexKey, new byte[0]);
  }

  /** The key of the entry that leads from an index key to a record. */
  static byte[] of(byte[] indexKey, byte[] primaryKey) {
    int zeros = 0;
    for (byte b : indexKey) {
      zeros += b == 0 ? 1 : 0;
    }
    byte[] key = new byte[indexKey.length + zeros + 2 + primaryKey.length];
    int at = 0;
    for (byte b : indexKey) {
      key[at++] = b;
      if (b == 0) {
        key[at++] = ESCAPED;
      }
    }
    System.arraycopy(primaryKey, 0, key, at + 2, primaryKey.length);
    return key;
  }

  /**
   * The length of the escaped index key at the beginning of an entry's key.
   *
   * @throws IsobarException if this is no entry's key
   */
  private static int end(byte[] entryKey) {
    for (int i = 0; i + 1 < entryKey.length; i++) {
      if (entryKey[i] == 0) {
        if (entryKey[i + 1] == 0) {
          return i;
        }
        if (entryKey[i + 1] != ESCAPED) {
          break;
        }
        i++;
      }
    }
    throw new IsobarException(
        ShownKey.of(entryKey)
            + " is no key of an index entry: something else wrote to the index's tree");
  }

  /** The index key of an entry. */
  static byte[] indexKey(byte[] entryKey) {
    int end = end(entryKey);
    byte[] key = new byte[end];
    int length = 0;
    for (int i = 0; i < end; i++) {
      key[length++] = entryKey[i];
      if (entryKey[i] == 0) {
        i++;
      }
    }
    return Arrays.copyOf(key, length);
  }

  /** The primary key of an entry. */
  static byte[] primaryKey(byte[] entryKey) {
    return Arrays.copyOfRange(entryKey, end(entryKey) + 2, entryKey.length);
  }
}
