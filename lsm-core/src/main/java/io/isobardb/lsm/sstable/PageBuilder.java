package io.isobardb.lsm.sstable;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.Words;
import io.isobardb.memory.pool.PagePool;

/**
 * Fills data or index pages, one after another, with entries in order; see {@link PageLayout}.
 *
 * <p>The common prefix of a page's keys and the range of its LSNs are known only when it is full.
 * They are guessed from the page before; an entry that breaks a guess makes the page be packed anew
 * with what holds for all its entries. So each entry is copied once, as a rule.
 *
 * <p>Thread rule: one thread at a time.
 */
final class PageBuilder {
  private final PageSink sink;
  private final int pageSize;
  private final int type;
  private final boolean bytesOrder;
  private final int[] heads;
  private final char[] offsets;
  private final byte[] prefix;

  private int page = PagePool.NONE;
  private int spare = PagePool.NONE;
  private Memory memory;
  private int base;
  private int count;
  private int heap;
  private int prefixLength;
  private int commonLength;
  private int guessedPrefix;

  private long baseLsn;
  private int lsnWidth;
  private boolean lsnGuessed;
  private long minLsn;
  private long maxLsn;
  private boolean hasMaxLsn;

  PageBuilder(PageSink sink, int type, boolean bytesOrder) {
    this.sink = sink;
    this.pageSize = sink.pageSize();
    this.type = type;
    this.bytesOrder = bytesOrder;
    this.memory = new Memory(java.nio.ByteBuffer.allocateDirect(0));
    int most = (pageSize - PageLayout.HEADER_BYTES) / (PageLayout.SLOT_BYTES + 3);
    this.heads = new int[most];
    this.offsets = new char[most];
    this.prefix = new byte[PageLayout.maxKeyBytes(pageSize)];
  }

  /**
   * Adds an entry, which comes after all entries of the page.
   *
   * @param common bytes the key has in common with the one added before it, to this page or the one
   *     before
   * @param value the region the value lies in
   * @return false, and nothing happened, if it does not fit: {@link #finish} the page, then add it
   *     again
   */
  boolean add(
      byte[] key,
      int keyLength,
      int common,
      long lsn,
      int kind,
      Memory value,
      int valueOffset,
      int valueLength) {
    if (count == 0) {
      start(key, keyLength, common, lsn);
    } else if (!admits(common, lsn)) {
      return false;
    }
    int suffix = keyLength - prefixLength;
    int size =
        1
            + PageReader.varintLength(suffix)
            + PageReader.varintLength(valueLength)
            + lsnWidth
            + suffix
            + valueLength;
    int at = heap - size;
    if (at < PageLayout.HEADER_BYTES + (count + 1) * PageLayout.SLOT_BYTES) {
      return false;
    }
    heads[count] = bytesOrder ? Words.head4(key, prefixLength, suffix) ^ Integer.MIN_VALUE : 0;
    offsets[count] = (char) at;
    heap = at;
    count++;
    commonLength = count == 1 ? keyLength : Math.min(commonLength, common);
    note(lsn);
    int to = putHeader(memory, base + at, kind, suffix, valueLength);
    to = putLsn(memory, to, lsn);
    memory.put(to, key, prefixLength, suffix);
    if (valueLength != 0) {
      memory.copyFrom(to + suffix, value, valueOffset, valueLength);
    }
    return true;
  }

  /**
   * Ends the page, and gives it to the caller.
   *
   * @return the pool page, or NONE if nothing was added to it
   */
  int finish() {
    if (count == 0) {
      return PagePool.NONE;
    }
    if (bytesOrder && count > 1 && commonLength > prefixLength + 1) {
      // The heads would tell less than they could.
      repack(commonLength, baseLsn, lsnWidth);
    }
    PageLayout.initialize(memory, base, type);
    memory.putByte(base + PageLayout.LSN_WIDTH, (byte) lsnWidth);
    memory.putShort(base + PageLayout.COUNT, count);
    memory.putShort(base + PageLayout.PREFIX_LENGTH, prefixLength);
    memory.putShort(base + PageLayout.PREFIX_OFFSET, pageSize - PageLayout.TAIL - prefixLength);
    memory.putShort(base + PageLayout.HEAP_USED, pageSize - PageLayout.TAIL - heap);
    memory.putShort(base + PageLayout.FLAGS, bytesOrder ? 0 : PageLayout.FLAG_CUSTOM_ORDER);
    memory.putLong(base + PageLayout.BASE_LSN, baseLsn);
    int at = base + PageLayout.HEADER_BYTES;
    for (int i = 0; i < count; i++) {
      memory.putInt(at + (i << 2), heads[i]);
    }
    at += count << 2;
    for (int i = 0; i < count; i++) {
      memory.putShort(at + (i << 1), offsets[i]);
    }
    at += count << 1;
    memory.zero(at, base + heap - at);
    memory.zero(base + pageSize - PageLayout.TAIL, PageLayout.TAIL);
    guessedPrefix = commonLength;
    fitLsn();
    lsnGuessed = true;
    int finished = page;
    page = PagePool.NONE;
    count = 0;
    return finished;
  }

  /** Gives the pages back that the builder holds. */
  void close() {
    if (page != PagePool.NONE) {
      sink.release(page);
      page = PagePool.NONE;
    }
    if (spare != PagePool.NONE) {
      sink.release(spare);
      spare = PagePool.NONE;
    }
    count = 0;
  }

  private void start(byte[] key, int keyLength, int common, long lsn) {
    if (page == PagePool.NONE) {
      page = sink.allocate();
      memory = sink.memory(page);
      base = sink.base(page);
    }
    prefixLength = bytesOrder ? Math.min(guessedPrefix, Math.min(common, keyLength)) : 0;
    System.arraycopy(key, 0, prefix, 0, keyLength);
    heap = pageSize - PageLayout.TAIL - prefixLength;
    memory.put(base + heap, prefix, 0, prefixLength);
    minLsn = Long.MAX_VALUE;
    maxLsn = Long.MIN_VALUE;
    hasMaxLsn = false;
    if (!lsnGuessed || !encodable(lsn)) {
      baseLsn = lsn;
      lsnWidth = 0;
    }
  }

  /** Makes the page able to hold such an entry; false if it can't and stays as it was. */
  private boolean admits(int common, long lsn) {
    boolean prefixHolds = common >= prefixLength || !bytesOrder;
    if (prefixHolds && encodable(lsn)) {
      return true;
    }
    long oldBase = baseLsn;
    int oldWidth = lsnWidth;
    if (!encodable(lsn)) {
      long oldMin = minLsn;
      long oldMax = maxLsn;
      boolean hadMax = hasMaxLsn;
      note(lsn);
      fitLsn();
      minLsn = oldMin;
      maxLsn = oldMax;
      hasMaxLsn = hadMax;
    }
    long newBase = baseLsn;
    int newWidth = lsnWidth;
    baseLsn = oldBase;
    lsnWidth = oldWidth;
    int newPrefix = bytesOrder ? Math.min(commonLength, common) : 0;
    return repack(prefixHolds ? prefixLength : newPrefix, newBase, newWidth);
  }

  private void note(long lsn) {
    if (lsn == Lsn.MAX) {
      hasMaxLsn = true;
    } else {
      minLsn = Math.min(minLsn, lsn);
      maxLsn = Math.max(maxLsn, lsn);
    }
  }

  private static long ones(int width) {
    return width == 0 ? 0 : -1L >>> (64 - 8 * width);
  }

  private boolean encodable(long lsn) {
    if (lsnWidth == 0) {
      return lsn == baseLsn;
    }
    if (lsn == Lsn.MAX) {
      return true;
    }
    return lsn >= baseLsn && ((lsn - baseLsn) >>> 3) < (ones(lsnWidth) & Long.MAX_VALUE);
  }

  /** Chooses base and width for the LSNs noted, with room on both sides. */
  private void fitLsn() {
    if (minLsn > maxLsn) {
      baseLsn = Lsn.MAX;
      lsnWidth = 0;
    } else if (minLsn == maxLsn && !hasMaxLsn) {
      baseLsn = minLsn;
      lsnWidth = 0;
    } else {
      long span = (maxLsn - minLsn) >>> 3;
      int width = 1;
      while (width < 8 && (ones(width) >>> 1) <= span) {
        width++;
      }
      long room = width == 8 ? 0 : (ones(width) - 1 - span) / 2;
      baseLsn = Math.max(0, minLsn - (room << 3)) & -8L;
      lsnWidth = width;
    }
  }

  /**
   * Writes the entries into another page with another prefix length, base LSN and width.
   *
   * @return false, and nothing happened, if they don't fit that way
   */
  private boolean repack(int newPrefix, long newBase, int newWidth) {
    if (spare == PagePool.NONE) {
      spare = sink.allocate();
    }
    Memory to = sink.memory(spare);
    int toBase = sink.base(spare);
    int[] newOffsets = new int[count];
    int newHeap = pageSize - PageLayout.TAIL - newPrefix;
    int oldHeader = PageLayout.HEADER_BYTES + count * PageLayout.SLOT_BYTES;
    to.put(toBase + newHeap, prefix, 0, newPrefix);
    // PageReader takes width and base from the page's header.
    memory.putByte(base + PageLayout.LSN_WIDTH, (byte) lsnWidth);
    memory.putLong(base + PageLayout.BASE_LSN, baseLsn);
    long oldBase = baseLsn;
    int oldWidth = lsnWidth;
    baseLsn = newBase;
    lsnWidth = newWidth;
    for (int i = 0; i < count; i++) {
      int entry = offsets[i];
      int suffix = PageReader.suffixLength(memory, base, entry);
      int suffixAt = base + PageReader.suffixOffset(memory, base, entry);
      int value = PageReader.valueLength(memory, base, entry);
      int newSuffix = suffix + prefixLength - newPrefix;
      int size =
          1
              + PageReader.varintLength(newSuffix)
              + PageReader.varintLength(value)
              + newWidth
              + newSuffix
              + value;
      newHeap -= size;
      if (newHeap < oldHeader) {
        baseLsn = oldBase;
        lsnWidth = oldWidth;
        return false;
      }
      newOffsets[i] = newHeap;
      int kind = PageReader.kind(memory, base, entry);
      int at = putHeader(to, toBase + newHeap, kind, newSuffix, value);
      at = putLsn(to, at, PageReader.lsn(memory, base, entry));
      int grown = Math.max(0, prefixLength - newPrefix);
      to.put(at, prefix, newPrefix, grown);
      int skipped = Math.max(0, newPrefix - prefixLength);
      to.copyFrom(at + grown, memory, suffixAt + skipped, suffix - skipped + value);
    }
    accept(to, toBase, newOffsets, newHeap, newPrefix);
    return true;
  }

  private void accept(Memory to, int toBase, int[] newOffsets, int newHeap, int newPrefix) {
    int emptied = page;
    page = spare;
    spare = emptied;
    memory = to;
    base = toBase;
    heap = newHeap;
    boolean headsChange = newPrefix != prefixLength;
    prefixLength = newPrefix;
    memory.putByte(base + PageLayout.LSN_WIDTH, (byte) lsnWidth);
    byte[] head = new byte[4];
    for (int i = 0; i < count; i++) {
      offsets[i] = (char) newOffsets[i];
      if (headsChange && bytesOrder) {
        int length = Math.min(4, PageReader.suffixLength(memory, base, newOffsets[i]));
        memory.get(base + PageReader.suffixOffset(memory, base, newOffsets[i]), head, 0, length);
        heads[i] = Words.head4(head, 0, length) ^ Integer.MIN_VALUE;
      }
    }
  }

  private int putHeader(Memory to, int at, int kind, int suffix, int valueLength) {
    to.putByte(at++, (byte) kind);
    return putVarint(to, putVarint(to, at, suffix), valueLength);
  }

  private int putLsn(Memory to, int at, long lsn) {
    if (lsnWidth != 0) {
      long delta = lsn == Lsn.MAX ? -1L : (lsn - baseLsn) >>> 3;
      for (int i = 0; i < lsnWidth; i++) {
        to.putByte(at + i, (byte) (delta >>> (8 * i)));
      }
    }
    return at + lsnWidth;
  }

  private static int putVarint(Memory to, int at, int value) {
    while (value >>> 7 != 0) {
      to.putByte(at++, (byte) (value | 0x80));
      value >>>= 7;
    }
    to.putByte(at, (byte) value);
    return at + 1;
  }
}
