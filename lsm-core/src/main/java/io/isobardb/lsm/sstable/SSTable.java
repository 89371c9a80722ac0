package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An immutable SSTable, in memory or on disk.
 *
 * <p>Point reads ({@link #page}, {@link #mayContain}, {@link #search}) are called inside an epoch
 * of the pool, never block, and allocate nothing. What they answer is one of: a location (not
 * negative), {@link #ABSENT}, or a <em>miss</em>: a page is not in memory. On a miss the reader
 * leaves the epoch with the SSTable held, and calls {@link #locatePinned}, or {@link #loadPage}
 * with {@link #missedPage} before it asks again.
 *
 * <p>An SSTable is counted: a holder of a reference ({@link #tryRetain}) outside of an epoch keeps
 * its pages and its file. The creator's reference is the first. When the last one is given back,
 * the pages are retired or the file is closed, and deleted if {@link #markObsolete} was called.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class SSTable {
  /** No version of the key that the reader may see. */
  public static final int ABSENT = -1;

  /** The answer of {@link #mayContain} for a key that may be there. */
  public static final int MAYBE = 1;

  /** A {@link #guess} can't tell. */
  public static final long UNKNOWN = EntryIndex.UNSURE;

  private static final int NO_FILTER = -1;
  private static final int CACHE_LINE = 64;

  /** Readers tell of lookups that an index would have saved once they are this part of entries. */
  private static final int TOLD_PART = 8;

  /** Misses are at or below it; above there is room for answers of others. */
  private static final int FIRST_MISS = -16;

  private final TableSpace space;
  private final PagePool pool;
  private final KeyOrder order;
  private final SSTableMeta meta;
  private final int filterBlocksPerPage;

  /** Where the first block is in a page of the filter. */
  private final int filterFirst;

  private final int @Nullable [] pages;

  /**
   * Over the entries; null if it was not worth it. Where it {@link #ownsIndex}, it has it for life.
   * Others get it from {@link TableIndexing}, and may lose it at any time: what a reader has found
   * there remains true.
   */
  private volatile @Nullable EntryIndex index;

  /** Whether the index is a part of the SSTable in memory, and none of the cache's extras. */
  private final boolean ownsIndex;

  /** Lookups that an index would have been good for. */
  private final AtomicInteger indexable = new AtomicInteger();

  private final @Nullable PageFile file;
  private final BufferCache cache;
  private final int fileNumber;
  private final long fileKey;
  private final AtomicInteger references = new AtomicInteger(1);
  private volatile boolean obsolete;

  private SSTable(
      TableSpace space,
      KeyOrder order,
      SSTableMeta meta,
      int @Nullable [] pages,
      @Nullable EntryIndex index,
      @Nullable PageFile file) {
    this.space = space;
    this.pool = space.pool();
    this.cache = space.cache();
    this.order = order;
    this.meta = meta;
    this.pages = pages;
    this.index = index;
    this.ownsIndex = index != null;
    this.file = file;
    this.fileNumber = SSTableMeta.cacheNumber(meta.fileNumber());
    this.fileKey = BufferCache.key(fileNumber, 0);
    this.filterBlocksPerPage = Filter.blocksPerPage(space.pageSize());
    this.filterFirst =
        meta.filterPage() == 0 ? Filter.first(space.pageSize(), meta.filterBlocks()) : Filter.FIRST;
  }

  /**
   * An SSTable in memory.
   *
   * @param sink has its pages, charged to {@link Purpose#WRITE}; now owned by the SSTable
   */
  public static SSTable inMemory(
      TableSpace space, KeyOrder order, SSTableMeta meta, MemorySink sink) {
    return new SSTable(space, order, meta, sink.pages(), sink.index(), null);
  }

  /**
   * An SSTable on disk. The file is opened by the first read that misses the cache.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if what is said of it can't be
   */
  public static SSTable onDisk(TableSpace space, KeyOrder order, SSTableMeta meta) {
    String flaw = meta.flaw(space.pageSize());
    if (flaw != null) {
      throw space.corrupt(meta, 0, "the manifest says what can't be: " + flaw);
    }
    return new SSTable(space, order, meta, null, null, new PageFile(space, meta, false));
  }

  /**
   * An SSTable on disk that this process has written: as {@link #onDisk}, but the first read does
   * not look at the file's header first. Small SSTables are merged soon, and then that read costs
   * as much as their pages do.
   */
  public static SSTable written(TableSpace space, KeyOrder order, SSTableMeta meta) {
    return new SSTable(space, order, meta, null, null, new PageFile(space, meta, true));
  }

  /** What is known of it without reading it. */
  public SSTableMeta meta() {
    return meta;
  }

  /** The number of its file, as the caches use it. */
  public int fileNumber() {
    return fileNumber;
  }

  /** The order of its keys. */
  public KeyOrder order() {
    return order;
  }

  /** Whether its pages are held in write memory, so that there are no misses. */
  public boolean isInMemory() {
    return pages != null;
  }

  /** The pool page of a page, or {@link PagePool#NONE} on a miss. Inside an epoch. */
  public int page(int pageNo) {
    return page(pageNo, true);
  }

  /**
   * As {@link #page(int)}.
   *
   * @param touch whether the page becomes hot
   */
  private int page(int pageNo, boolean touch) {
    int[] mine = pages;
    if (mine != null) {
      return mine[pageNo];
    }
    return touch ? cache.find(fileKey | pageNo) : cache.findWithoutTouching(fileKey | pageNo);
  }

  /** As {@link #page(int)}, but the page becomes no hotter. */
  int pageUntouched(int pageNo) {
    return page(pageNo, false);
  }

  /**
   * Asks the filter: {@link #MAYBE}, {@link #ABSENT} or a miss. Inside an epoch.
   *
   * @param hash of {@link KeyHash}
   * @param touch whether the page becomes hot
   */
  public int mayContain(long hash, boolean touch) {
    int pageNo = filterPage(hash);
    if (pageNo == NO_FILTER) {
      return MAYBE;
    }
    int page = page(pageNo, touch);
    if (page == PagePool.NONE) {
      return miss(pageNo);
    }
    return mayContain(page, pageNo, hash) ? MAYBE : ABSENT;
  }

  /** The page of the filter that a hash belongs to, or {@link #NO_FILTER}. */
  private int filterPage(long hash) {
    int blocks = meta.filterBlocks();
    return blocks == 0
        ? NO_FILTER
        : meta.filterPage() + Filter.block(hash, blocks) / filterBlocksPerPage;
  }

  /** Whether an answer is a miss of a page of the filter, which was not asked so. */
  public boolean missesFilter(long answer) {
    if (!isMiss(answer) || meta.filterBlocks() == 0) {
      return false;
    }
    int page = missedPage(answer) - meta.filterPage();
    return page >= 0 && page <= (meta.filterBlocks() - 1) / filterBlocksPerPage;
  }

  private boolean mayContain(int page, int pageNo, long hash) {
    int first = (pageNo - meta.filterPage()) * filterBlocksPerPage;
    int block = Filter.block(hash, meta.filterBlocks()) - first;
    int at = pool.base(page) + filterFirst + block * Filter.BLOCK;
    return Filter.mayContain(pool.memory(page), at, hash);
  }

  /**
   * Finds the newest version of a key with an LSN of at most {@code lsn}, without asking the
   * filter. Inside an epoch. The caller has checked the key range.
   *
   * @param hash of {@link KeyHash}
   * @param touch whether pages become hot
   * @return the location, {@link #ABSENT} or a miss
   */
  public long search(byte[] key, long hash, long lsn, boolean touch) {
    EntryIndex mine = index;
    if (mine == null || !isIndexed(lsn)) {
      return walk(key, lsn, touch);
    }
    long guess = mine.guess(hash);
    return prove(key, lsn, guess < 0 ? guess : place(guess, touch), touch);
  }

  /**
   * Whether {@link #search} at an LSN asks an index over entries, which tells as well as the filter
   * which keys are not there. It has the newest versions, which is what a reader sees for which
   * none is too new.
   */
  public boolean isIndexed(long lsn) {
    return index != null && lsn >= meta.maxLsn();
  }

  /**
   * Has the processor fetch what {@link #guess} reads first. Of many keys it waits for all that at
   * once, if nothing else comes in between. Only for a reader for whom it {@link #isIndexed}.
   *
   * @return anything; to be kept, so that the compiler does not leave the reading out
   */
  public int fetch(long hash) {
    EntryIndex mine = index;
    return mine == null ? 0 : mine.fetch(hash);
  }

  /**
   * Where a key with this hash lies, if it is here at all, without a look at any key. Inside an
   * epoch; only for a reader for whom it {@link #isIndexed}.
   *
   * @return what {@link #place} takes, {@link #ABSENT}, or {@link #UNKNOWN}
   */
  public long guess(long hash) {
    EntryIndex mine = index;
    return mine == null ? UNKNOWN : mine.guess(hash);
  }

  /**
   * The location of what is guessed, or a miss. Inside an epoch.
   *
   * @param guess of {@link #guess}, not negative
   */
  public long place(long guess) {
    return place(guess, true);
  }

  private long place(long guess, boolean touch) {
    if (pages != null) {
      return guess;
    }
    int page = page(pageOf(guess), touch);
    return page == PagePool.NONE ? miss(pageOf(guess)) : (long) page << 32 | entryOf(guess);
  }

  /** As {@link #fetch}, of what {@link #search(byte[], long, long)} reads at a location. */
  public int fetchEntry(long location) {
    Memory memory = pool.memory(pageOf(location));
    int base = pool.base(pageOf(location));
    int last = base + pool.pageSize() - 1;
    int entry = base + entryOf(location);
    return memory.getByte(base)
        + memory.getByte(last)
        + memory.getByte(entry)
        + memory.getByte(Math.min(entry + CACHE_LINE, last))
        + memory.getByte(Math.min(entry + 2 * CACHE_LINE - 1, last));
  }

  /**
   * As {@link #search(byte[], long, long, boolean)}, where there has been a guess.
   *
   * @param guess of {@link #guess}, as far as it is negative, or of {@link #place}
   */
  public long search(byte[] key, long lsn, long guess) {
    return prove(key, lsn, guess, true);
  }

  private long prove(byte[] key, long lsn, long guess, boolean touch) {
    return guess == ABSENT
            || isMiss(guess)
            || guess != UNKNOWN && EntryIndex.isKey(pool, guess, key)
        ? guess
        : walk(key, lsn, touch);
  }

  /**
   * Counts lookups that have found their key here.
   *
   * @return whether somebody should look whether an index over the entries {@link #isPaidFor}
   */
  public boolean countFound(int lookups) {
    if (index != null) {
      return false;
    }
    long now = indexable.addAndGet(lookups);
    long told = meta.entries() / TOLD_PART + 1;
    return now / told != (now - lookups) / told;
  }

  /**
   * Whether it has no index over its entries, but lookups have gone without one as often as it
   * takes.
   *
   * @param lookups it takes, for each entry
   */
  public boolean isPaidFor(double lookups) {
    return index == null && indexable.get() >= lookups * meta.entries();
  }

  /** Lookups pay anew for an index: one was made, or can't be. */
  public void countFoundAnew() {
    indexable.set(0);
  }

  /** For {@link TableIndexing}, which is a holder, and adds it to the cache's extras after. */
  void setIndex(EntryIndex made) {
    index = made;
  }

  /** The index is about to go: readers that come find none, and lookups pay anew for another. */
  void dropIndex() {
    index = null;
    indexable.set(0);
  }

  /** Finds a version by way of the index pages. */
  private long walk(byte[] key, long lsn, boolean touch) {
    long at = lsn & -8L;
    int pageNo = meta.rootPage();
    for (int level = meta.indexHeight(); level > 0; level--) {
      int page = page(pageNo, touch);
      if (page == PagePool.NONE) {
        return miss(pageNo);
      }
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int slot = PageReader.childSlot(memory, base, key, 0, key.length, at, order);
      pageNo = PageReader.child(memory, base, slot);
    }
    int page = page(pageNo, touch);
    if (page == PagePool.NONE) {
      return miss(pageNo);
    }
    Memory memory = pool.memory(page);
    int base = pool.base(page);
    int entry = PageReader.find(memory, base, key, 0, key.length, at, order);
    if (entry < 0) {
      return ABSENT;
    }
    // What is of no kind is told by a caller outside of the epoch: that may read the page map.
    return Kind.isData(PageReader.kind(memory, base, entry))
        ? (long) page << 32 | entry
        : miss(pageNo);
  }

  /**
   * As {@link #search}, but loads what it misses, one page after another. Outside of epochs, by a
   * holder of a reference.
   *
   * @param filtered whether the filter is asked first
   * @return the file's page, which is pinned until {@link #unpin}, and the entry there, as a
   *     location; or {@link #ABSENT}
   * @throws io.isobardb.memory.cache.NoFrameException if the cache has no room; nothing is pinned
   */
  public long locatePinned(byte[] key, long hash, long lsn, boolean filtered) {
    int filterPage = filtered ? filterPage(hash) : NO_FILTER;
    if (filterPage != NO_FILTER) {
      int page = loadPage(filterPage, Access.QUERY);
      boolean maybe = mayContain(page, filterPage, hash);
      unpin(filterPage);
      if (!maybe) {
        return ABSENT;
      }
    }
    long guess = guessInEpoch(hash, lsn);
    if (guess == ABSENT) {
      return ABSENT;
    }
    if (guess >= 0 && isKeyOfFile(guess, key)) {
      return guess;
    }
    long at = lsn & -8L;
    int pageNo = meta.rootPage();
    for (int level = meta.indexHeight(); level > 0; level--) {
      int page = loadPage(pageNo, Access.QUERY);
      int child;
      try {
        Memory memory = pool.memory(page);
        int base = pool.base(page);
        int slot = PageReader.childSlot(memory, base, key, 0, key.length, at, order);
        child = PageReader.child(memory, base, slot);
      } finally {
        unpin(pageNo);
      }
      pageNo = child;
    }
    int page = loadPage(pageNo, Access.QUERY);
    long location = ABSENT;
    try {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int entry = PageReader.find(memory, base, key, 0, key.length, at, order);
      if (entry >= 0) {
        checkKind(pageNo, PageReader.kind(memory, base, entry));
        location = (long) pageNo << 32 | entry;
      }
    } finally {
      if (location == ABSENT) {
        unpin(pageNo); // There is no such entry, it can't be read, or the key order threw.
      }
    }
    return location;
  }

  /** What the index over the entries says outside of epochs, of one on disk. */
  private long guessInEpoch(long hash, long lsn) {
    if (pages != null || !isIndexed(lsn)) {
      return UNKNOWN;
    }
    int slot = pool.epochs().enter();
    try {
      return guess(hash);
    } finally {
      pool.epochs().exit(slot);
    }
  }

  /** Whether an entry of the file has this key; if so, its page is pinned. */
  private boolean isKeyOfFile(long guess, byte[] key) {
    int pageNo = pageOf(guess);
    int page = loadPage(pageNo, Access.QUERY);
    boolean same = EntryIndex.isKey(pool, (long) page << 32 | entryOf(guess), key);
    if (!same) {
      unpin(pageNo);
    }
    return same;
  }

  /**
   * Refuses an entry that a later release wrote, of a page whose checksum is right.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if no data page may hold that kind
   */
  void checkKind(int pageNo, int kind) {
    if (!Kind.isData(kind)) {
      throw unknownKind(pageNo, kind);
    }
  }

  private CorruptionException unknownKind(int pageNo, int kind) {
    String what = "page " + pageNo + " holds " + Kind.unknown(kind);
    PageFile in = file;
    try {
      return space.corrupt(meta, in == null ? 0 : in.offset(pageNo), what);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + meta.fileName() + ": " + e.getMessage(), e);
    }
  }

  /**
   * A page that is missing on the way from the root to a place, or {@link #ABSENT}. Inside an
   * epoch; no page becomes hotter.
   */
  public int missedOnWay(byte[] key, int offset, int length, long lsn) {
    long at = lsn & -8L;
    int pageNo = meta.rootPage();
    for (int level = meta.indexHeight(); level > 0; level--) {
      int page = page(pageNo, false);
      if (page == PagePool.NONE) {
        return pageNo;
      }
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      int slot = PageReader.childSlot(memory, base, key, offset, length, at, order);
      pageNo = PageReader.child(memory, base, slot);
    }
    return page(pageNo, false) == PagePool.NONE ? pageNo : ABSENT;
  }

  private static int miss(int pageNo) {
    return FIRST_MISS - pageNo;
  }

  /** Whether an answer is a miss. */
  public static boolean isMiss(long answer) {
    return answer <= FIRST_MISS;
  }

  /** The page number to load after a miss. */
  public static int missedPage(long miss) {
    return (int) (FIRST_MISS - miss);
  }

  /** The pool page of a location. */
  public static int pageOf(long location) {
    return (int) (location >>> 32);
  }

  /** The entry of a location, for {@link PageReader}. */
  public static int entryOf(long location) {
    return (int) location;
  }

  /**
   * Brings a page into memory and keeps it there until {@link #unpin}. Outside of epochs, by a
   * holder of a reference.
   *
   * @return the pool page
   * @throws UncheckedIOException if it can't be read
   */
  public int loadPage(int pageNo, Access mode) {
    if (pages != null) {
      return pages[pageNo];
    }
    try {
      return file().pin(pageNo, mode);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + meta.fileName() + ": " + e.getMessage(), e);
    }
  }

  /** As {@link #loadPage(int, Access)}, but {@link PagePool#NONE} if it is not in memory. */
  int pinIfThere(int pageNo, Access mode) {
    return pages != null ? pages[pageNo] : cache.pin(fileKey | pageNo, mode);
  }

  /** Whether the cache has a page of one on disk, which becomes no hotter. */
  boolean isCached(int pageNo) {
    int slot = pool.epochs().enter();
    try {
      return page(pageNo, false) != PagePool.NONE;
    } finally {
      pool.epochs().exit(slot);
    }
  }

  /** As {@link #loadPage(int, Access)}, for one on disk; what is absent is read ahead. */
  int loadPage(int pageNo, Access mode, PageSequence sequence) {
    try {
      return file().pin(pageNo, mode, sequence);
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + meta.fileName() + ": " + e.getMessage(), e);
    }
  }

  /**
   * Opens the file of an SSTable on disk, which the first read would do otherwise. Outside of
   * epochs.
   *
   * @throws io.isobardb.lsm.error.FormatException if a newer version wrote it
   * @throws io.isobardb.lsm.error.CorruptionException if it has the wrong size
   */
  public void checkFormat() throws IOException {
    int page = MemorySink.allocate(pool, Purpose.MERGE);
    try {
      file().checkFormat(pool.memory(page), pool.base(page));
    } finally {
      pool.release(page, Purpose.MERGE);
    }
  }

  /**
   * Reads all pages of an SSTable on disk, past the cache. Outside of epochs.
   *
   * @param progress is told of each page
   * @throws io.isobardb.lsm.error.CorruptionException if one is damaged, or the size is wrong
   */
  public void checkPages(Runnable progress) throws IOException {
    int page = MemorySink.allocate(pool, Purpose.MERGE);
    try {
      Memory memory = pool.memory(page);
      int base = pool.base(page);
      // Before its pages are asked for: a file of another size has other ones.
      file().checkFormat(memory, base);
      for (int pageNo = 0; pageNo < meta.pageCount(); pageNo++) {
        file().read(pageNo, memory, base);
        progress.run();
      }
    } finally {
      pool.release(page, Purpose.MERGE);
    }
  }

  /** Ends what {@link #loadPage} began. */
  public void unpin(int pageNo) {
    if (pages == null) {
      file().unpin(pageNo);
    }
  }

  /**
   * Copies a part of an overflow value to the absolute index {@code targetOffset}. Outside of
   * epochs, by a holder of a reference.
   *
   * @param firstPage of the value, as its entry says
   * @param from the first byte to copy, counted from the beginning of that page's values
   */
  public void copyOverflow(
      int firstPage, long from, ByteBuffer target, int targetOffset, int length, Access mode) {
    try (PageSequence source = PageSequence.ofValues(this, mode)) {
      copyOverflow(source, firstPage, from, target, targetOffset, length);
    }
  }

  /** As the other one, for a reader of several values. */
  void copyOverflow(
      PageSequence source,
      int firstPage,
      long from,
      ByteBuffer target,
      int targetOffset,
      int length) {
    int perPage = PageLayout.overflowBytes(pool.pageSize());
    int pageNo = firstPage + (int) (from / perPage);
    int at = (int) (from % perPage);
    source.expect(pageNo, PageLayout.overflowPages(pool.pageSize(), at, length));
    for (int done = 0; done < length; pageNo++) {
      int piece = Math.min(length - done, perPage - at);
      int page = source.load(pageNo);
      try {
        int start = pool.base(page) + PageLayout.HEADER_BYTES + at;
        pool.memory(page).get(start, target, targetOffset + done, piece);
      } finally {
        unpin(pageNo);
      }
      done += piece;
      at = 0;
    }
  }

  /** A cursor over all entries; the caller holds a reference as long as it is open. */
  public SSTableCursor cursor(Access mode) {
    return new SSTableCursor(this, mode);
  }

  /** Makes the file go when the last reference does. */
  public void markObsolete() {
    obsolete = true;
  }

  /** Takes a reference, unless the last one has been given back. */
  public boolean tryRetain() {
    for (; ; ) {
      int count = references.get();
      if (count == 0) {
        return false;
      }
      if (references.compareAndSet(count, count + 1)) {
        return true;
      }
    }
  }

  /** Gives a reference back. */
  public void release() {
    int left = references.decrementAndGet();
    if (left > 0) {
      return;
    }
    if (left < 0) {
      throw new IllegalStateException("released more often than retained");
    }
    if (pages != null) {
      for (int i = 1; i < pages.length; i++) {
        pool.retire(pages[i], Purpose.WRITE);
      }
    }
    EntryIndex mine = index;
    if (mine != null && ownsIndex) {
      mine.retire();
    } else if (mine != null) {
      cache.extras().remove(mine);
    }
    if (pages == null) {
      closeFile();
    }
  }

  private void closeFile() {
    try {
      file().dropPages();
      file().close();
      if (obsolete) {
        space.storage().delete(meta.fileName());
      }
    } catch (IOException | DiskFullException e) {
      // Nobody needs the file any more; if it stays, the next open of the store deletes it.
      SystemLog.tell(
          Level.WARNING, SSTable.class, () -> "could not dispose of " + meta.fileName(), e);
    }
  }

  /** What readers have asked of it; only of one on disk. */
  public TableReads reads() {
    return file().reads();
  }

  /** Whether a file is open for it. */
  public boolean isFileOpen() {
    return file != null && file.isOpen();
  }

  public TableSpace space() {
    return space;
  }

  public PageFile file() {
    if (file == null) {
      throw new IllegalStateException("an SSTable in memory has no file");
    }
    return file;
  }

  @Override
  public String toString() {
    return (isInMemory() ? "memory SSTable " : "SSTable ") + meta.fileNumber();
  }
}
