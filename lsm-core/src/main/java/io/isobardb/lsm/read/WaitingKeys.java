package io.isobardb.lsm.read;

import io.isobardb.lsm.sstable.MissedPages;
import io.isobardb.lsm.sstable.SSTable;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a {@link Batch} that wait for a page, each at the run that it has reached. They are
 * asked again in passes over the runs, once pages are loaded.
 *
 * <p>Thread rule: one thread.
 */
final class WaitingKeys {
  /**
   * Pages of an SSTable that a key may need, besides those of the index: one of the filter, one
   * where an index over entries guessed in vain, and the one of the key.
   */
  private static final int BESIDES_INDEX = 3;

  /** By key: where it waits. */
  private final int[] runs;

  private final @Nullable SSTable[] tables;
  private final int[] pages;

  /** By key: the SSTable of which the page was last loaded for it, if that is the same one. */
  private final @Nullable SSTable[] loadedTables;

  private final int[] loadedPages;

  /** How many pages of that SSTable were loaded for the key. */
  private final int[] loads;

  /** In the order of runs. */
  private int[] keys;

  private int count;

  /** Those that waited when the pass began, in the order of runs. */
  private int[] earlier;

  private int earlierCount;
  private int earlierAt;

  /**
   * @param keys how many there are at most
   */
  WaitingKeys(int keys) {
    this.runs = new int[keys];
    this.tables = new @Nullable SSTable[keys];
    this.pages = new int[keys];
    this.loadedTables = new @Nullable SSTable[keys];
    this.loadedPages = new int[keys];
    this.loads = new int[keys];
    this.keys = new int[keys];
    this.earlier = new int[keys];
  }

  int count() {
    return count;
  }

  int key(int i) {
    return keys[i];
  }

  void clear() {
    count = 0;
  }

  /** Begins a pass: those that wait are asked again. */
  void beginPass() {
    int[] others = earlier;
    earlier = keys;
    keys = others;
    earlierCount = count;
    earlierAt = 0;
    count = 0;
  }

  /** Whether there are keys that wait to be asked again in this pass. */
  boolean hasMore() {
    return earlierAt < earlierCount;
  }

  /** The next key to be asked again at a run of this pass, or -1. */
  int next(int run) {
    return hasMore() && runs[earlier[earlierAt]] == run ? earlier[earlierAt++] : -1;
  }

  /** A key has come to a page that is not in memory. */
  void add(int key, int run, SSTable table, int page) {
    runs[key] = run;
    tables[key] = table;
    pages[key] = page;
    keys[count++] = key;
  }

  /**
   * Whether a page was loaded for the key in vain: it is gone again, or can't be read. If the cache
   * has room for too few pages, those of one key may take each other's place for ever.
   */
  boolean isInVain(int key, SSTable table, int page) {
    return loadedTables[key] == table
        && (loadedPages[key] == page || loads[key] >= table.meta().indexHeight() + BESIDES_INDEX);
  }

  /** Whether a page of that SSTable was loaded for the key. */
  boolean hasLoaded(int key, SSTable table) {
    return loadedTables[key] == table;
  }

  /** The pages that the first keys wait for, {@code most} at most: they are loaded next. */
  void collect(MissedPages missed, int most) {
    missed.clear();
    for (int i = 0; i < count && missed.count() < most; i++) {
      int key = keys[i];
      SSTable table = tables[key];
      if (table != null) {
        missed.add(table, pages[key]);
        loads[key] = hasLoaded(key, table) ? loads[key] + 1 : 1;
        loadedTables[key] = table;
        loadedPages[key] = pages[key];
      }
    }
  }
}
