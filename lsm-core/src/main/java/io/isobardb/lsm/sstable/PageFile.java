package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.cache.PageLoader;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of one SSTable file. The file is opened by the first read.
 *
 * <p>Every page that it gives has the right checksum; what has not is a {@code
 * CorruptionException}. A file of a newer format version is refused when it is opened. Thread rule:
 * all methods may be called by any thread; nobody reads any more when {@link #close} is called.
 */
public final class PageFile implements PageLoader, AutoCloseable {
  private final TableSpace space;
  private final SSTableMeta meta;
  private final int pageSize;
  private final long seed;
  private final int cacheNumber;
  private final boolean known;

  /** The LSN of all entries, if they have the same one; else -1. */
  private final long oneLsn;

  private final TableReads reads = new TableReads();

  /** Loads a page for a reader. */
  private final PageLoader counting;

  private volatile @Nullable DataFile file;

  /** Made under the lock of the spare memory, by the first read of a compressed page. */
  private volatile @Nullable PageCoder coder;

  /**
   * @param known whether this process wrote the file: then its version and size are what they are
   */
  PageFile(TableSpace space, SSTableMeta meta, boolean known) {
    this.space = space;
    this.meta = meta;
    this.known = known;
    this.pageSize = space.pageSize();
    this.seed = space.fileSeed(meta.fileNumber());
    this.cacheNumber = SSTableMeta.cacheNumber(meta.fileNumber());
    this.oneLsn = meta.minLsn() == meta.maxLsn() ? meta.minLsn() : -1;
    this.counting =
        (key, memory, base) -> {
          reads.onPageRead();
          load(key, memory, base);
        };
  }

  /** What readers have asked of it. */
  TableReads reads() {
    return reads;
  }

  /** Whether the page is compressed in the file. */
  boolean isCompressed(int pageNo) {
    return meta.isPacked() && pageNo > 0 && pageNo < meta.pageMapPage();
  }

  long cacheKey(int pageNo) {
    return BufferCache.key(cacheNumber, pageNo);
  }

  /** Brings a page into the cache, if it is not there, and pins it. Not inside a load. */
  int pin(int pageNo, Access mode) throws IOException {
    long key = cacheKey(pageNo);
    BufferCache cache = space.cache();
    if (!isCompressed(pageNo)) {
      return cache.load(key, mode == Access.MERGE ? this : counting, mode);
    }
    // The page map is a page of the cache too: it must not be asked from within a load.
    long offset = -1;
    int length = 0;
    if (cache.pin(key) == BufferCache.ABSENT) {
      offset = storedOffset(pageNo, mode);
      length = (int) (storedOffset(pageNo + 1, mode) - offset);
    }
    long from = offset;
    int bytes = length;
    int page =
        cache.load(
            key,
            (same, memory, base) -> {
              if (mode != Access.MERGE) {
                reads.onPageRead();
              }
              readStored(pageNo, from, bytes, memory, base);
            },
            mode);
    if (offset < 0) {
      cache.unpin(key);
    }
    return page;
  }

  /** As {@link #pin(int, Access)}, but what the cache does not have is read ahead. */
  int pin(int pageNo, Access mode, PageSequence sequence) throws IOException {
    long key = cacheKey(pageNo);
    BufferCache cache = space.cache();
    int there = cache.pin(key);
    if (there != BufferCache.ABSENT) {
      cache.countHits(1);
      return there;
    }
    ReadAhead ahead = sequence.ahead(pageNo);
    if (ahead == null) {
      return pin(pageNo, mode);
    }
    int from;
    try {
      from = ahead.read(pageNo, mode);
    } catch (IOException e) {
      return pin(pageNo, mode); // Another page of the piece may be the one that can't be read.
    }
    return cache.load(
        key,
        (same, memory, base) -> {
          reads.onPageRead();
          memory.copyFrom(base, ahead.memory(), from, pageSize);
          setLsn(memory, base);
        },
        mode);
  }

  /**
   * Gives a page the LSN that the manifest says all entries have: SSTables that were loaded in bulk
   * were written before that was known. Nothing changes in others.
   *
   * @return whether the page may have changed, so that its checksum is wrong
   */
  boolean setLsn(Memory memory, int base) {
    boolean sets =
        oneLsn >= 0
            && memory.getByte(base + PageLayout.TYPE) == PageLayout.DATA
            && memory.getByte(base + PageLayout.LSN_WIDTH) == 0;
    if (sets) {
      memory.putLong(base + PageLayout.BASE_LSN, oneLsn);
    }
    return sets;
  }

  void unpin(int pageNo) {
    space.cache().unpin(cacheKey(pageNo));
  }

  /** Loads a page that is not compressed. */
  @Override
  public void load(long key, Memory memory, int base) throws IOException {
    int pageNo = (int) key;
    readRaw(pageNo, 1, memory, base);
    verify(pageNo, memory, base);
    setLsn(memory, base);
  }

  /** Reads any page, past the cache. */
  public void read(int pageNo, Memory memory, int base) throws IOException {
    if (isCompressed(pageNo)) {
      long offset = storedOffset(pageNo, Access.MERGE);
      int length = (int) (storedOffset(pageNo + 1, Access.MERGE) - offset);
      readStored(pageNo, offset, length, memory, base);
    } else {
      readRaw(pageNo, 1, memory, base);
      verify(pageNo, memory, base);
      setLsn(memory, base);
    }
  }

  /** Reads pages that are not compressed, without verifying them. */
  void readRaw(int pageNo, int count, Memory memory, int base) throws IOException {
    readFully(rawOffset(pageNo), memory, base, count * pageSize);
  }

  /** Reads exactly so many bytes. */
  public void readFully(long offset, Memory memory, int at, int length) throws IOException {
    int got = space.loads().run(() -> open(memory, at).read(offset, memory, at, length));
    if (got != length) {
      throw space.corrupt(meta, offset + got, "the file ends here");
    }
  }

  /** Checks a page as it was read. */
  void verify(int pageNo, Memory memory, int base) {
    if (!PageLayout.isIntact(memory, base, pageSize, seed, pageNo)) {
      throw space.corrupt(meta, rawOffset(pageNo), "page " + pageNo + " has a wrong checksum");
    }
  }

  /** Where a compressed page begins in the file; that of the next page is its end. */
  public long storedOffset(int pageNo, Access mode) throws IOException {
    int perPage = FileLayout.mapEntriesPerPage(pageSize);
    int mapPage = meta.pageMapPage() + pageNo / perPage;
    int page = pin(mapPage, mode);
    int at = space.pool().base(page) + PageLayout.HEADER_BYTES + pageNo % perPage * Integer.BYTES;
    long units = space.pool().memory(page).getInt(at) & 0xFFFFFFFFL;
    unpin(mapPage);
    return units * FileLayout.STORED_UNIT;
  }

  private void readStored(int pageNo, long offset, int length, Memory memory, int base)
      throws IOException {
    prepare();
    long from = offset & -DataFile.BLOCK;
    int skip = (int) (offset - from);
    int bytes = (skip + length + DataFile.BLOCK - 1) & -DataFile.BLOCK;
    PagePool pool = space.pool();
    int scratch = bytes <= pageSize ? pool.tryAllocate(Purpose.CACHE) : PagePool.NONE;
    if (scratch != PagePool.NONE) {
      try {
        Memory stored = pool.memory(scratch);
        int at = pool.base(scratch);
        readFully(from, stored, at, bytes);
        check(offset, unpack(pageNo, length, stored, at + skip, memory, base));
        setLsn(memory, base);
      } finally {
        pool.release(scratch, Purpose.CACHE);
      }
      return;
    }
    // No read fails for want of memory: at worst, reads take turns.
    Memory spare = space.spare().memory();
    synchronized (space.spare()) {
      readFully(from, spare, 0, bytes);
      check(offset, unpack(pageNo, length, spare, skip, memory, base));
      setLsn(memory, base);
    }
  }

  /**
   * Verifies and decompresses a stored page, once {@link #prepare} was called.
   *
   * @return what is wrong with it, for {@link #check}, or null
   */
  @Nullable String unpack(int pageNo, int length, Memory stored, int at, Memory memory, int base) {
    PageCoder prepared = coder;
    if (prepared == null) {
      throw new IllegalStateException("not prepared");
    }
    return prepared.unpack(pageNo, length, stored, at, memory, base);
  }

  /**
   * Has what decompresses pages. The first time, it may read the dictionary.
   *
   * @throws io.isobardb.lsm.error.FormatException if the codec is missing
   */
  void prepare() throws IOException {
    if (coder != null) {
      return;
    }
    Packing packing = meta.packing();
    Codecs.require(packing.codec(), meta.fileName());
    synchronized (space.spare()) {
      if (coder == null) {
        byte[] dictionary = packing.dictionaryBytes() == 0 ? null : readDictionary(packing);
        try {
          coder = new PageCoder(packing.codec(), dictionary, pageSize, seed);
        } catch (RuntimeException e) {
          throw space.corrupt(meta, pageSize, "the dictionary can't be used: " + e.getMessage());
        }
      }
    }
  }

  /** Into the spare memory, whose lock is held. */
  private byte[] readDictionary(Packing packing) throws IOException {
    Memory spare = space.spare().memory();
    if (packing.dictionaryBytes() > PageCoder.mostDictionaryBytes(pageSize)) {
      throw space.corrupt(meta, pageSize, packing + " of pages of " + pageSize);
    }
    readFully(pageSize, spare, 0, packing.dictionarySpace());
    byte[] dictionary = PageCoder.readDictionary(packing, spare, 0, seed);
    if (dictionary == null) {
      throw space.corrupt(meta, pageSize, "the dictionary has a wrong checksum");
    }
    return dictionary;
  }

  /** Throws if something is wrong with the page at an offset. */
  void check(long offset, @Nullable String wrong) {
    if (wrong != null) {
      throw space.corrupt(meta, offset, wrong);
    }
  }

  /** Where a page begins in the file; for a compressed one the page map is asked. */
  public long offset(int pageNo) throws IOException {
    return isCompressed(pageNo) ? storedOffset(pageNo, Access.MERGE) : rawOffset(pageNo);
  }

  private long rawOffset(int pageNo) {
    if (!meta.isPacked() || pageNo == 0) {
      return (long) pageNo * pageSize;
    }
    return meta.sizeBytes() - (long) (meta.pageCount() - pageNo) * pageSize;
  }

  boolean isOpen() {
    DataFile opened = file;
    return opened != null && opened.holdsDescriptor();
  }

  /** Opens the file and checks its version, if that has not been done. */
  public void checkFormat(Memory memory, int at) throws IOException {
    open(memory, at);
  }

  /**
   * The file, whose version was checked when it was opened.
   *
   * @param scratch holds {@link DataFile#BLOCK} bytes at {@code at} that need not be kept
   */
  private DataFile open(Memory scratch, int at) throws IOException {
    DataFile opened = file;
    if (opened != null) {
      return opened;
    }
    synchronized (this) {
      opened = file;
      if (opened == null) {
        opened = space.storage().open(meta.fileName(), space.ioMode());
        try {
          checkOpened(opened, scratch, at);
        } catch (IOException | RuntimeException | Error e) {
          opened.close();
          throw e;
        }
        file = opened;
      }
      return opened;
    }
  }

  private void checkOpened(DataFile opened, Memory scratch, int at) throws IOException {
    if (known) {
      return;
    }
    if (opened.read(0, scratch, at, DataFile.BLOCK) >= FileLayout.VERSION_END) {
      FileLayout.refuseNewer(scratch, at, meta.fileName());
    }
    long size = opened.size();
    if (size != meta.sizeBytes()) {
      throw space.corrupt(meta, size, "a file of " + size + " bytes, not " + meta.sizeBytes());
    }
  }

  /** Drops what the cache has of it: nothing, if nobody has read it. */
  void dropPages() {
    if (known || file != null) {
      space.cache().drop(cacheNumber, meta.pageCount());
    }
  }

  @Override
  public void close() throws IOException {
    PageCoder prepared = coder;
    if (prepared != null) {
      coder = null;
      prepared.close();
    }
    DataFile opened = file;
    if (opened != null) {
      file = null;
      opened.close();
    }
  }
}
