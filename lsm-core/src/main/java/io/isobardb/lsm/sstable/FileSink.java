package io.isobardb.lsm.sstable;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes the pages of an SSTable to a new file, in batches; pages being filled are charged to
 * {@link Purpose#MERGE}. A page that was written is then offered to the buffer cache, or given back
 * to the pool.
 *
 * <p>{@link #finish} syncs the file, not its directory; after {@link #syncLater} not even that, so
 * that several files can be written first and synced after each other. Thread rule: one thread at a
 * time.
 */
public final class FileSink implements PageSink {
  private static final int BATCH_BYTES = 256 << 10;

  /** For the number of the footer page: not among these. */
  private static final int NO_FOOTER = -1;

  /** Several files are written at once: the buffers of each are at most this part of the budget. */
  private static final int BUDGET_SHARE = 128;

  private final TableSpace space;
  private final PagePool pool;
  private final int pageSize;
  private final long fileNumber;
  private final int cacheNumber;
  private final int treeId;
  private final Packing packing;
  private final boolean adopt;
  private @Nullable Samples samples;
  private final long seed;
  private final DataFile file;

  private final int[] pages;
  private final boolean[] hot;
  private final Memory[] memories;
  private final int[] bases;
  private int pending;
  private int firstPending;

  /** Whether the header page holds footer and filter. */
  private boolean footerInHeader;

  private @Nullable StoredOutput output;
  private long written;
  private int[] map = new int[0];
  private boolean syncLater;

  /**
   * Creates the file.
   *
   * @param packer how its pages are stored
   * @param adopt whether pages go to the buffer cache: hot ones in any case, others if it has room
   * @throws IllegalStateException if files are not numbered as far as that
   */
  public FileSink(TableSpace space, long fileNumber, int treeId, Packer packer, boolean adopt)
      throws IOException {
    this.space = space;
    this.pool = space.pool();
    this.pageSize = space.pageSize();
    this.fileNumber = fileNumber;
    this.cacheNumber = SSTableMeta.cacheNumber(fileNumber);
    this.treeId = treeId;
    this.packing = packer.packing();
    this.adopt = adopt;
    this.samples = packer.samples();
    this.seed = space.fileSeed(fileNumber);
    int batch =
        Math.max(1, (int) Math.min(BATCH_BYTES, pool.limitBytes() / BUDGET_SHARE) / pageSize);
    this.pages = new int[batch];
    this.hot = new boolean[batch];
    this.memories = new Memory[batch];
    this.bases = new int[batch];
    this.file = space.storage().create(SSTableMeta.fileName(fileNumber), space.ioMode());
    try {
      if (!packing.isNone()) {
        output = openOutput(packer);
        map = new int[64];
      }
      begin(packer.dictionary());
    } catch (IOException | RuntimeException | Error e) {
      abort();
      throw e;
    }
  }

  private StoredOutput openOutput(Packer packer) {
    PageCoder coder = new PageCoder(packer.codec(), packer.dictionary(), pageSize, seed);
    try {
      return new StoredOutput(space, file, coder, pageSize + packing.dictionarySpace());
    } catch (RuntimeException | Error e) {
      coder.close();
      throw e;
    }
  }

  /** The header; it goes out with the first pages, since a write costs more than a page does. */
  private void begin(byte @Nullable [] dictionary) throws IOException {
    if (!packing.isNone()) {
      writeOne(0, 0, null);
      firstPending = 1;
      if (dictionary != null) {
        writeDictionary(dictionary);
      }
      return;
    }
    int page = allocate();
    FileLayout.writeHeader(memory(page), base(page), space, fileNumber, treeId, packing);
    push(page, false, NO_FOOTER);
  }

  /** The number that the file was created with. */
  public long fileNumber() {
    return fileNumber;
  }

  /** Leaves the file open and not synced when it is finished: {@link #sync} is to follow. */
  public void syncLater() {
    syncLater = true;
  }

  /** Syncs and closes the finished file. */
  public void sync() throws IOException {
    file.sync();
    close();
  }

  @Override
  public int pageSize() {
    return pageSize;
  }

  @Override
  public Memory memory(int page) {
    return pool.memory(page);
  }

  @Override
  public int base(int page) {
    return pool.base(page);
  }

  @Override
  public int allocate() {
    int page = pool.allocate(Purpose.MERGE);
    if (page != PagePool.NONE) {
      return page;
    }
    try {
      // What waits to be written in one piece is worth less than going on.
      flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return MemorySink.allocate(pool, Purpose.MERGE);
  }

  @Override
  public void release(int page) {
    pool.release(page, Purpose.MERGE);
  }

  @Override
  public void emit(int pageNo, int page, boolean isHot) throws IOException {
    boolean inOrder = pageNo == firstPending + pending;
    if (samples != null) {
      samples.offer(memory(page), base(page));
    }
    push(page, isHot, NO_FOOTER);
    if (!inOrder) {
      throw new IllegalArgumentException("page " + pageNo + " out of order");
    }
  }

  /**
   * A file that fits into one write has no pages but those of entries and index, and the header.
   */
  @Override
  public int headerForFilter(int keyBytes, int blocks) {
    if (!packing.isNone() || firstPending > 0) {
      return PagePool.NONE;
    }
    int header = pages[0];
    footerInHeader = FileLayout.hasRoom(memory(header), base(header), pageSize, keyBytes, blocks);
    hot[0] = footerInHeader && blocks > 0;
    return footerInHeader ? header : PagePool.NONE;
  }

  /** Writes the pages that wait for others to be written with. */
  @Override
  public void rest() throws IOException {
    flush();
  }

  private void push(int page, boolean isHot, int footer) throws IOException {
    pages[pending] = page;
    hot[pending] = isHot;
    pending++;
    if (pending == pages.length) {
      flush(footer);
    }
  }

  private void flush() throws IOException {
    flush(NO_FOOTER);
  }

  /**
   * @param footer the number of the footer page, which nobody reads through the cache
   */
  private void flush(int footer) throws IOException {
    store(pending, firstPending);
    int count = pending;
    int first = firstPending;
    pending = 0;
    firstPending += count;
    for (int i = 0; i < count; i++) {
      // Of header pages, those are hot that hold the filter.
      if (adopt && (first + i > 0 || hot[i]) && first + i != footer) {
        long key = BufferCache.key(cacheNumber, first + i);
        Access access = hot[i] ? Access.QUERY : Access.MERGE;
        space.cache().adopt(key, pages[i], Purpose.MERGE, access);
      } else {
        release(pages[i]);
      }
    }
  }

  private void store(int count, int first) throws IOException {
    if (count == 0) {
      return;
    }
    for (int i = 0; i < count; i++) {
      memories[i] = pool.memory(pages[i]);
      bases[i] = pool.base(pages[i]);
    }
    if (packing.isNone()) {
      for (int i = 0; i < count; i++) {
        PageLayout.seal(memories[i], bases[i], pageSize, seed, first + i);
      }
      file.writeAll((long) first * pageSize, memories, bases, count, pageSize);
      written = (long) (first + count) * pageSize;
    } else {
      for (int i = 0; i < count; i++) {
        mark(first + i, output().position());
        output().append(memories[i], bases[i], first + i);
      }
    }
  }

  private void mark(int pageNo, long offset) {
    if (pageNo >= map.length) {
      map = Arrays.copyOf(map, pageNo * 2);
    }
    map[pageNo] = (int) (offset / FileLayout.STORED_UNIT);
  }

  @Override
  public SSTableMeta finish(SSTableMeta meta) throws IOException {
    int pageCount = firstPending + pending;
    int mapPages = 0;
    int footerPages = footerInHeader ? 0 : 1;
    if (packing.isNone()) {
      written = (long) pageCount * pageSize;
    } else {
      flush();
      mark(pageCount, output().position());
      written = output().finish();
      mapPages = FileLayout.pageMapPages(pageSize, pageCount);
    }
    SSTableMeta full =
        new SSTableMeta(
            fileNumber,
            treeId,
            pageCount + mapPages + footerPages,
            meta.entries(),
            meta.deletes(),
            meta.minKey(),
            meta.maxKey(),
            meta.minLsn(),
            meta.maxLsn(),
            meta.rootPage(),
            meta.indexHeight(),
            meta.filterPage(),
            meta.filterBlocks(),
            written + (long) (mapPages + footerPages) * pageSize,
            packing,
            mapPages == 0 ? 0 : pageCount,
            meta.expiring());
    if (footerInHeader) {
      int root = pages[pending - 1];
      FileLayout.addFooter(memory(pages[0]), base(pages[0]), pageSize, full);
      FileLayout.writeRoot(memory(root), base(root), full);
      flush();
    } else if (packing.isNone()) {
      int page = allocate();
      FileLayout.writeFooter(memory(page), base(page), pageSize, full);
      push(page, false, pageCount);
      flush(pageCount);
    } else {
      for (int i = 0; i <= mapPages; i++) {
        writeOne(pageCount + i, written, full);
        written += pageSize;
      }
    }
    train();
    if (!syncLater) {
      sync();
    }
    return full;
  }

  private void writeDictionary(byte[] dictionary) throws IOException {
    int bytes = packing.dictionarySpace();
    Memory spare = space.spare().memory();
    synchronized (space.spare()) {
      PageCoder.writeDictionary(dictionary, spare, 0, seed);
      file.write(pageSize, spare, 0, bytes);
    }
  }

  private void train() {
    Samples enough = samples;
    if (enough != null) {
      samples = null;
      enough.train();
    }
  }

  /** Writes a header (no {@code meta}), page-map or footer page. */
  private void writeOne(int pageNo, long offset, @Nullable SSTableMeta meta) throws IOException {
    int page = allocate();
    try {
      Memory memory = memory(page);
      int base = base(page);
      if (meta == null) {
        FileLayout.writeHeader(memory, base, space, fileNumber, treeId, packing);
      } else if (pageNo == meta.pageCount() - 1) {
        FileLayout.writeFooter(memory, base, pageSize, meta);
      } else {
        writeMap(memory, base, pageNo - meta.pageMapPage(), meta.pageMapPage());
      }
      PageLayout.seal(memory, base, pageSize, seed, pageNo);
      file.write(offset, memory, base, pageSize);
    } finally {
      release(page);
    }
  }

  private void writeMap(Memory memory, int base, int index, int last) {
    int perPage = FileLayout.mapEntriesPerPage(pageSize);
    memory.zero(base, pageSize);
    memory.putByte(base + PageLayout.TYPE, (byte) PageLayout.PAGE_MAP);
    int from = index * perPage;
    for (int i = from; i <= Math.min(last, from + perPage - 1); i++) {
      memory.putInt(base + PageLayout.HEADER_BYTES + (i - from) * Integer.BYTES, map[i]);
    }
  }

  @Override
  public void abort() {
    for (int i = 0; i < pending; i++) {
      release(pages[i]);
    }
    pending = 0;
    if (samples != null) {
      samples.abort();
      samples = null;
    }
    space.cache().drop(cacheNumber, firstPending);
    try {
      close();
      space.storage().delete(SSTableMeta.fileName(fileNumber));
    } catch (IOException e) {
      // The file is in no manifest; what is left of it goes when the store is opened next.
    }
  }

  private StoredOutput output() {
    if (output == null) {
      throw new IllegalStateException("closed");
    }
    return output;
  }

  private void close() throws IOException {
    if (output != null) {
      output.close();
      output = null;
    }
    file.close();
  }
}
