package io.isobardb.bench.simulate;

import io.isobardb.bench.analytic.LevelDbModel;
import io.isobardb.cli.console.UsageException;
import io.isobardb.tuner.model.WriteCost;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * LevelDB's design, entry by entry: a memtable, overlapping tables in level 0, and levels of
 * disjoint tables of limited size that are merged downwards one by one.
 *
 * <p>As in section 4.4 of the paper it runs without threads, and without LevelDB's optimisations
 * that depend on luck: more tables of a level in one merge, tables that skip levels, and tables
 * that move without being rewritten.
 */
public final class LevelDbSimulator {
  /** Which table of a level that is too large is merged downwards. */
  public enum Selection {
    /** The next one round the key space, as in LevelDB. */
    ROUND_ROBIN,
    /** The one with the most entries, as in RocksDB. */
    LARGEST
  }

  /** One in so many requests is looked up before it is inserted. */
  private static final int LOOKUPS = 16;

  /** A table may overlap so many times its size in the level below the next. */
  private static final int MAX_OVERLAP = 10;

  private final LevelDbModel design;
  private final int tableEntries;
  private final Selection selection;
  private final KeyStream stream;
  private final KeyBits memtable;

  /** The keys that the memtable has: to flush them costs no look at all others. */
  private final int[] inMemory;

  private final Level[] levels;
  private final long[] written;

  /** Where keys were found that were requested: in the memtable, in level 0, in the levels. */
  private final long[] found;

  private long requests;
  private long flushed;
  private int memtableRequests;
  private int memtableKeys;
  private int level0Tables;

  /** Keys of all tables of level 0, which are merged together. */
  private final KeyBits level0;

  /**
   * @param tableEntries the most entries of a table; 1 or more
   */
  public LevelDbSimulator(
      LevelDbModel design, int tableEntries, Selection selection, KeyStream stream) {
    if (tableEntries < 1) {
      throw new UsageException("tables must hold 1 entry or more, not " + tableEntries);
    }
    this.design = design;
    this.tableEntries = tableEntries;
    this.selection = selection;
    this.stream = stream;
    this.memtable = new KeyBits(stream.keys());
    this.inMemory = new int[(int) Math.ceil(design.bufferEntries())];
    this.level0 = new KeyBits(stream.keys());
    double[] sizes = design.levelEntries();
    this.levels = new Level[sizes.length];
    this.written = new long[sizes.length];
    this.found = new long[sizes.length + 2];
    for (int l = 0; l < sizes.length; l++) {
      levels[l] = new Level(stream.keys(), l == sizes.length - 1 ? Double.MAX_VALUE : sizes[l]);
    }
  }

  /**
   * Inserts all keys once and then {@code rounds} times as many by popularity; gives what these
   * cost.
   */
  public WriteCost run(double rounds) {
    for (int i = 0; i < stream.keys(); i++) {
      insert(stream.load());
    }
    requests = 0;
    flushed = 0;
    Arrays.fill(written, 0);
    Arrays.fill(found, 0);
    long wanted = (long) (rounds * stream.keys());
    for (long i = 0; i < wanted; i++) {
      int key = stream.next();
      if (i % LOOKUPS == 0) {
        found[lookUp(key)]++;
      }
      insert(key);
    }
    double[] perLevel = new double[written.length];
    for (int l = 0; l < written.length; l++) {
      perLevel[l] = (double) written[l] / requests;
    }
    return new WriteCost(1, (double) flushed / requests, perLevel);
  }

  /**
   * For reads that come as the writes of {@link #run} did: the shares that end in the memtable, in
   * level 0, and in each level.
   */
  public double[] foundShares() {
    double all = Arrays.stream(found).sum();
    return Arrays.stream(found).mapToDouble(it -> it / all).toArray();
  }

  private int lookUp(int key) {
    if (memtable.contains(key)) {
      return 0;
    }
    if (level0.contains(key)) {
      return 1;
    }
    int l = 0;
    while (!levels[l].bits.contains(key)) {
      l++;
    }
    return l + 2;
  }

  private void insert(int key) {
    requests++;
    if (memtable.add(key)) {
      inMemory[memtableKeys++] = key;
    }
    if (++memtableRequests < design.bufferEntries()) {
      return;
    }
    memtableRequests = 0;
    flushed += memtableKeys;
    while (memtableKeys > 0) {
      int flushedKey = inMemory[--memtableKeys];
      memtable.clear(flushedKey, flushedKey);
      level0.add(flushedKey);
    }
    if (++level0Tables < design.level0Tables()) {
      return;
    }
    level0Tables = 0;
    int last = stream.keys() - 1;
    merge(level0, 0, last, 0);
    for (int l = 0; l < levels.length - 1; ) {
      if (levels[l].size < levels[l].limit) {
        l++;
        continue;
      }
      Table table = levels[l].choose(selection);
      levels[l].remove(table);
      merge(levels[l].bits, table.first, table.last, l + 1);
    }
  }

  /** Merges the keys of a range of {@code from} with the tables of a level that they overlap. */
  private void merge(KeyBits from, int first, int last, int to) {
    Level level = levels[to];
    int start = first;
    int end = last;
    for (Table t = level.firstOverlapping(first); t != null && t.first <= last; ) {
      start = Math.min(start, t.first);
      end = Math.max(end, t.last);
      level.remove(t);
      t = level.firstOverlapping(first);
    }
    level.bits.take(from, first, last);
    written[to] += cut(level, start, end, to + 1 < levels.length ? levels[to + 1] : null);
  }

  /** Cuts a range of a level into tables; gives the entries in it. */
  private long cut(Level level, int start, int end, @Nullable Level below) {
    long entries = 0;
    int key = level.bits.next(start);
    while (key >= 0 && key <= end) {
      int last = level.bits.nth(key, end, tableEntries);
      if (below != null) {
        last = Math.min(last, below.endOfOverlap(key, (long) MAX_OVERLAP * tableEntries));
      }
      Table table = new Table(key, last, level.bits.count(key, last));
      level.add(table);
      entries += table.entries;
      key = level.bits.next(last + 1);
    }
    return entries;
  }

  private record Table(int first, int last, int entries) {}

  /** Disjoint tables by key. */
  private static final class Level {
    final KeyBits bits;
    final double limit;
    private final TreeMap<Integer, Table> tables = new TreeMap<>();
    private long size;
    private int lastKey = -1;

    Level(int keys, double limit) {
      this.bits = new KeyBits(keys);
      this.limit = limit;
    }

    void add(Table table) {
      tables.put(table.first, table);
      size += table.entries;
    }

    void remove(Table table) {
      tables.remove(table.first);
      size -= table.entries;
    }

    /** The first table that ends at a key or behind it. */
    @Nullable Table firstOverlapping(int key) {
      Map.Entry<Integer, Table> before = tables.floorEntry(key);
      if (before != null && before.getValue().last >= key) {
        return before.getValue();
      }
      Map.Entry<Integer, Table> after = tables.higherEntry(key);
      return after == null ? null : after.getValue();
    }

    /** How far a table that begins at a key may reach before it overlaps more than so many. */
    int endOfOverlap(int key, long most) {
      long overlap = 0;
      for (Table t = firstOverlapping(key); t != null; t = firstOverlapping(t.last + 1)) {
        overlap += t.entries;
        if (overlap > most && t.first > key) {
          return t.first - 1;
        }
      }
      return Integer.MAX_VALUE;
    }

    Table choose(Selection selection) {
      Table chosen;
      if (selection == Selection.ROUND_ROBIN) {
        Map.Entry<Integer, Table> next = tables.higherEntry(lastKey);
        chosen = next == null ? tables.firstEntry().getValue() : next.getValue();
      } else {
        chosen = tables.firstEntry().getValue();
        for (Table table : tables.values()) {
          chosen = table.entries > chosen.entries ? table : chosen;
        }
      }
      lastKey = chosen.last;
      return chosen;
    }
  }
}
