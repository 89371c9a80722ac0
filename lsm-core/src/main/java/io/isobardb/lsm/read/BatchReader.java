package io.isobardb.lsm.read;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.MissedPages;
import io.isobardb.lsm.sstable.PageLoads;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.Epochs;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Looks up many keys of a tree at one LSN.
 *
 * <p>In the order of keys, so that neighbours find the pages they share still warm; within one
 * epoch and one state for some hundreds of them; and run by run: first all keys ask the filters,
 * whose cache misses overlap, then those that may be there walk the pages. The pages that keys miss
 * are loaded after the epoch, all at once ({@link PageLoads}), and the keys go on at their runs: so
 * it takes a few waves of reads, one for filters, some for indexes, one for data. What is no value
 * within a page, or is missed again, is left for {@link PointReader}.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class BatchReader {
  private final TableSpace space;
  private final Epochs epochs;
  private final PointReader single;

  /**
   * @param single for what needs loading
   */
  public BatchReader(Engine engine, PointReader single) {
    this.space = engine.catalog().space();
    this.epochs = space.pool().epochs();
    this.single = single;
  }

  /**
   * The values of keys, in the keys' order, null for those that are not there.
   *
   * @param at what to read at, registered as a snapshot
   */
  public byte[] @Nullable [] get(TreeHandle tree, List<byte[]> keys, Moment at) {
    byte[][] sought = keys.toArray(new byte[0][]);
    long[] words = new long[sought.length];
    int[] order = order(tree.order(), sought, words);
    Probe probe = single.probes().take();
    Batch batch = new Batch(space, sought, words, at, probe);
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

  /**
   * The numbers of keys, neighbours one after the other. Those of bytes are told apart by the head
   * behind what all keys have in common, of which the number takes the last bits.
   *
   * @param heads room for a word of each key
   */
  private static int[] order(KeyOrder order, byte[][] keys, long[] heads) {
    if (!order.isBytes()) {
      return IntStream.range(0, keys.length)
          .boxed()
          .sorted((a, b) -> order.compare(keys[a], 0, keys[a].length, keys[b], 0, keys[b].length))
          .mapToInt(i -> i)
          .toArray();
    }
    long numbers = -1L >>> Integer.numberOfLeadingZeros(keys.length) + Integer.SIZE;
    int common = keys.length == 0 ? 0 : keys[0].length;
    for (byte[] key : keys) {
      int differs = Arrays.mismatch(keys[0], 0, common, key, 0, Math.min(common, key.length));
      common = differs < 0 ? common : differs;
    }
    for (int i = 0; i < heads.length; i++) {
      long head = Words.head(keys[i], common, keys[i].length - common) ^ Long.MIN_VALUE;
      heads[i] = head & ~numbers | i;
    }
    Arrays.sort(heads);
    int[] sorted = new int[heads.length];
    Arrays.setAll(sorted, i -> (int) (heads[i] & numbers));
    return sorted;
  }

  /** Finds the keys as far as their values lie in pages. */
  private void find(TreeHandle tree, Batch batch, int[] order) {
    for (int from = 0; from < order.length; from += Batch.MOST) {
      int count = Math.min(Batch.MOST, order.length - from);
      TreeState held = findInMemory(tree, batch, order, from, count);
      if (held != null) {
        try {
          findByWaves(tree, held, batch);
        } finally {
          tree.states().release(held);
        }
        count(tree, answered(batch, order, from, count));
      }
    }
  }

  /**
   * Finds the keys of a part as far as memory has them.
   *
   * @return the state that knows the rest, which is held; null if no key waits
   */
  private @Nullable TreeState findInMemory(
      TreeHandle tree, Batch batch, int[] order, int from, int count) {
    int slot = epochs.enter();
    try {
      tree.checkOpen();
      TreeState state = tree.states().current();
      batch.open(order, from, count, state.ranges().list());
      Lookup.find(state, batch);
      tree.memory().readLoss().gets(count, state.mergeableRuns());
      if (batch.wantsIndex()) {
        tree.memory().readLoss().tell();
      }
      if (batch.waitingKeys() > 0) {
        if (tree.states().tryAcquire(state)) {
          return state;
        }
        batch.leaveWaiting();
      }
      tree.counts().countGets(slot, answered(batch, order, from, count));
      return null;
    } finally {
      epochs.exit(slot);
    }
  }

  /** Loads what keys wait for, and asks those again, until none waits. */
  private void findByWaves(TreeHandle tree, TreeState state, Batch batch) {
    MissedPages missed = new MissedPages();
    while (batch.waitingKeys() > 0) {
      tree.checkOpen();
      batch.collect(missed, space.loads().most(space));
      space.loads().load(missed);
      int slot = epochs.enter();
      try {
        batch.openWaiting();
        Lookup.findOn(state, batch);
      } finally {
        epochs.exit(slot);
      }
    }
    for (int i = 0; i < batch.foundInL0(); i++) {
      tree.work().foundInL0(state.version().l0Bytes());
    }
  }

  private void count(TreeHandle tree, int gets) {
    int slot = epochs.enter();
    try {
      tree.counts().countGets(slot, gets);
    } finally {
      epochs.exit(slot);
    }
  }

  /** How many keys of a part are not left for later, and so are not counted again. */
  private static int answered(Batch batch, int[] order, int from, int count) {
    int answered = 0;
    for (int i = from; i < from + count; i++) {
      answered += batch.isLeft(order[i]) ? 0 : 1;
    }
    return answered;
  }
}
