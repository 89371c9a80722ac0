package io.isobardb.lsm.read;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Sealed;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Epochs;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
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
  /** Keys looked up within one epoch, which holds up the reclamation of memory. */
  private static final int KEYS_PER_EPOCH = 512;

  /** What is known of a key: nothing yet, its value or that there is none, or that it waits. */
  private static final byte OPEN = 0;

  private static final byte DONE = 1;
  private static final byte LEFT = 2;

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
   * @param lsn what to read at, registered as a snapshot
   * @param scratch for values on their way; empty afterwards
   */
  public byte[] @Nullable [] get(TreeHandle tree, List<byte[]> keys, long lsn, ByteBuffer scratch) {
    Integer[] order = new Integer[keys.size()];
    Arrays.setAll(order, i -> i);
    byte[][] sought = keys.toArray(new byte[0][]);
    Arrays.sort(
        order,
        (a, b) ->
            tree.order().compare(sought[a], 0, sought[a].length, sought[b], 0, sought[b].length));
    Lookup lookup = new Lookup(sought, lsn, scratch);
    for (int from = 0; from < order.length; from += KEYS_PER_EPOCH) {
      int count = Math.min(KEYS_PER_EPOCH, order.length - from);
      for (int i = 0; i < count; i++) {
        lookup.open[i] = order[from + i];
      }
      int slot = epochs.enter();
      try {
        tree.checkOpen();
        TreeState state = tree.states().current();
        lookup.run(state, count);
        tree.readLoss().gets(count, state.mergeableRuns());
      } finally {
        epochs.exit(slot);
      }
    }
    for (int key : order) {
      if (lookup.known[key] == LEFT) {
        lookup.values[key] = load(tree, sought[key], lsn, scratch);
      }
    }
    return lookup.values;
  }

  private byte @Nullable [] load(TreeHandle tree, byte[] key, long lsn, ByteBuffer scratch) {
    ByteBuffer target = scratch;
    while (true) {
      int length = single.get(tree, key, 0, key.length, lsn, target);
      if (length == PointReader.NOT_FOUND) {
        return null;
      }
      if (length <= target.remaining()) {
        byte[] value = new byte[length];
        target.get(target.position(), value);
        return value;
      }
      target = ByteBuffer.allocate(length);
    }
  }

  /** One batch, under way. */
  private final class Lookup {
    private final byte[][] keys;
    private final long lsn;
    private final ByteBuffer scratch;
    private final long[] hashes;
    private final byte[] @Nullable [] values;
    private final byte[] known;

    /** The numbers of the keys that are still sought, in their order. */
    private final int[] open;

    /** By place in {@link #open}: the SSTable whose pages are to be walked. */
    private final @Nullable SSTable[] walks;

    Lookup(byte[][] keys, long lsn, ByteBuffer scratch) {
      this.keys = keys;
      this.lsn = lsn;
      this.scratch = scratch;
      this.values = new byte[keys.length] @Nullable [];
      this.known = new byte[keys.length];
      this.hashes = new long[keys.length];
      Arrays.setAll(hashes, i -> KeyHash.hash(keys[i], 0, keys[i].length));
      int most = Math.min(KEYS_PER_EPOCH, keys.length);
      this.open = new int[most];
      this.walks = new @Nullable SSTable[most];
    }

    /** Looks for the first {@code count} open keys. Within an epoch. */
    void run(TreeState state, int count) {
      ActiveTree active = requireNonNull(state.active().tree());
      for (int i = 0; i < count; i++) {
        ask(active, open[i]);
      }
      int left = dropKnown(count);
      for (int i = 0; i < state.runCount() && left > 0; i++) {
        left = run(state.run(i), left);
      }
    }

    private int run(Run run, int count) {
      for (int i = 0; i < count; i++) {
        int key = open[i];
        Table table = run.find(keys[key], 0, keys[key].length);
        SSTable sstable = table == null ? null : table.sstable();
        walks[i] = null;
        if (sstable != null) {
          long maybe = sstable.mayContain(hashes[key]);
          if (SSTable.isMiss(maybe)) {
            known[key] = LEFT;
          } else if (maybe != SSTable.ABSENT) {
            walks[i] = sstable;
          }
        } else if (table != null) {
          ask(requireNonNull(table.sealed()), key);
        }
      }
      for (int i = 0; i < count; i++) {
        SSTable walk = walks[i];
        if (walk != null) {
          ask(walk, open[i]);
        }
      }
      return dropKnown(count);
    }

    private void ask(Sealed tree, int key) {
      int found = tree.getInto(keys[key], 0, keys[key].length, hashes[key], lsn, scratch);
      if (found == ActiveTree.ABSENT) {
        return;
      }
      if (found == ActiveTree.RETRY || found > scratch.remaining()) {
        known[key] = LEFT;
        return;
      }
      known[key] = DONE;
      if (found != ActiveTree.DELETED) {
        byte[] value = new byte[found];
        scratch.get(scratch.position(), value);
        values[key] = value;
      }
    }

    private void ask(SSTable table, int key) {
      long location = table.search(keys[key], 0, keys[key].length, lsn);
      if (location == SSTable.ABSENT) {
        return;
      }
      if (SSTable.isMiss(location)) {
        known[key] = LEFT;
        return;
      }
      Memory memory = pool.memory(SSTable.pageOf(location));
      int base = pool.base(SSTable.pageOf(location));
      int entry = SSTable.entryOf(location);
      int kind = PageReader.kind(memory, base, entry);
      known[key] = kind == Kind.PUT_OVERFLOW ? LEFT : DONE;
      if (kind == Kind.PUT) {
        byte[] value = new byte[PageReader.valueLength(memory, base, entry)];
        memory.get(base + PageReader.valueOffset(memory, base, entry), value, 0, value.length);
        values[key] = value;
      }
    }

    /** Leaves only those keys open of which nothing is known; gives how many they are. */
    private int dropKnown(int count) {
      int left = 0;
      for (int i = 0; i < count; i++) {
        if (known[open[i]] == OPEN) {
          open[left++] = open[i];
        }
      }
      return left;
    }
  }
}
