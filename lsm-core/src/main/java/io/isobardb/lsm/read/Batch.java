package io.isobardb.lsm.read;

import io.isobardb.lsm.component.WrittenEntries;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.lsm.sstable.MissedPages;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Table;
import io.isobardb.memory.cache.EntryCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Many keys that {@link Lookup} looks for at once, and their values. A key is <em>open</em> until a
 * component has answered. It <em>waits</em> if the answer takes a page that is not in memory. It is
 * <em>left</em> if the answer is no value that lies in a page, or its page was loaded in vain.
 *
 * <p>Thread rule: one thread, inside an epoch where it asks.
 */
final class Batch {
  /** Keys looked up within one epoch, which holds up the reclamation of memory. */
  static final int MOST = 512;

  /** Keys whose cache misses overlap. The lines they take fit into the processor's first cache. */
  private static final int GROUP = 32;

  private static final byte OPEN = 0;
  private static final byte DONE = 1;
  private static final byte LEFT = 2;
  private static final byte WAITS = 3;

  private final PagePool pool;
  private final EntryCache entries;
  private final byte[][] keys;
  private final long lsn;
  private final Probe probe;
  private final long[] hashes;
  private final byte[] @Nullable [] values;
  private final byte[] known;

  /** The numbers of the open keys, in their order. */
  private final int[] open;

  private int openKeys;

  /** Null until a key waits. */
  private @Nullable WaitingKeys waiting;

  /** The run that is being asked. */
  private int run;

  /** Whether no run comes after it. */
  private boolean last;

  /** Values that were loaded from L0. */
  private int foundInL0;

  /** By place in {@link #open}: the SSTable whose pages are to be walked. */
  private final @Nullable SSTable[] walks;

  /** By place in a group: where the key lies, if at all, as an index over entries guesses. */
  private final long[] guesses = new long[GROUP];

  /** Whether an SSTable may have had enough lookups for an index over its entries. */
  private boolean wantsIndex;

  /** Keeps the compiler from leaving the fetches out. */
  private int fetched;

  /**
   * @param space of the SSTables that hold the keys
   * @param hashes room for the hash of each key
   * @param probe taken by the caller
   */
  Batch(TableSpace space, byte[][] keys, long[] hashes, Moment at, Probe probe) {
    this.pool = space.pool();
    this.entries = space.cache().entries();
    this.keys = keys;
    this.lsn = at.lsn();
    this.probe = probe.at(lsn, at.clock()).above(0);
    this.values = new byte[keys.length] @Nullable [];
    this.known = new byte[keys.length];
    this.hashes = hashes;
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
  void open(int[] order, int from, int count, @Nullable RangeDeletes deletes) {
    openKeys = 0;
    foundInL0 = 0;
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

  /** Keys that wait for pages. */
  int waitingKeys() {
    return waiting == null ? 0 : waiting.count();
  }

  /** What of the pages that keys wait for is to be loaded next, {@code most} at most. */
  void collect(MissedPages missed, int most) {
    if (waiting != null) {
      waiting.collect(missed, most);
    }
  }

  /** Leaves the keys that wait. */
  void leaveWaiting() {
    if (waiting != null) {
      for (int i = 0; i < waiting.count(); i++) {
        known[waiting.key(i)] = LEFT;
      }
      waiting.clear();
    }
  }

  /** Whether an SSTable may have had enough lookups for an index over its entries. */
  boolean wantsIndex() {
    return wantsIndex;
  }

  /** Values that were loaded from L0, of the keys that were opened last. */
  int foundInL0() {
    return foundInL0;
  }

  /** Begins another pass over the runs, with the keys that wait. */
  void openWaiting() {
    openKeys = 0;
    if (waiting != null) {
      waiting.beginPass();
    }
  }

  /** Whether there are open keys, or some that wait for their run in this pass. */
  boolean goesOn() {
    return openKeys > 0 || (waiting != null && waiting.hasMore());
  }

  /**
   * Goes on to a run: keys that waited there are open again.
   *
   * @param isLast whether none comes after it
   */
  void enter(int number, boolean isLast) {
    run = number;
    last = isLast;
    if (waiting != null) {
      for (int key = waiting.next(number); key >= 0; key = waiting.next(number)) {
        known[key] = OPEN;
        open[openKeys++] = key;
      }
    }
  }

  /**
   * An open key has reached the table of a run that may have it. An SSTable is to be walked. One
   * that has an index over its entries is not asked for its filter: the index tells as much.
   */
  void reach(int i, @Nullable Table table) {
    walks[i] = null;
    if (table instanceof Table.Stored stored) {
      SSTable content = stored.content();
      int maybe =
          content.isIndexed(lsn) ? SSTable.MAYBE : content.mayContain(hashes[open[i]], true);
      if (SSTable.isMiss(maybe) && !(last && probe.trustsLastRun())) {
        miss(open[i], content, maybe);
      } else if (maybe != SSTable.ABSENT) {
        walks[i] = content;
      }
    } else if (table instanceof Table.Active sealed) {
      ask(sealed.content(), open[i]);
    } else if (table instanceof Table.Indexed indexed) {
      ask(indexed.content(), open[i]);
    }
  }

  /**
   * Walks the pages of the SSTables that keys have reached in this run.
   *
   * @param inL0 whether the run belongs to L0
   */
  void walk(boolean inL0) {
    for (int from = 0; from < openKeys; from += GROUP) {
      int end = Math.min(from + GROUP, openKeys);
      guess(from, end);
      for (int i = from; i < end; i++) {
        SSTable table = walks[i];
        if (table != null) {
          walk(table, open[i], guesses[i - from]);
          if (inL0 && known[open[i]] == DONE && hasLoaded(open[i], table)) {
            foundInL0++;
          }
        }
      }
    }
    dropKnown();
  }

  /**
   * Asks the indexes over entries for a group of keys, and has their entries fetched: first the
   * lines of the indexes, then those of the entries, so that the processor waits twice, and not
   * twice for each key.
   */
  private void guess(int from, int end) {
    int sum = 0;
    for (int i = from; i < end; i++) {
      SSTable table = walks[i];
      sum += table == null || !table.isIndexed(lsn) ? 0 : table.fetch(hashes[open[i]]);
    }
    for (int i = from; i < end; i++) {
      SSTable table = walks[i];
      guesses[i - from] =
          table == null || !table.isIndexed(lsn) ? SSTable.UNKNOWN : table.guess(hashes[open[i]]);
    }
    for (int i = from; i < end; i++) {
      SSTable table = walks[i];
      long guess = guesses[i - from];
      if (table != null && guess >= 0) {
        long place = table.place(guess);
        guesses[i - from] = place;
        sum += place < 0 ? 0 : table.fetchEntry(place);
      }
    }
    fetched = sum;
  }

  /** Whether a page of an SSTable had to be loaded for a key. */
  private boolean hasLoaded(int key, SSTable table) {
    return waiting != null && waiting.hasLoaded(key, table);
  }

  /** A page is not in memory: the key waits for it, unless it was loaded in vain. */
  private void miss(int key, SSTable table, long miss) {
    if (waiting == null) {
      waiting = new WaitingKeys(keys.length);
    }
    int page = SSTable.missedPage(miss);
    if (waiting.isInVain(key, table, page)) {
      known[key] = LEFT;
    } else {
      known[key] = WAITS;
      waiting.add(key, run, table, page);
    }
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

  private void walk(SSTable table, int key, long guess) {
    long location = table.search(keys[key], lsn, guess);
    if (last && !SSTable.isMiss(location) && hasLoaded(key, table)) {
      probe.onLastRunLoaded(location != SSTable.ABSENT);
    }
    if (location == SSTable.ABSENT) {
      if (hasLoaded(key, table) && lsn >= table.meta().maxLsn()) {
        ValueLookup.keepAbsence(table, keys[key], hashes[key]);
      }
      return;
    }
    if (SSTable.isMiss(location)) {
      if (!askEntries(table, key)) {
        miss(key, table, location);
      }
      return;
    }
    if (guess == SSTable.UNKNOWN && probe.isSampled()) {
      wantsIndex |= table.countFound(Probe.SAMPLE);
    }
    Memory memory = pool.memory(SSTable.pageOf(location));
    int base = pool.base(SSTable.pageOf(location));
    int entry = SSTable.entryOf(location);
    int found = PageReader.answer(memory, base, entry, probe);
    known[key] = found == Probe.DELETED || found >= 0 ? DONE : LEFT;
    if (found >= 0) {
      byte[] value = new byte[found];
      int from = base + PageReader.valueOffset(memory, base, entry);
      memory.get(from, value, 0, found);
      values[key] = value;
      if (hasLoaded(key, table) && lsn >= table.meta().maxLsn()) {
        ValueLookup.keep(table, keys[key], hashes[key], location, found);
      }
    }
  }

  /** Asks the cache of entries for what the pages in memory do not tell; whether it knows. */
  private boolean askEntries(SSTable table, int key) {
    if (entries.isEmpty()) {
      return false;
    }
    byte[] sought = keys[key];
    ByteBuffer scratch = probe.target();
    int found =
        entries.get(table.fileNumber(), sought, 0, sought.length, hashes[key], lsn, scratch);
    if (found == EntryCache.ABSENT || found == EntryCache.NO_SUCH_KEY) {
      return found == EntryCache.NO_SUCH_KEY;
    }
    known[key] = found <= scratch.remaining() ? DONE : LEFT;
    if (known[key] == DONE) {
      byte[] value = new byte[found];
      scratch.get(scratch.position(), value);
      values[key] = value;
    }
    return true;
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
