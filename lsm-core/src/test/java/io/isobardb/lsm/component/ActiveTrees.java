package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads values of active SSTables as arrays. */
final class ActiveTrees {
  /** What {@link #get} gives for {@link Probe#DELETED}. Compared by identity. */
  static final byte[] DELETED_VALUE = {};

  /** What {@link #get} gives for {@link Probe#RETRY}. Compared by identity. */
  static final byte[] RETRY_VALUE = {};

  private ActiveTrees() {}

  /** An empty one in a store so full of trees that first entries lie on the heap. */
  static ActiveTree crowded(PagePool pool, KeyOrder order, long targetBytes) {
    FirstRoom room = new FirstRoom(pool, () -> 1, 0, pool.limitBytes() / 2);
    return new ActiveTree(pool, order, targetBytes, targetBytes, room, () -> {});
  }

  /** The value that a reader at an LSN sees, or null. Inside an epoch. */
  static byte @Nullable [] get(ActiveTree tree, byte[] key, long lsn) {
    long hash = KeyHash.hash(key, 0, key.length);
    ByteBuffer target = ByteBuffer.allocate(256);
    while (true) {
      int length = tree.find(key, ActiveTrees.probe(hash, lsn, target));
      switch (length) {
        case Probe.ABSENT:
          return null;
        case Probe.DELETED:
          return DELETED_VALUE;
        case Probe.RETRY:
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

  /** A probe for versions of a key up to an LSN. */
  static Probe probe(long hash, long lsn, ByteBuffer target) {
    return new Probe(0).of(hash).at(lsn, () -> 0).into(target);
  }

  /** How many versions of a key there are that a reader at an LSN does not find too new. */
  static int versions(ActiveTree tree, byte[] key, long lsn) {
    int versions = 0;
    try (EntryCursor cursor = tree.cursor(Purpose.CURSOR, null, null, lsn)) {
      boolean there = cursor.seek(key, 0, key.length, lsn);
      while (there && Arrays.equals(cursor.key(), 0, cursor.keyLength(), key, 0, key.length)) {
        versions++;
        there = cursor.next();
      }
    }
    return versions;
  }
}
