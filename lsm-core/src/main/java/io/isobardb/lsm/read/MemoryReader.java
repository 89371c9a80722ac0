package io.isobardb.lsm.read;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;

/**
 * Looks up single keys as far as memory knows them, for background work: loads nothing, waits for
 * nothing, and leaves the caches as they are.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class MemoryReader {
  /** There is no such key. */
  public static final int NOT_FOUND = PointReader.NOT_FOUND;

  /** It would take a look at the disk. */
  public static final int UNKNOWN = -6;

  private final PagePool pool;
  private final Epochs epochs;

  public MemoryReader(Engine engine) {
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param lsn what to read at, registered as a snapshot
   * @return the value's length, {@link #NOT_FOUND} or {@link #UNKNOWN}; nothing was copied if it is
   *     larger than what remains in {@code target}
   */
  public int get(TreeHandle tree, byte[] key, long lsn, ByteBuffer target) {
    long hash = KeyHash.hash(key, 0, key.length);
    int slot = epochs.enter();
    try {
      tree.checkOpen();
      TreeState state = tree.states().current();
      ActiveTree active = requireNonNull(state.active().tree());
      int found = active.getInto(key, 0, key.length, hash, lsn, target);
      for (int i = 0; i < state.runCount() && found == ActiveTree.ABSENT; i++) {
        Table table = state.run(i).find(key, 0, key.length);
        if (table != null) {
          Sealed sealed = table.sealed();
          found =
              sealed != null
                  ? sealed.getInto(key, 0, key.length, hash, lsn, target)
                  : get(requireNonNull(table.sstable()), key, hash, lsn, target);
        }
      }
      if (found == ActiveTree.ABSENT || found == ActiveTree.DELETED) {
        return NOT_FOUND;
      }
      return found < 0 ? UNKNOWN : found;
    } finally {
      epochs.exit(slot);
    }
  }

  private int get(SSTable table, byte[] key, long hash, long lsn, ByteBuffer target) {
    long location = table.peek(key, hash, lsn);
    if (location < 0) {
      return location == SSTable.ABSENT ? ActiveTree.ABSENT : UNKNOWN;
    }
    Memory memory = pool.memory(SSTable.pageOf(location));
    int base = pool.base(SSTable.pageOf(location));
    int entry = SSTable.entryOf(location);
    int kind = PageReader.kind(memory, base, entry);
    if (kind != Kind.PUT) {
      return kind == Kind.DELETE ? ActiveTree.DELETED : UNKNOWN;
    }
    int length = PageReader.valueLength(memory, base, entry);
    if (length <= target.remaining()) {
      int from = base + PageReader.valueOffset(memory, base, entry);
      memory.get(from, target, target.position(), length);
    }
    return length;
  }
}
