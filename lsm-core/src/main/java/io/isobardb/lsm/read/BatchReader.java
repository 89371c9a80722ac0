package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks up many keys of a tree at one LSN.
 *
 * <p>In the order of keys, so that neighbours find the pages they share still warm; within one
 * epoch and one state for some hundreds of them; and run by run: first all keys ask the filters,
 * whose cache misses overlap, then those that may be there walk the pages. What needs a page that
 * is not in memory, or is no value within a page, is left for {@link PointReader}, after the epoch
 * and still in the order of keys, so that a page is loaded once for all its keys.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class BatchReader {
  private final PagePool pool;
  private final Epochs epochs;
  private final PointReader single;

  /**
   * @param single for what needs loading
   */
  public BatchReader(Engine engine, PointReader single) {
    this.pool = engine.catalog().space().pool();
    this.epochs = pool.epochs();
    this.single = single;
  }

  /**
   * The values of keys, in the keys' order, null for those that are not there.
   *
   * @param at what to read at, registered as a snapshot
   */
  public byte[] @Nullable [] get(TreeHandle tree, List<byte[]> keys, Moment at) {
    Integer[] order = new Integer[keys.size()];
    Arrays.setAll(order, i -> i);
    byte[][] sought = keys.toArray(new byte[0][]);
    Arrays.sort(
        order,
        (a, b) ->
            tree.order().compare(sought[a], 0, sought[a].length, sought[b], 0, sought[b].length));
    Probe probe = single.probes().take();
    Batch batch = new Batch(pool, sought, at, probe);
    try {
      find(tree, batch, order);
    } finally {
      probe.give();
    }
    for (int key : order) {
      if (batch.isLeft(key)) {
        batch.values()[key] = single.getArray(tree, sought[key], at);
      }
    }
    return batch.values();
  }

  /** Finds the keys as far as memory has them. */
  private void find(TreeHandle tree, Batch batch, Integer[] order) {
    for (int from = 0; from < order.length; from += Batch.MOST) {
      int count = Math.min(Batch.MOST, order.length - from);
      int slot = epochs.enter();
      try {
        tree.checkOpen();
        TreeState state = tree.states().current();
        batch.open(order, from, count, state.ranges().list());
        Lookup.find(state, batch);
        tree.counts().countGets(slot, answered(batch, order, from, count));
        tree.memory().readLoss().gets(count, state.mergeableRuns());
      } finally {
        epochs.exit(slot);
      }
    }
  }

  /** How many keys of a part are not left for later, and so are not counted again. */
  private static int answered(Batch batch, Integer[] order, int from, int count) {
    int answered = 0;
    for (int i = from; i < from + count; i++) {
      answered += batch.isLeft(order[i]) ? 0 : 1;
    }
    return answered;
  }
}
