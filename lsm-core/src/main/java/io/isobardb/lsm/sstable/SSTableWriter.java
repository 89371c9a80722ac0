package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes one SSTable: entries in order go in, finished pages go to a {@link PageSink}.
 *
 * <p>Pages are numbered in the order in which they are finished, from 1 on: data pages, each after
 * the overflow pages of its entries, in which values follow one another without gaps; then index
 * pages, level by level, the root last; then filter pages, unless the sink has a header page for
 * the filter. Index pages and the hashes of the keys are held until {@link #finish}.
 *
 * <p>Thread rule: one thread at a time. After an exception only {@link #abort} may be called.
 */
public final class SSTableWriter {
  private final PageSink sink;
  private final KeyOrder order;
  private final int pageSize;
  private final double bitsPerKey;
  private final long fileNumber;
  private final int treeId;

  private final PageBuilder data;
  private final PageBuilder leaf;
  private final Filter.Builder filter = new Filter.Builder();
  private final Memory child = new Memory(ByteBuffer.allocateDirect(Integer.BYTES));
  private final Memory overflow =
      new Memory(ByteBuffer.allocateDirect(PageLayout.OVERFLOW_REF_BYTES + Expiry.BYTES));

  /** For values that come from the heap, or that expire; made when the first does. */
  private @Nullable Memory heapValue;

  /** When the entry that is added next expires. */
  private long expiry = Expiry.NEVER;

  /** Finished index pages of one level, not yet emitted. */
  private int[] held = new int[16];

  private int heldCount;
  private int nextPage = 1;

  /** The overflow page that is being filled, which is the next one to be emitted; or NONE. */
  private int tail = PagePool.NONE;

  /** Bytes of values in it. */
  private int tailBytes;

  /** Whether a value of it comes from hot pages. */
  private boolean tailHot;

  private final byte[] lastKey;
  private int lastLength = -1;
  private long lastLsn;
  private boolean sameKey;
  private byte[] firstKey = new byte[0];
  private final byte[] separator;
  private int separatorLength;
  private long separatorLsn;
  private final byte[] lastSeparator;
  private int lastSeparatorLength;

  /** Entries of the page at hand that came from hot pages, less those that did not. */
  private int pageHeat;

  private boolean sourceHot;
  private SSTableMeta.Expiring expiring = SSTableMeta.Expiring.NONE;
  private long entries;
  private long deletes;
  private long minLsn = Long.MAX_VALUE;
  private long maxLsn;

  /**
   * Begins an SSTable.
   *
   * @param bitsPerKey size of the filter; 0 for none
   */
  public SSTableWriter(
      PageSink sink, KeyOrder order, long fileNumber, int treeId, double bitsPerKey) {
    this.sink = sink;
    this.order = order;
    this.pageSize = sink.pageSize();
    this.bitsPerKey = bitsPerKey;
    this.fileNumber = fileNumber;
    this.treeId = treeId;
    this.data = new PageBuilder(sink, PageLayout.DATA, order.isBytes());
    this.leaf = new PageBuilder(sink, PageLayout.INDEX, order.isBytes());
    int longest = PageLayout.maxKeyBytes(pageSize);
    this.lastKey = new byte[longest];
    this.separator = new byte[longest];
    this.lastSeparator = new byte[longest];
  }

  /** Says when the one entry that is added next expires; {@link Expiry#NEVER} if it does not. */
  public SSTableWriter expiring(long atMillis) {
    expiry = atMillis;
    return this;
  }

  /**
   * Adds an entry. It must come after all that were added: greater key, or the same key and a lower
   * LSN. A value too large for a page goes to overflow pages.
   *
   * @param lsn a multiple of 8
   * @param kind {@link Kind#PUT}, {@link Kind#DELETE} or {@link Kind#MERGE}
   */
  public void add(
      byte[] key, int keyLength, long lsn, int kind, Memory value, int valueOffset, int valueLength)
      throws IOException {
    if (!PageLayout.fitsInline(pageSize, keyLength, valueLength + Expiry.bytes(expiry))) {
      addOverflow(
          key,
          keyLength,
          lsn,
          Kind.overflow(kind),
          valueLength,
          (from, target, at, length) -> target.copyFrom(at, value, valueOffset + from, length));
      return;
    }
    int common = next(key, keyLength, lsn);
    if (expiry == Expiry.NEVER) {
      put(key, keyLength, common, lsn, kind, value, valueOffset, valueLength);
    } else {
      Memory copy = scratch();
      if (copy != value) {
        copy.copyFrom(0, value, valueOffset, valueLength);
      }
      copy.putLong(valueLength, expiry);
      putExpiring(key, keyLength, common, lsn, kind, copy, valueLength);
    }
    if (Kind.isDelete(kind)) {
      deletes++;
    }
  }

  /** Adds the entry that a cursor stands on, as one with the LSN {@code lsn}. */
  public void add(LeafCursor entry, long lsn) throws IOException {
    sourceHot = entry.isHot();
    expiry = entry.expiry();
    int kind = entry.kind();
    if (Kind.isOverflow(kind)) {
      addOverflow(entry.key(), entry.keyLength(), lsn, kind, entry.valueLength(), entry::copyValue);
    } else {
      add(
          entry.key(),
          entry.keyLength(),
          lsn,
          kind,
          entry.valueMemory(),
          entry.valueOffset(),
          entry.valueLength());
    }
  }

  /** Adds an entry whose value lies on the heap. */
  public void add(byte[] key, int keyLength, long lsn, int kind, byte[] value) throws IOException {
    if (PageLayout.fitsInline(pageSize, keyLength, value.length + Expiry.bytes(expiry))) {
      Memory copy = scratch();
      copy.put(0, value, 0, value.length);
      add(key, keyLength, lsn, kind, copy, 0, value.length);
    } else {
      addOverflow(
          key,
          keyLength,
          lsn,
          Kind.overflow(kind),
          value.length,
          (from, target, at, length) -> target.put(at, value, from, length));
    }
  }

  private Memory scratch() {
    Memory made = heapValue;
    if (made == null) {
      made = new Memory(ByteBuffer.allocateDirect(pageSize));
      heapValue = made;
    }
    return made;
  }

  /**
   * Adds an entry whose value goes to overflow pages, behind the value before it.
   *
   * @param kind {@link Kind#PUT_OVERFLOW} or {@link Kind#MERGE_OVERFLOW}
   */
  public void addOverflow(
      byte[] key, int keyLength, long lsn, int kind, int valueLength, ValueSource source)
      throws IOException {
    int common = next(key, keyLength, lsn);
    if (tail != PagePool.NONE && PageLayout.needsNewPage(pageSize, tailBytes, valueLength)) {
      endTail();
    }
    overflow.putInt(0, nextPage);
    overflow.putInt(4, tailBytes);
    overflow.putLong(8, valueLength);
    int perPage = PageLayout.overflowBytes(pageSize);
    for (int done = 0; done < valueLength; ) {
      if (tail == PagePool.NONE) {
        tail = sink.allocate();
        PageLayout.initialize(sink.memory(tail), sink.base(tail), PageLayout.OVERFLOW);
      }
      int piece = Math.min(perPage - tailBytes, valueLength - done);
      int at = sink.base(tail) + PageLayout.HEADER_BYTES + tailBytes;
      source.copy(done, sink.memory(tail), at, piece);
      tailBytes += piece;
      tailHot |= sourceHot;
      done += piece;
      if (tailBytes == perPage) {
        endTail();
      }
    }
    int length = PageLayout.OVERFLOW_REF_BYTES;
    if (expiry == Expiry.NEVER) {
      put(key, keyLength, common, lsn, kind, overflow, 0, length);
    } else {
      overflow.putLong(length, expiry);
      putExpiring(key, keyLength, common, lsn, kind, overflow, length);
    }
  }

  /** Emits the overflow page that is being filled, if there is one. */
  private void endTail() throws IOException {
    int page = tail;
    if (page == PagePool.NONE) {
      return;
    }
    int free = PageLayout.overflowBytes(pageSize) - tailBytes;
    sink.memory(page).zero(sink.base(page) + pageSize - free, free);
    boolean hot = tailHot;
    tail = PagePool.NONE;
    tailBytes = 0;
    tailHot = false;
    emit(page, hot);
  }

  /** Puts an entry whose value is followed by when it expires. */
  private void putExpiring(
      byte[] key, int keyLength, int common, long lsn, int kind, Memory value, int valueLength)
      throws IOException {
    int stored = valueLength + Expiry.BYTES;
    put(key, keyLength, common, lsn, kind | Kind.EXPIRES, value, 0, stored);
    expiring = expiring.with(expiry);
    expiry = Expiry.NEVER;
  }

  /** Says whether what is added from now on comes from pages that clients read lately. */
  public void sourceHot(boolean hot) {
    sourceHot = hot;
  }

  /** About the size in bytes if the SSTable were finished now. */
  public long sizeBytes() {
    long pages = nextPage + (tail == PagePool.NONE ? 0 : 1) + heldCount + 3L;
    return pages * pageSize + (long) (filter.keys() * bitsPerKey / 8);
  }

  /** Gives back what it can do without while no entry is added for a while. */
  public void rest() throws IOException {
    sink.rest();
  }

  /**
   * Writes what is left, index and filter. At least one entry must have been added.
   *
   * @return what describes the SSTable
   */
  public SSTableMeta finish() throws IOException {
    if (entries == 0) {
      throw new IllegalStateException("an SSTable without entries");
    }
    flushData();
    hold(leaf.finish());
    int height = 1;
    for (; heldCount > 1; height++) {
      raiseIndex();
    }
    int root = nextPage;
    heldCount = 0;
    emit(held[0], true);
    int filterPage = nextPage;
    int blocks = bitsPerKey == 0 ? 0 : Filter.blocks(filter.keys(), bitsPerKey);
    data.close();
    leaf.close();
    int header = sink.headerForFilter(firstKey.length + lastLength, blocks);
    if (header == PagePool.NONE) {
      emitFilter(blocks);
    } else {
      filter.fillEnd(sink, header, blocks);
      filterPage = 0;
    }
    SSTableMeta meta =
        new SSTableMeta(
            fileNumber,
            treeId,
            nextPage,
            entries,
            deletes,
            firstKey,
            Arrays.copyOf(lastKey, lastLength),
            minLsn,
            maxLsn,
            root,
            height,
            filterPage,
            blocks,
            (long) (nextPage - 1) * pageSize,
            Packing.NONE,
            0,
            expiring);
    return sink.finish(meta);
  }

  /** Gives up, and frees everything. */
  public void abort() {
    data.close();
    leaf.close();
    if (tail != PagePool.NONE) {
      sink.release(tail);
      tail = PagePool.NONE;
    }
    for (int i = 0; i < heldCount; i++) {
      sink.release(held[i]);
    }
    heldCount = 0;
    sink.abort();
  }

  /** Checks the order, counts, and gives the bytes that the key has in common with the last. */
  private int next(byte[] key, int keyLength, long lsn) {
    if (keyLength > lastKey.length || (lsn & 7) != 0 || lsn < 0 || lsn == Lsn.MAX) {
      throw new IllegalArgumentException(
          "a key of " + keyLength + " bytes (at most " + lastKey.length + "), LSN " + lsn);
    }
    int common = 0;
    if (lastLength >= 0) {
      common = Arrays.mismatch(lastKey, 0, lastLength, key, 0, keyLength);
      boolean same = common < 0;
      if (same) {
        common = keyLength;
      }
      if (same ? lsn >= lastLsn : !ascends(common, key, keyLength)) {
        throw new IllegalArgumentException("entries out of order");
      }
      sameKey = same;
      if (!same) {
        remember(key, keyLength, common);
      }
    } else {
      firstKey = Arrays.copyOf(key, keyLength);
      System.arraycopy(key, 0, separator, 0, keyLength);
      separatorLength = keyLength;
      separatorLsn = Lsn.MAX;
      remember(key, keyLength, 0);
    }
    entries++;
    minLsn = Math.min(minLsn, lsn);
    maxLsn = Math.max(maxLsn, lsn);
    return common;
  }

  private boolean ascends(int common, byte[] key, int keyLength) {
    if (!order.isBytes()) {
      return order.compare(lastKey, 0, lastLength, key, 0, keyLength) < 0;
    }
    return common == lastLength
        || (common < keyLength && (lastKey[common] & 0xFF) < (key[common] & 0xFF));
  }

  private void remember(byte[] key, int keyLength, int common) {
    System.arraycopy(key, common, lastKey, common, keyLength - common);
    lastLength = keyLength;
    if (bitsPerKey != 0) {
      filter.add(KeyHash.hash(key, 0, keyLength));
    }
  }

  private void put(
      byte[] key,
      int keyLength,
      int common,
      long lsn,
      int kind,
      Memory value,
      int valueOffset,
      int valueLength)
      throws IOException {
    if (!data.add(key, keyLength, common, lsn, kind, value, valueOffset, valueLength)) {
      flushData();
      separate(key, keyLength, common);
      if (!data.add(key, keyLength, common, lsn, kind, value, valueOffset, valueLength)) {
        throw new IllegalStateException("an entry does not fit into an empty page");
      }
    }
    pageHeat += sourceHot ? 1 : -1;
    lastLsn = lsn;
  }

  /** Chooses the separator before a page that begins with this key. */
  private void separate(byte[] key, int keyLength, int common) {
    boolean shorten = order.isBytes() && !sameKey;
    separatorLength = shorten ? common + 1 : keyLength;
    separatorLsn = sameKey ? lastLsn - Lsn.ALIGNMENT : Lsn.MAX;
    System.arraycopy(key, 0, separator, 0, separatorLength);
  }

  private void flushData() throws IOException {
    endTail();
    int page = data.finish();
    int pageNo = nextPage;
    emit(page, pageHeat > 0);
    pageHeat = 0;
    child.putInt(0, pageNo);
    addSeparator(leaf);
  }

  /** Adds the separator with the page number in {@code child} to the index's lowest level. */
  private void addSeparator(PageBuilder index) {
    int common = commonLength(lastSeparator, lastSeparatorLength, separator, separatorLength);
    if (!index.add(
        separator, separatorLength, common, separatorLsn, Kind.CHILD, child, 0, Integer.BYTES)) {
      hold(index.finish());
      index.add(
          separator, separatorLength, common, separatorLsn, Kind.CHILD, child, 0, Integer.BYTES);
    }
    System.arraycopy(separator, 0, lastSeparator, 0, separatorLength);
    lastSeparatorLength = separatorLength;
  }

  /** Emits the index pages held, and holds those of the level above them instead. */
  private void raiseIndex() throws IOException {
    int[] level = held;
    int count = heldCount;
    PageBuilder upper = new PageBuilder(sink, PageLayout.INDEX, order.isBytes());
    held = new int[16];
    heldCount = 0;
    lastSeparatorLength = 0;
    int done = 0;
    try {
      for (; done < count; ) {
        int page = level[done];
        Memory memory = sink.memory(page);
        int base = sink.base(page);
        separatorLength = PageReader.copyKey(memory, base, 0, separator);
        separatorLsn = PageReader.lsn(memory, base, PageReader.entry(memory, base, 0));
        child.putInt(0, nextPage);
        addSeparator(upper);
        done++;
        emit(page, true);
      }
      hold(upper.finish());
    } finally {
      for (; done < count; done++) {
        sink.release(level[done]);
      }
      upper.close();
    }
  }

  private void hold(int page) {
    if (heldCount == held.length) {
      held = Arrays.copyOf(held, heldCount * 2);
    }
    held[heldCount++] = page;
  }

  private void emitFilter(int blocks) throws IOException {
    if (blocks == 0) {
      return;
    }
    int perPage = Filter.blocksPerPage(pageSize);
    int[] pages = new int[(blocks + perPage - 1) / perPage];
    int allocated = 0;
    int emitted = 0;
    try {
      for (; allocated < pages.length; allocated++) {
        pages[allocated] = sink.allocate();
      }
      filter.fill(sink, pages, blocks);
      while (emitted < pages.length) {
        emit(pages[emitted++], true);
      }
    } finally {
      for (; emitted < allocated; emitted++) {
        sink.release(pages[emitted]);
      }
    }
  }

  private void emit(int page, boolean hot) throws IOException {
    sink.emit(nextPage, page, hot);
    nextPage++;
  }

  private static int commonLength(byte[] a, int aLength, byte[] b, int bLength) {
    int common = Arrays.mismatch(a, 0, aLength, b, 0, bLength);
    return common < 0 ? bLength : common;
  }
}
