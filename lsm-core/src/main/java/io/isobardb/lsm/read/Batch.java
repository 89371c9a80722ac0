package io.isobardb.lsm.read;

import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Many keys that {@link Lookup} looks for at once, and their values. A key is <em>open</em> until a
 * component has answered. It is <em>left</em> if the answer is no value that memory holds in one
 * piece.
 *
 * <p>Thread rule: one thread, inside an epoch where it asks.
 */
final class Batch {
  /** Keys looked up within one epoch, which holds up the reclamation of memory. */
  static final int MOST = 512;

  private static final byte OPEN = 0;
  private static final byte DONE = 1;
  private static final byte LEFT = 2;

  private final PagePool pool;
  private final byte[][] keys;
  private final long lsn;
  private final Probe probe;
  private final long[] hashes;
  private final byte[] @Nullable [] values;
  private final byte[] known;

  /** The numbers of the open keys, in their order. */
  private final int[] open;

  private int openKeys;

  /** By place in {@link #open}: the SSTable whose pages are to be walked. */
  private final @Nullable SSTable[] walks;

  /**
   * @param probe taken by the caller
   */
  Batch(PagePool pool, byte[][] keys, Moment at, Probe probe) {
    this.pool = pool;
    this.keys = keys;
    this.lsn = at.lsn();
    this.probe = probe.at(lsn, at.clock()).above(0);
    this.values = new byte[keys.length] @Nullable [];
    this.known = new byte[keys.length];
    this.hashes = new long[keys.length];
    Arrays.setAll(hashes, i -> KeyHash.hash(keys[i], 0, keys[i].length));
    int most = Math.min(MOST, keys.length);
    this.open = new int[most];
    this.walks = new @Nullable SSTable[most];
  }

  /**
   * Opens {@code count} keys, {@link #MOST} at most, whose numbers stand in {@code order}, save
   * those that are left, since a range delete covers them.
   *
   * @param deletes the tree's, or null
   */
  void open(Integer[] order, int from, int count, @Nullable RangeDeletes deletes) {
    openKeys = 0;
    for (int i = 0; i < count; i++) {
      byte[] key = keys[order[from + i]];
      if (deletes != null && deletes.covering(key, key.length, lsn) != 0) {
        known[order[from + i]] = LEFT;
      } else {
        open[openKeys++] = order[from + i];
      }
    }
  }

  int openKeys() {
    return openKeys;
  }

  byte[] openKey(int i) {
    return keys[open[i]];
  }

  boolean isLeft(int key) {
    return known[key] == LEFT;
  }

  /** The values by the keys' numbers; null for those that are not there. */
  byte[] @Nullable [] values() {
    return values;
  }

  /** Asks the active SSTable for all open keys. */
  void ask(WrittenEntries active) {
    for (int i = 0; i < openKeys; i++) {
      ask(active, open[i]);
    }
    dropKnown();
  }

  /** An open key has reached the table of a run that may have it. An SSTable is to be walked. */
  void reach(int i, @Nullable Table table) {
    walks[i] = null;
    if (table instanceof Table.Stored stored) {
      int maybe = stored.content().mayContain(hashes[open[i]], true);
      if (SSTable.isMiss(maybe)) {
        known[open[i]] = LEFT;
      } else if (maybe != SSTable.ABSENT) {
        walks[i] = stored.content();
      }
    } else if (table instanceof Table.Active sealed) {
      ask(sealed.content(), open[i]);
    } else if (table instanceof Table.Indexed indexed) {
      ask(indexed.content(), open[i]);
    }
  }

  /** Walks the pages of the SSTables that keys have reached in this run. */
  void walk() {
    for (int i = 0; i < openKeys; i++) {
      SSTable table = walks[i];
      if (table != null) {
        walk(table, open[i]);
      }
    }
    dropKnown();
  }

  private void ask(WrittenEntries entries, int key) {
    int found = entries.find(keys[key], probe.of(hashes[key]));
    if (found == Probe.ABSENT) {
      return;
    }
    ByteBuffer scratch = probe.target();
    known[key] = found == Probe.DELETED || found >= 0 && found <= scratch.remaining() ? DONE : LEFT;
    if (found >= 0 && known[key] == DONE) {
      byte[] value = new byte[found];
      scratch.get(scratch.position(), value);
      values[key] = value;
    }
  }

  private void walk(SSTable table, int key) {
    long location = table.search(keys[key], hashes[key], lsn, true);
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
    int found = PageReader.answer(memory, base, entry, probe);
    known[key] = found == Probe.DELETED || found >= 0 ? DONE : LEFT;
    if (found >= 0) {
      byte[] value = new byte[found];
      memory.get(base + PageReader.valueOffset(memory, base, entry), value, 0, found);
      values[key] = value;
    }
  }

  private void dropKnown() {
    int left = 0;
    for (int i = 0; i < openKeys; i++) {
      if (known[open[i]] == OPEN) {
        open[left++] = open[i];
      }
    }
    openKeys = left;
  }
}
