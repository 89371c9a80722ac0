package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over one SSTable. It holds the data page it stands on: pinned in the cache, or, for a
 * merge that finds the page absent, in a piece of the file read past the cache.
 *
 * <p>Needs no epoch; its owner holds a reference to the SSTable. Thread rule: one thread at a time.
 */
public final class SSTableCursor extends LeafCursor {
  private static final int NOT_PINNED = -1;
  private static final int CACHE_LINE = 64;

  /** How many entries are fetched at once, at first and at most, and how many bytes for each. */
  private static final int AHEAD_ENTRIES = 8;

  private static final int MOST_AHEAD_ENTRIES = 64;
  private static final int AHEAD_BYTES = 128;

  /** Header, heads and offsets of some 80 entries. */
  private static final int SEARCHED_BYTES = 512;

  /** Of an entry's first bytes: its kind, and what says that a length takes more than a byte. */
  private static final int SHORT_PUT_BITS = 0x8080FF;

  /** Data pages that are found in one visit to their index page: enough for a short scan. */
  private static final int FOLLOWING = 4;

  private final SSTable table;
  private final Access mode;
  private final PagePool pool;
  private final KeyOrder order;
  private final int height;

  /** The index pages from the root down to the current data page, and the slots taken there. */
  private final int[] pathPages;

  private final int[] pathSlots;

  /** The data pages that come next below the last index page. */
  private final int[] following = new int[FOLLOWING];

  private int followingAt;
  private int followingEnd;

  /** For a client's reads. */
  private final @Nullable PageSequence sequence;

  /** Entries from here on are not wanted; null for no end. */
  private byte @Nullable [] to;

  /** For values in overflow pages; made when the first is read. */
  private @Nullable PageSequence values;

  private @Nullable ReadAhead dataAhead;
  private @Nullable ReadAhead overflowAhead;

  private boolean hot;

  private @Nullable Memory memory;
  private int base;
  private int dataPage = -1;
  private int pinned = NOT_PINNED;
  private int count;
  private int prefixLength;
  private int slot;

  /** The head of that slot. */
  private int slotHead;

  private boolean valid;

  private int storedLength;
  private int valueAt;

  /** How many entries are fetched next time: more, the longer it goes on. */
  private int ahead = AHEAD_ENTRIES;

  /** How many entries are going to be read, likely, of those that were not fetched yet. */
  private int expected;

  /** The slot at which the next entries are to be fetched. */
  private int aheadTo;

  /** The page of which the first entries were fetched before it is come to; -1 if none was. */
  private int fetchedPage = -1;

  /** How many they are. */
  private int fetchedEntries;

  /** What the prefix contributes to the heads of keys. */
  private long prefixHead;

  private int lsnWidth;
  private long baseLsn;

  /** Stands for {@code Lsn.MAX}. */
  private long lsnOnes;

  /** The slot at which a stretch ends in the current page. */
  private int endSlot;

  /** The number of that stretch: another page has another stretch. */
  private int endOf;

  /** Keeps the compiler from leaving the fetches out. */
  private int fetched;

  SSTableCursor(SSTable table, Access mode) {
    this.table = table;
    this.mode = mode;
    this.pool = table.space().pool();
    this.order = table.order();
    this.height = table.meta().indexHeight();
    this.pathPages = new int[height];
    this.pathSlots = new int[height];
    this.sequence = mode == Access.QUERY ? PageSequence.ofScan(table) : null;
  }

  /**
   * Says what else is known of a client's reading.
   *
   * @param end where it ends: no pages beyond are read ahead; null for no end
   * @param onMiss told its SSTable before it waits for a single page
   */
  public void read(byte @Nullable [] end, Consumer<SSTable> onMiss) {
    if (sequence != null && !table.isInMemory()) {
      to = end;
      sequence.listen(this::endPage, onMiss);
    }
  }

  @Override
  public boolean valid() {
    return valid;
  }

  /** Tells the SSTable of it, if it is a reader's. */
  private void onPlaced() {
    if (sequence != null && !table.isInMemory()) {
      table.reads().onPlaced();
    }
  }

  @Override
  public boolean first() {
    onPlaced();
    valid = false;
    pathPages[0] = table.meta().rootPage();
    pathSlots[0] = 0;
    descendEdge(0, false);
    return stand(0);
  }

  @Override
  public boolean last() {
    onPlaced();
    valid = false;
    pathPages[0] = table.meta().rootPage();
    pathSlots[0] = lastSlot(pathPages[0]);
    descendEdge(0, true);
    return stand(count - 1);
  }

  @Override
  public boolean seek(byte[] sought, int offset, int length, long atLsn) {
    int to = lowerBound(sought, offset, length, atLsn);
    if (to < count) {
      return !isPastEnd(to) && stand(to);
    }
    return advance(1) && stand(0);
  }

  /** Whether the head of a slot tells that its entry is not wanted. */
  private boolean isPastEnd(int to) {
    int head = base + PageLayout.HEADER_BYTES + (to << 2);
    return end != null && isPastEnd(memory().getInt(head), prefixLength, key, 0);
  }

  @Override
  public boolean seekBefore(byte[] sought, int offset, int length) {
    int to = lowerBound(sought, offset, length, Lsn.MAX);
    if (to > 0) {
      return stand(to - 1);
    }
    return advance(-1) && stand(count - 1);
  }

  @Override
  public boolean next() {
    checkValid();
    if (slot + 1 < count) {
      return stand(slot + 1);
    }
    return advance(1) && stand(0);
  }

  @Override
  public boolean previous() {
    checkValid();
    if (slot > 0) {
      return stand(slot - 1);
    }
    return advance(-1) && stand(count - 1);
  }

  /** Goes to the data page for the place and gives the slot there, which may be past the end. */
  private int lowerBound(byte[] sought, int offset, int length, long atLsn) {
    onPlaced();
    if (sequence != null) {
      sequence.endRow();
    }
    valid = false;
    ahead = AHEAD_ENTRIES;
    expected = 0;
    fetchedPage = -1;
    long at = atLsn & -8L;
    int pageNo = table.meta().rootPage();
    for (int level = 0; level < height; level++) {
      pathPages[level] = pageNo;
      int page = sequence == null ? table.loadPage(pageNo, mode) : sequence.loadSingle(pageNo);
      int childNo;
      try {
        Memory index = pool.memory(page);
        int indexBase = pool.base(page);
        int child = PageReader.childSlot(index, indexBase, sought, offset, length, at, order);
        pathSlots[level] = child;
        childNo = PageReader.child(index, indexBase, child);
        if (level == height - 1) {
          noteFollowing(index, indexBase, child);
        }
      } finally {
        table.unpin(pageNo);
      }
      pageNo = childNo;
    }
    hold(pageNo);
    return PageReader.lowerBound(memory(), base, sought, offset, length, at, order);
  }

  private void noteFollowing(Memory index, int indexBase, int child) {
    int end = Math.min(PageReader.count(index, indexBase) - child - 1, FOLLOWING);
    for (int i = 0; i < end; i++) {
      following[i] = PageReader.child(index, indexBase, child + 1 + i);
    }
    followingAt = 0;
    followingEnd = end;
  }

  /** Goes to the next data page (1) or the one before (-1). */
  private boolean advance(int step) {
    valid = false;
    if (step > 0 && followingAt < followingEnd) {
      pathSlots[height - 1]++;
      hold(following[followingAt++]);
      return true;
    }
    for (int level = height - 1; level >= 0; level--) {
      int to = pathSlots[level] + step;
      if (to >= 0 && (step < 0 || to <= lastSlot(pathPages[level]))) {
        pathSlots[level] = to;
        descendEdge(level, step < 0);
        return true;
      }
    }
    return false;
  }

  /** Goes from a slot of an index page down to the first or last data page below it. */
  private void descendEdge(int from, boolean last) {
    for (int level = from; level < height; level++) {
      int pageNo = pathPages[level];
      int page = table.loadPage(pageNo, mode);
      int child;
      try {
        Memory index = pool.memory(page);
        int indexBase = pool.base(page);
        child = PageReader.child(index, indexBase, pathSlots[level]);
        if (level == height - 1) {
          noteFollowing(index, indexBase, pathSlots[level]);
        }
      } finally {
        table.unpin(pageNo);
      }
      if (level + 1 < height) {
        pathPages[level + 1] = child;
        pathSlots[level + 1] = last ? lastSlot(child) : 0;
      } else {
        hold(child);
      }
    }
  }

  /** Behind the last page that has entries before the end, as far as the index page tells. */
  private int endPage() {
    byte[] end = to;
    int none = table.meta().rootPage();
    if (end == null || height == 0) {
      return none;
    }
    int pageNo = pathPages[height - 1];
    int page = table.loadPage(pageNo, mode);
    try {
      Memory index = pool.memory(page);
      int indexBase = pool.base(page);
      int child = PageReader.childSlot(index, indexBase, end, 0, end.length, Lsn.MAX & -8L, order);
      return child + 1 < PageReader.count(index, indexBase)
          ? PageReader.child(index, indexBase, child) + 1
          : none;
    } finally {
      table.unpin(pageNo);
    }
  }

  private int lastSlot(int pageNo) {
    int page = table.loadPage(pageNo, mode);
    try {
      return PageReader.count(pool.memory(page), pool.base(page)) - 1;
    } finally {
      table.unpin(pageNo);
    }
  }

  /** Makes a data page the current one. */
  private void hold(int pageNo) {
    if (pageNo == dataPage) {
      return;
    }
    int lastCount = count;
    letGo();
    if (!readPastCache(pageNo)) {
      int page = sequence == null ? table.loadPage(pageNo, mode) : sequence.load(pageNo);
      pinned = pageNo;
      memory = pool.memory(page);
      base = pool.base(page);
    }
    dataPage = pageNo;
    aheadTo = 0;
    if (pageNo == fetchedPage) {
      aheadTo = fetchedEntries;
    } else if (lastCount != 0) {
      fetchStart(memory(), base, lastCount, ahead);
    } else {
      fetchSearched(memory());
    }
    count = PageReader.count(memory(), base);
    prefixLength = memory().getUnsignedShort(base + PageLayout.PREFIX_LENGTH);
    ensureKey(prefixLength);
    memory()
        .get(
            base + memory().getUnsignedShort(base + PageLayout.PREFIX_OFFSET),
            key,
            0,
            prefixLength);
    prefixHead = Words.head(key, 0, prefixLength);
    lsnWidth = memory().getByte(base + PageLayout.LSN_WIDTH);
    lsnOnes = lsnWidth == 0 ? 0 : -1L >>> (64 - 8 * lsnWidth);
    baseLsn = memory().getLong(base + PageLayout.BASE_LSN);
  }

  private boolean readPastCache(int pageNo) {
    if (mode == Access.QUERY || table.isInMemory()) {
      return false;
    }
    long cacheKey = table.file().cacheKey(pageNo);
    BufferCache cache = table.space().cache();
    int page = cache.pin(cacheKey);
    hot = false;
    if (page != BufferCache.ABSENT) {
      int epoch = pool.epochs().enter();
      hot = cache.isHot(cacheKey);
      pool.epochs().exit(epoch);
      pinned = pageNo;
      memory = pool.memory(page);
      base = pool.base(page);
      return true;
    }
    if (dataAhead == null) {
      // Where values are long, data pages stand apart.
      boolean apart = table.meta().sizeBytes() / table.meta().entries() > pool.pageSize() / 2;
      dataAhead = ReadAhead.open(table, apart ? pool.pageSize() : ReadAhead.LARGEST_BYTES);
    }
    if (dataAhead == null) {
      return false;
    }
    base = read(dataAhead, pageNo);
    memory = dataAhead.memory();
    return true;
  }

  /** Reads a page past the cache. */
  private int read(ReadAhead ahead, int pageNo) {
    table.space().cache().countPast(table.file().cacheKey(pageNo), mode);
    try {
      return ahead.read(pageNo, mode);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "reading " + table.meta().fileName() + ": " + e.getMessage(), e);
    }
  }

  private void letGo() {
    if (pinned != NOT_PINNED) {
      table.unpin(pinned);
      pinned = NOT_PINNED;
    }
    memory = null;
    dataPage = -1;
    count = 0;
  }

  private Memory memory() {
    if (memory == null) {
      throw new IllegalStateException("the cursor stands nowhere");
    }
    return memory;
  }

  private void checkValid() {
    if (!valid) {
      throw new IllegalStateException("the cursor stands on no entry");
    }
  }

  private void ensureKey(int length) {
    if (key.length < length) {
      key = Arrays.copyOf(key, Math.max(length, key.length * 2));
    }
  }

  /** Has the processor fetch all at once what a search in the current page reads first. */
  private void fetchSearched(Memory in) {
    int sum = in.getByte(base + pool.pageSize() - 1);
    for (int at = base; at < base + SEARCHED_BYTES; at += CACHE_LINE) {
      sum += in.getByte(at);
    }
    fetched = sum;
  }

  @Override
  public void expect(int entries) {
    expected = Math.max(0, slot + 1 + entries - Math.max(aheadTo, slot + 1));
  }

  /**
   * Has the processor fetch the next entries, all at once: each would else be waited for by itself
   * when its turn comes.
   */
  private void fetchAhead(Memory in, int from) {
    int wanted = Math.max(ahead, Math.min(expected, MOST_AHEAD_ENTRIES));
    int last = Math.min(from + wanted, count) - 1;
    // Entries grow down from the page's end.
    int low = base + PageReader.entry(in, base, last);
    int high = base + PageReader.entry(in, base, from);
    int end = Math.min(high + AHEAD_BYTES, base + pool.pageSize());
    int sum = 0;
    for (int at = Math.max(low, high - wanted * AHEAD_BYTES); at < end; at += CACHE_LINE) {
      sum += in.getByte(at);
    }
    fetched = sum;
    aheadTo = last + 1;
    int more = from + wanted - aheadTo;
    if (more > 0) {
      fetchFollowing(more);
    }
    expected = Math.max(0, expected - wanted);
    ahead = Math.min(2 * ahead, MOST_AHEAD_ENTRIES);
  }

  /** The same for the first entries of the next page, which is going to be come to, likely. */
  private void fetchFollowing(int entries) {
    if (followingAt < followingEnd && table.isInMemory()) {
      fetchedPage = following[followingAt];
      fetchedEntries = Math.min(entries, count);
      int page = table.page(fetchedPage);
      fetchStart(pool.memory(page), pool.base(page), count, entries);
    }
  }

  /**
   * The same for the parts of a page that are read first when it is come to from the one before:
   * header, offsets (as many as there were there, likely), and the first entries. Steps back and
   * seeks from an entry do it, too, and fetch the first entries in vain.
   */
  private void fetchStart(Memory in, int start, int slots, int entries) {
    int sum = in.getByte(start);
    int offsets = start + PageLayout.HEADER_BYTES + (slots << 2);
    for (int at = offsets; at < offsets + (slots << 1); at += CACHE_LINE) {
      sum += in.getByte(at);
    }
    int end = start + pool.pageSize();
    int low = Math.max(offsets + (slots << 1), end - entries * AHEAD_BYTES);
    for (int at = low; at < end; at += CACHE_LINE) {
      sum += in.getByte(at);
    }
    fetched += sum;
  }

  /** Takes the entry of a slot of the current page apart. */
  private boolean stand(int to) {
    Memory in = memory();
    if (to >= aheadTo) {
      fetchAhead(in, to);
    }
    slot = to;
    slotHead = in.getInt(base + PageLayout.HEADER_BYTES + (to << 2));
    int entry = base + PageReader.entry(in, base, to);
    int kind = in.getByte(entry);
    if (!Kind.isData(kind)) {
      table.checkKind(dataPage, kind);
    }
    int at = entry + 1;
    int suffix = in.getByte(at++);
    if (suffix < 0) {
      suffix = PageReader.varint(in, entry + 1);
      at = PageReader.skipVarint(in, entry + 1);
    }
    int stored = in.getByte(at++);
    if (stored < 0) {
      stored = PageReader.varint(in, at - 1);
      at = PageReader.skipVarint(in, at - 1);
    }
    storedLength = stored;
    long lsn = PageReader.lsnAt(in, base, at);
    at += in.getByte(base + PageLayout.LSN_WIDTH);
    int keyLength = prefixLength + suffix;
    ensureKey(keyLength);
    in.getWords(at, key, prefixLength, suffix);
    entry(keyLength, lsn, kind);
    valueAt = at + suffix;
    valid = true;
    return true;
  }

  @Override
  public boolean nextKey() {
    checkValid();
    int to = slot + 1;
    while (to < count && isVersion(memory(), to)) {
      to++;
    }
    return to < count ? stand(to) : advance(1) && stand(0);
  }

  /** Whether the entry of a slot, one of those that follow, is a version of the current key. */
  private boolean isVersion(Memory in, int to) {
    int heads = base + PageLayout.HEADER_BYTES;
    if (in.getInt(heads + (to << 2)) != slotHead) {
      return false;
    }
    int suffixAt = base + PageReader.entry(in, base, to) + 1;
    int storedAt = PageReader.skipVarint(in, suffixAt);
    int at = PageReader.skipVarint(in, storedAt) + lsnWidth;
    int suffix = PageReader.varint(in, suffixAt);
    return suffix == keyLength() - prefixLength
        && in.compare(at, suffix, key, prefixLength, suffix) == 0;
  }

  @Override
  public boolean nextWithin(Stretch stretch) {
    return standOnPlain(stretch) || nextOfAnyWithin(stretch);
  }

  /** As {@link #nextWithin}, if the next entry is what most are; else it stays where it is. */
  private boolean standOnPlain(Stretch stretch) {
    Memory in = memory;
    int to = slot + 1;
    if (in == null || to >= count) {
      return false;
    }
    if (to >= aheadTo) {
      fetchAhead(in, to);
    }
    int heads = base + PageLayout.HEADER_BYTES;
    int entry = base + in.getUnsignedShort(heads + (count << 2) + (to << 1));
    int first = in.getInt(entry);
    int keyHead = in.getInt(heads + (to << 2));
    if ((first & SHORT_PUT_BITS) != Kind.PUT || keyHead == slotHead) {
      return false;
    }
    long lsn = baseLsn;
    if (lsnWidth != 0) {
      long delta = in.getLong(entry + 3) & lsnOnes;
      lsn = delta == lsnOnes ? Lsn.MAX : lsn + (delta << 3);
    }
    int at = entry + 3 + lsnWidth;
    int suffix = first >>> 8 & 0x7F;
    long head = head(in, at, suffix);
    if (!stretch.has(head, lsn)) {
      return false;
    }
    int keyLength = prefixLength + suffix;
    ensureKey(keyLength);
    in.getWords(at, key, prefixLength, suffix);
    slot = to;
    slotHead = keyHead;
    storedLength = first >>> 16 & 0x7F;
    valueAt = at + suffix;
    entry(keyLength, head, lsn, Kind.PUT);
    return true;
  }

  private boolean nextOfAnyWithin(Stretch stretch) {
    Memory in = memory;
    if (in == null) {
      return false;
    }
    int heads = base + PageLayout.HEADER_BYTES;
    int offsets = heads + (count << 2);
    for (int to = slot + 1; to < count; to++) {
      if (to >= aheadTo) {
        fetchAhead(in, to);
      }
      int entry = base + in.getUnsignedShort(offsets + (to << 1));
      int first = in.getInt(entry);
      int kind = (byte) first;
      int suffix = (byte) (first >> 8);
      int stored = (byte) (first >> 16);
      int at = entry + 3;
      if ((suffix | stored) < 0) {
        suffix = PageReader.varint(in, entry + 1);
        at = PageReader.skipVarint(in, entry + 1);
        stored = PageReader.varint(in, at);
        at = PageReader.skipVarint(in, at);
      }
      long lsn = lsnWidth == 0 ? baseLsn : PageReader.lsnAt(in, base, at);
      at += lsnWidth;
      if (!stretch.sees(lsn)
          || in.getInt(heads + (to << 2)) == slotHead
              && suffix == keyLength() - prefixLength
              && in.compare(at, suffix, key, prefixLength, suffix) == 0) {
        continue;
      }
      if (!stretch.isPlain(kind, lsn, Kind.expiry(kind, in, at + suffix + stored))) {
        return false;
      }
      long head = head(in, at, suffix);
      if (Long.compareUnsigned(head, stretch.endHead()) >= 0 && !isBeforeEnd(to, head, stretch)) {
        return false;
      }
      int keyLength = prefixLength + suffix;
      ensureKey(keyLength);
      in.getWords(at, key, prefixLength, suffix);
      slot = to;
      slotHead = in.getInt(heads + (to << 2));
      storedLength = stored;
      valueAt = at + suffix;
      entry(keyLength, head, lsn, kind);
      return true;
    }
    return false;
  }

  /** The head of a key of the page, whose suffix lies at {@code at}. */
  private long head(Memory in, int at, int suffix) {
    if (prefixLength >= 8) {
      return prefixHead;
    }
    // Eight bytes can be read anywhere in the heap.
    long word = suffix >= 8 ? in.getWord(at) : in.getWord(at) & ~(-1L >>> (8 * suffix));
    return prefixHead | word >>> (8 * prefixLength);
  }

  /** Whether the key of a slot lies before the end of a stretch, whose head is not greater. */
  private boolean isBeforeEnd(int to, long head, Stretch stretch) {
    byte[] end = stretch.end();
    if (end == null) {
      return true;
    }
    if (head != stretch.endHead()) {
      return false;
    }
    if (endOf != stretch.number()) {
      endOf = stretch.number();
      endSlot = PageReader.lowerBound(memory(), base, end, 0, stretch.endLength(), Lsn.MAX, order);
    }
    return to < endSlot;
  }

  @Override
  public int valueLength() {
    if (Kind.isOverflow(kind())) {
      return (int) memory().getLong(valueAt + 8);
    }
    return valueLength(storedLength);
  }

  @Override
  protected long storedExpiry() {
    return expiryBefore(memory(), valueAt + storedLength);
  }

  @Override
  public Memory valueMemory() {
    return memory();
  }

  @Override
  public int valueOffset() {
    return valueAt;
  }

  @Override
  public boolean isHot() {
    return hot;
  }

  @Override
  public void copyValue(int from, Memory target, int targetOffset, int length) {
    if (!Kind.isOverflow(kind())) {
      target.copyFrom(targetOffset, memory(), valueAt + from, length);
      return;
    }
    int perPage = PageLayout.overflowBytes(pool.pageSize());
    long first = overflowFrom(from);
    int pageNo = memory().getInt(valueAt) + (int) (first / perPage);
    int at = (int) (first % perPage);
    for (int done = 0; done < length; pageNo++) {
      int piece = Math.min(length - done, perPage - at);
      ReadAhead ahead = overflowAhead();
      if (ahead != null) {
        int start = read(ahead, pageNo) + PageLayout.HEADER_BYTES + at;
        target.copyFrom(targetOffset + done, ahead.memory(), start, piece);
      } else {
        int page = table.loadPage(pageNo, mode);
        try {
          int start = pool.base(page) + PageLayout.HEADER_BYTES + at;
          target.copyFrom(targetOffset + done, pool.memory(page), start, piece);
        } finally {
          table.unpin(pageNo);
        }
      }
      done += piece;
      at = 0;
    }
  }

  /** Where a byte of an overflow value stands, counted from its first overflow page on. */
  private long overflowFrom(int from) {
    return (long) memory().getInt(valueAt + 4) + from;
  }

  @Override
  public void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    if (!Kind.isOverflow(kind())) {
      memory().get(valueAt + from, target, targetOffset, length);
      return;
    }
    PageSequence source = values;
    if (source == null) {
      source = PageSequence.ofValues(table, mode);
      source.listen(this::endPage, null);
      values = source;
    }
    int first = memory().getInt(valueAt);
    table.copyOverflow(source, first, overflowFrom(from), target, targetOffset, length);
  }

  @Override
  public void copyValue(int from, byte[] target, int targetOffset, int length) {
    if (Kind.isOverflow(kind())) {
      copyValue(from, ByteBuffer.wrap(target), targetOffset, length);
    } else {
      memory().get(valueAt + from, target, targetOffset, length);
    }
  }

  private @Nullable ReadAhead overflowAhead() {
    if (mode == Access.QUERY || table.isInMemory()) {
      return null;
    }
    if (overflowAhead == null) {
      overflowAhead = ReadAhead.open(table, ReadAhead.LARGEST_BYTES);
    }
    return overflowAhead;
  }

  @Override
  public void close() {
    valid = false;
    letGo();
    if (sequence != null) {
      sequence.close();
    }
    if (values != null) {
      values.close();
      values = null;
    }
    if (dataAhead != null) {
      dataAhead.close();
      dataAhead = null;
    }
    if (overflowAhead != null) {
      overflowAhead.close();
      overflowAhead = null;
    }
  }
}
