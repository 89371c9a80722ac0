package io.isobardb.lsm.read;

import io.isobardb.lsm.Tree;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PerThread;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;

/**
 * Looks up single keys as far as memory knows them, for background work: loads nothing, waits for
 * nothing, and leaves the caches as they are. What has expired counts as there as long as it is for
 * any reader that is registered.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class MemoryReader {
  /** It would take a look at the disk. */
  public static final int UNKNOWN = -6;

  private final Epochs epochs;
  private final ValueLookup lookup;
  private final LongSupplier settled;
  private final PerThread<Probe> probes = new PerThread<>(() -> new Probe(0));

  public MemoryReader(Engine engine) {
    this.epochs = engine.catalog().space().pool().epochs();
    this.settled = engine.snapshots()::settledMillis;
    this.lookup = new ValueLookup(engine.catalog().space(), false);
  }

  /**
   * Copies a value into {@code target} at its position, which does not move.
   *
   * @param lsn what to read at, registered as a snapshot
   * @return the value's length, {@link Tree#NOT_FOUND} or {@link #UNKNOWN}; nothing was copied if
   *     it is larger than what remains in {@code target}
   */
  public int get(TreeHandle tree, byte[] key, long lsn, ByteBuffer target) {
    Probe probe = probes.take().of(KeyHash.hash(key, 0, key.length)).into(target);
    int slot = epochs.enter();
    try {
      tree.checkOpen();
      TreeState state = tree.states().current();
      RangeDeletes deletes = state.ranges().list();
      probe.at(lsn, settled).above(deletes == null ? 0 : deletes.covering(key, key.length, lsn));
      int found = Lookup.found(lookup.find(state, Lookup.ACTIVE, key, probe));
      if (found == Probe.ABSENT || found == Probe.DELETED) {
        return Tree.NOT_FOUND;
      }
      return found < 0 ? UNKNOWN : found;
    } finally {
      epochs.exit(slot);
      probe.give();
    }
  }
}
