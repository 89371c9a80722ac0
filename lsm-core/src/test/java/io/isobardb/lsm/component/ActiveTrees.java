package io.isobardb.lsm.component;

import io.isobardb.lsm.sstable.KeyHash;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads values of active SSTables as arrays. */
final class ActiveTrees {
  /** What {@link #get} gives for {@link ActiveTree#DELETED}. Compared by identity. */
  static final byte[] DELETED_VALUE = {};

  /** What {@link #get} gives for {@link ActiveTree#RETRY}. Compared by identity. */
  static final byte[] RETRY_VALUE = {};

  private ActiveTrees() {}

  /** The value that a reader at an LSN sees, or null. Inside an epoch. */
  static byte @Nullable [] get(ActiveTree tree, byte[] key, long lsn) {
    long hash = KeyHash.hash(key, 0, key.length);
    ByteBuffer target = ByteBuffer.allocate(256);
    while (true) {
      int length = tree.getInto(key, hash, lsn, () -> 0, target);
      switch (length) {
        case ActiveTree.ABSENT:
          return null;
        case ActiveTree.DELETED:
          return DELETED_VALUE;
        case ActiveTree.RETRY:
          return RETRY_VALUE;
        default:
          if (length <= target.capacity()) {
            byte[] value = new byte[length];
            target.get(0, value);
            return value;
          }
          target = ByteBuffer.allocate(length);
      }
    }
  }

  /** How many versions of a key there are that a reader at an LSN does not find too new. */
  static int versions(ActiveTree tree, byte[] key, long lsn) {
    long hash = KeyHash.hash(key, 0, key.length);
    int versions = 0;
    int epoch = tree.pool.epochs().enter();
    try {
      for (long seen = lsn; ; versions++) {
        long newest = tree.seenLsn(key, hash, seen);
        if (newest < 0) {
          return versions;
        }
        seen = newest - 1;
      }
    } finally {
      tree.pool.epochs().exit(epoch);
    }
  }
}
