package io.isobardb.repair.format;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.sstable.Codecs;
import io.isobardb.lsm.sstable.FileLayout;
import io.isobardb.lsm.sstable.Packing;
import io.isobardb.lsm.sstable.PageCoder;
import io.isobardb.lsm.sstable.PageLayout;
import io.isobardb.lsm.sstable.PageReader;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What can still be read of the file of an SSTable, whatever is wrong with it: all entries of all
 * data pages whose checksums are right, in the order of the pages, which is the order of the keys.
 * Index, filter, page map and footer are not needed.
 *
 * <p>Thread rule: one thread.
 */
public final class TableSalvage implements AutoCloseable {
  /**
   * A part of the file that can't be read.
   *
   * @param after the last key in front of it, or null if there is none
   * @param before the first key behind it, or null if there is none
   */
  public record Gap(long from, long to, byte @Nullable [] after, byte @Nullable [] before) {}

  private final TableSpace space;

  /** As the file's name has it. */
  private final long fileNumber;

  private final String name;
  private final int pageSize;

  /** Where in {@link #block} things are: the data page, an overflow page, bytes as stored. */
  private final int dataAt = 0;

  private final int overflowAt;
  private final int storedAt;

  private @Nullable DataFile file;
  private @Nullable Block block;
  private long size;
  private long seed;
  private FileMeta.@Nullable Header header;
  private @Nullable SSTableMeta meta;

  /** The LSN that the manifest says all entries have; -1 if it says none. */
  private long oneLsn = -1;

  private Packing packing = Packing.NONE;
  private byte @Nullable [] dictionary;

  /** Whether pages need a dictionary that can't be read. */
  private boolean unreadable;

  private @Nullable PageCoder coder;

  /** Where each page was found; 0 if it was not. */
  private long[] offsets = new long[64];

  private int[] leaves = new int[16];
  private int leafCount;
  private long found;
  private final List<Gap> gaps = new ArrayList<>();
  private long gapFrom = -1;
  private byte @Nullable [] gapAfter;
  private boolean gapOpen;

  /** Bytes that the page takes in the file that was found last. */
  private long length;

  private boolean pastData;
  private boolean customOrder;
  private byte @Nullable [] firstKey;
  private byte @Nullable [] lastKey;

  private int nextLeaf;
  private int slot = -1;
  private int count;

  /** Data pages that were found, and could not be read when it was their turn. */
  private final List<Gap> missed = new ArrayList<>();

  private int heldOverflow = -1;

  private TableSalvage(TableSpace space, long fileNumber) {
    this.space = space;
    this.fileNumber = fileNumber;
    this.name = SSTableMeta.fileName(fileNumber);
    this.pageSize = space.pageSize();
    this.overflowAt = pageSize;
    this.storedAt = 2 * pageSize;
  }

  /** Memory that a salvage of a file takes. */
  public static int memoryBytes(int pageSize) {
    return 2 * pageSize + TableSpace.spareBytes(pageSize);
  }

  /**
   * Looks through a file. What comes of it holds neither file nor memory until it is read.
   *
   * @param space of the store that it should belong to
   * @param fileNumber as the file's name has it
   * @param known what a manifest says of the file, or null
   * @throws IOException if there is no such file
   * @throws io.isobardb.lsm.error.FormatException if its codec is missing
   */
  public static TableSalvage scan(TableSpace space, long fileNumber, @Nullable SSTableMeta known)
      throws IOException {
    TableSalvage salvage = new TableSalvage(space, fileNumber);
    try {
      salvage.open();
      salvage.identify(known);
      salvage.scan();
    } finally {
      salvage.close();
    }
    return salvage;
  }

  /** Gets file and memory, until {@link #close}. */
  private void open() throws IOException {
    DataFile opened = space.storage().open(name, IoMode.BUFFERED);
    file = opened;
    size = opened.size();
    block = space.pool().blocks().allocate(memoryBytes(pageSize), Purpose.MERGE);
  }

  private Memory memory() {
    if (block == null) {
      throw new IllegalStateException(name + " is not being read");
    }
    return block.memory();
  }

  /** The file's name. */
  public String fileName() {
    return name;
  }

  /** The number of the SSTable: the header's, or else that in the file's name. */
  public long fileNumber() {
    return header == null ? fileNumber : header.fileNumber();
  }

  /** The tree that the entries are of, or -1 if neither header, footer nor manifest tells. */
  public int treeId() {
    return header != null ? header.treeId() : meta != null ? meta.treeId() : -1;
  }

  /** What the header says of the tree; empty if nothing. */
  public byte[] description() {
    return header == null ? new byte[0] : header.description();
  }

  /** Whether the header is right, but of another store. */
  public boolean isForeign() {
    return header != null
        && (header.storeIdHigh() != space.storeIdHigh()
            || header.storeIdLow() != space.storeIdLow());
  }

  /** Entries in the data pages that can be read. */
  public long entries() {
    return found;
  }

  /** Entries that there should be, or -1 if nothing tells. */
  public long expectedEntries() {
    return meta == null ? -1 : meta.entries();
  }

  /** The first key that can be read; null if there is none. */
  public byte @Nullable [] firstKey() {
    return firstKey;
  }

  /** The last key that can be read; null if there is none. */
  public byte @Nullable [] lastKey() {
    return lastKey;
  }

  /** Whether nothing was found behind the data pages, so that there may have been more of them. */
  public boolean endsEarly() {
    return !pastData;
  }

  /** The size of the file. */
  public long sizeBytes() {
    return size;
  }

  /** What can't be read, and may have held entries. */
  public List<Gap> gaps() {
    return List.copyOf(gaps);
  }

  /** Whether the keys are in an order of their own, not that of bytes. */
  public boolean hasCustomOrder() {
    return customOrder;
  }

  // ---- looking through the file

  private void identify(@Nullable SSTableMeta known) {
    if (read(0, overflowAt, pageSize)) {
      header = FileMeta.Header.read(memory(), overflowAt, pageSize);
    }
    // A file under another's name is what its header says it is.
    seed =
        header == null
            ? space.fileSeed(fileNumber)
            : PageLayout.fileSeed(header.storeIdHigh(), header.storeIdLow(), fileNumber());
    if (known != null && fileNumber() == fileNumber) {
      meta = known;
      oneLsn = known.minLsn() == known.maxLsn() ? known.minLsn() : -1;
    } else {
      meta = footer();
    }
    if (header != null) {
      packing = header.packing();
    } else if (meta != null) {
      packing = meta.packing();
    } else {
      packing = Packing.LZ4;
      packing = looksCompressed() ? Packing.LZ4 : Packing.NONE;
    }
    Codecs.require(packing.codec(), name);
    if (packing.dictionaryBytes() > 0) {
      readDictionary();
    }
  }

  private void readDictionary() {
    int bytes = packing.dictionarySpace();
    boolean there =
        bytes <= TableSpace.spareBytes(pageSize) && readSome(pageSize, storedAt, bytes) == bytes;
    dictionary = there ? PageCoder.readDictionary(packing, memory(), storedAt, seed) : null;
    unreadable = dictionary == null;
  }

  private PageCoder coder() {
    PageCoder made = coder;
    if (made == null) {
      made = new PageCoder(packing.codec(), dictionary, pageSize, seed);
      coder = made;
    }
    return made;
  }

  /**
   * The store that a file says it is of, and the size of its pages.
   *
   * @param pageSize in bytes
   */
  public record Origin(UUID storeId, int pageSize) {}

  /**
   * What the header of a file says; null if it is damaged.
   *
   * @param scratch holds the largest page
   */
  public static @Nullable Origin origin(Storage storage, String file, Memory scratch)
      throws IOException {
    try (DataFile opened = storage.open(file, IoMode.BUFFERED)) {
      int got = opened.read(0, scratch, 0, (int) Math.min(opened.size(), scratch.size()));
      int pageSize = got < DataFile.BLOCK ? 0 : FileMeta.pageSize(scratch, 0);
      if (pageSize < DataFile.BLOCK || pageSize > got || Integer.bitCount(pageSize) != 1) {
        return null;
      }
      FileMeta.Header header = FileMeta.Header.read(scratch, 0, pageSize);
      return header == null
          ? null
          : new Origin(new UUID(header.storeIdHigh(), header.storeIdLow()), pageSize);
    }
  }

  /** What the file says of the SSTable. If it has a header, that is at {@code overflowAt}. */
  private @Nullable SSTableMeta footer() {
    try {
      return header != null && header.hasFooter()
          ? FileMeta.footerInHeader(memory(), overflowAt, pageSize, name)
          : lastPage();
    } catch (RuntimeException e) {
      return null;
    }
  }

  /** What the last page says: a footer, or the root of a small file. */
  private @Nullable SSTableMeta lastPage() {
    long offset = size - pageSize;
    if (offset < pageSize || !read(offset, overflowAt, pageSize)) {
      return null;
    }
    int last = rawPageNo(offset);
    if (last > 0 && memory().getByte(overflowAt + PageLayout.TYPE) == PageLayout.INDEX) {
      SSTableMeta root = FileMeta.root(memory(), overflowAt, fileNumber, last);
      return root.treeId() > 0 ? root : null;
    }
    int pageNo = memory().getInt(overflowAt + FileLayout.PAGE_COUNT) - 1;
    if (memory().getByte(overflowAt + PageLayout.TYPE) != PageLayout.FOOTER
        || !PageLayout.isIntact(memory(), overflowAt, pageSize, seed, pageNo)) {
      return null;
    }
    return FileMeta.footer(memory(), overflowAt, pageSize, name, offset);
  }

  /** Neither header nor footer: do the first pages look like compressed ones? */
  private boolean looksCompressed() {
    for (long at = pageSize; at < Math.min(size, 16L * pageSize); at += FileLayout.STORED_UNIT) {
      if (at % pageSize == 0
          && read(at, overflowAt, pageSize)
          && PageLayout.isIntact(memory(), overflowAt, pageSize, seed, (int) (at / pageSize))) {
        return false;
      }
      if (stored(at, 1, 64, overflowAt) > 0) {
        return true;
      }
    }
    return false;
  }

  private void scan() {
    boolean compressed = !packing.isNone();
    long at = Math.min(size, pageSize + packing.dictionarySpace());
    if (unreadable) {
      // Without it, no page can be read.
      gap(pageSize);
      at = size;
    }
    for (int next = 1; at < size; ) {
      int pageNo = compressed ? storedPageNo(at, next) : rawPageNo(at);
      if (pageNo > 0 && isReadable()) {
        note(pageNo, at);
        at += length;
        next = pageNo + 1;
      } else {
        gap(at);
        at += compressed ? FileLayout.STORED_UNIT : pageSize;
      }
    }
    closeGap(size, null);
    trim();
    if (meta != null && found == meta.entries()) {
      gaps.clear();
    }
  }

  /** What is kept of all files until they are read takes no more heap than it must. */
  private void trim() {
    int pages = offsets.length;
    while (pages > 0 && offsets[pages - 1] == 0) {
      pages--;
    }
    offsets = Arrays.copyOf(offsets, pages);
    leaves = Arrays.copyOf(leaves, leafCount);
  }

  private int rawPageNo(long at) {
    length = pageSize;
    int pageNo = (int) Math.min(at / pageSize, Integer.MAX_VALUE);
    return read(at, overflowAt, pageSize)
            && PageLayout.isIntact(memory(), overflowAt, pageSize, seed, pageNo)
        ? pageNo
        : -1;
  }

  /** The page that is stored here, unpacked to {@code overflowAt}; -1 if there is none. */
  private int storedPageNo(long at, int next) {
    // As many pages may have been passed over as small ones fit into the gap.
    long passed = gapFrom >= 0 && gapOpen ? (at - gapFrom) / (2L * FileLayout.STORED_UNIT) : 0;
    int last = (int) Math.min(next + passed + 1, Integer.MAX_VALUE);
    int pageNo = stored(at, next, last, overflowAt);
    if (pageNo > 0) {
      return pageNo;
    }
    if (at % DataFile.BLOCK == 0 && read(at, overflowAt, pageSize)) {
      int type = memory().getByte(overflowAt + PageLayout.TYPE);
      if (type == PageLayout.PAGE_MAP || type == PageLayout.FOOTER) {
        length = pageSize;
        return PageLayout.pageNo(memory(), overflowAt, pageSize, seed, next, last + 1);
      }
    }
    return -1;
  }

  /** Unpacks the page stored at an offset, if its number is in a range; gives that or -1. */
  private int stored(long at, int from, int to, int target) {
    int most = pageSize + FileLayout.STORED_HEADER + FileLayout.STORED_UNIT;
    int got = readSome(at, storedAt, (int) Math.min(most, size - at));
    if (got < FileLayout.STORED_UNIT) {
      return -1;
    }
    int bytes = memory().getInt(storedAt + 4) & ~FileLayout.STORED_RAW;
    int unit = FileLayout.STORED_UNIT;
    if (bytes == 0 || bytes > pageSize) {
      return -1;
    }
    int stored = (FileLayout.STORED_HEADER + bytes + unit - 1) / unit * unit;
    if (stored > got) {
      return -1;
    }
    int pageNo = coder().pageNo(memory(), storedAt, stored, from, to);
    if (pageNo < 0
        || coder().unpack(pageNo, stored, memory(), storedAt, memory(), target) != null) {
      return -1;
    }
    length = stored;
    return pageNo;
  }

  /** Whether the page at {@code overflowAt} holds what it says. */
  private boolean isReadable() {
    return memory().getByte(overflowAt + PageLayout.TYPE) != PageLayout.DATA
        || PageCheck.problem(memory(), overflowAt, pageSize) == null;
  }

  /** A page that can be read, now at {@code overflowAt}. */
  private void note(int pageNo, long at) {
    int type = memory().getByte(overflowAt + PageLayout.TYPE);
    byte[] first = null;
    byte[] last = null;
    int entries = 0;
    if (type == PageLayout.DATA) {
      entries = PageReader.count(memory(), overflowAt);
      first = key(overflowAt, 0);
      last = key(overflowAt, entries - 1);
    }
    closeGap(at, first);
    pastData |= type != PageLayout.DATA && type != PageLayout.OVERFLOW;
    if (type == PageLayout.OVERFLOW || type == PageLayout.DATA) {
      if (pageNo >= offsets.length) {
        offsets = Arrays.copyOf(offsets, Math.max(pageNo + 1, 2 * offsets.length));
      }
      offsets[pageNo] = at;
    }
    if (first == null) {
      return;
    }
    if (leafCount == leaves.length) {
      leaves = Arrays.copyOf(leaves, 2 * leafCount);
    }
    leaves[leafCount++] = pageNo;
    int flags = memory().getUnsignedShort(overflowAt + PageLayout.FLAGS);
    customOrder |= (flags & PageLayout.FLAG_CUSTOM_ORDER) != 0;
    found += entries;
    if (firstKey == null) {
      firstKey = first;
    }
    lastKey = last;
    complete(gaps, first);
  }

  private void gap(long at) {
    if (!gapOpen) {
      gapOpen = true;
      gapFrom = at;
      gapAfter = lastKey;
    }
  }

  private void closeGap(long end, byte @Nullable [] before) {
    // Behind the data pages there is nothing that can't be made anew.
    if (gapOpen && (!pastData || before != null) && !isFilling(gapFrom, end)) {
      gaps.add(new Gap(gapFrom, end, gapAfter, before));
    }
    gapOpen = false;
  }

  /** Between the last compressed page and the page map there may be zeros. */
  private boolean isFilling(long from, long end) {
    if (packing.isNone() || end - from >= DataFile.BLOCK) {
      return false;
    }
    int bytes = (int) (end - from);
    if (readSome(from, storedAt, bytes) != bytes) {
      return false;
    }
    for (int i = 0; i < bytes; i++) {
      if (memory().getByte(storedAt + i) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Gaps in front of overflow pages end before the key of the data page behind those. */
  private static void complete(List<Gap> gaps, byte[] first) {
    for (int i = gaps.size() - 1; i >= 0 && gaps.get(i).before() == null; i--) {
      Gap gap = gaps.get(i);
      gaps.set(i, new Gap(gap.from(), gap.to(), gap.after(), first));
    }
  }

  // ---- reading what was found

  /** Goes to the first entry, or the next one; false at the end. */
  public boolean next() throws IOException {
    if (file == null) {
      open();
    }
    while (slot + 1 >= count) {
      if (nextLeaf == leafCount) {
        return false;
      }
      turnTo(leaves[nextLeaf++]);
    }
    slot++;
    return true;
  }

  private void turnTo(int pageNo) {
    byte[] last = missed.isEmpty() ? null : missed.get(missed.size() - 1).after();
    last = count > 0 ? key(dataAt, count - 1) : last;
    slot = -1;
    count = 0;
    if (!readPage(pageNo, dataAt)) {
      long at = offsets[pageNo];
      missed.add(new Gap(at, Math.min(at + pageSize, size), last, null));
      return;
    }
    count = PageReader.count(memory(), dataAt);
    complete(missed, key(dataAt, 0));
  }

  /** What {@link #next} has passed over: a device may read a place once, and then not again. */
  public List<Gap> missed() {
    return List.copyOf(missed);
  }

  private int entry() {
    return PageReader.entry(memory(), dataAt, slot);
  }

  /** The key of the current entry; a new array. */
  public byte[] key() {
    return key(dataAt, slot);
  }

  /**
   * The LSN of the current entry. If the manifest says one of all entries, that counts: the files
   * of a bulk load have the LSN of its begin.
   */
  public long lsn() {
    return oneLsn >= 0 ? oneLsn : PageReader.lsn(memory(), dataAt, entry());
  }

  /** Whether the current entry is a delete marker. */
  public boolean isDelete() {
    return Kind.isDelete(PageReader.kind(memory(), dataAt, entry()));
  }

  /** Whether the current entry is an operand, to be merged with older versions. */
  public boolean isOperand() {
    return Kind.isOperand(PageReader.kind(memory(), dataAt, entry()));
  }

  private boolean overflows() {
    return Kind.isOverflow(PageReader.kind(memory(), dataAt, entry()));
  }

  /** The length of the current entry's value. */
  public int valueLength() {
    if (overflows()) {
      return PageReader.overflowLength(memory(), dataAt, entry());
    }
    int stored = PageReader.valueLength(memory(), dataAt, entry());
    return Kind.valueLength(PageReader.kind(memory(), dataAt, entry()), stored);
  }

  /** When the current entry expires, or {@link Expiry#NEVER}. */
  public long expiry() {
    return PageReader.expiry(memory(), dataAt, entry());
  }

  /** Whether all of the current entry's value can be read. */
  public boolean hasWholeValue() {
    if (!overflows()) {
      return true;
    }
    int first = PageReader.overflowPage(memory(), dataAt, entry());
    int start = PageReader.overflowStart(memory(), dataAt, entry());
    int pages = PageLayout.overflowPages(pageSize, start, valueLength());
    if (first <= 0 || pages > offsets.length - first) {
      return false;
    }
    for (int pageNo = first; pageNo < first + pages; pageNo++) {
      if (!readPage(pageNo, overflowAt)
          || memory().getByte(overflowAt + PageLayout.TYPE) != PageLayout.OVERFLOW) {
        heldOverflow = -1;
        return false;
      }
      heldOverflow = pageNo;
    }
    return true;
  }

  /** Copies a part of the current entry's value, which is whole. */
  public void copyValue(int from, Memory target, int targetOffset, int bytes) {
    if (!overflows()) {
      int value = dataAt + PageReader.valueOffset(memory(), dataAt, entry());
      target.copyFrom(targetOffset, memory(), value + from, bytes);
      return;
    }
    int perPage = PageLayout.overflowBytes(pageSize);
    long first = (long) PageReader.overflowStart(memory(), dataAt, entry()) + from;
    int pageNo = PageReader.overflowPage(memory(), dataAt, entry()) + (int) (first / perPage);
    int at = (int) (first % perPage);
    for (int done = 0; done < bytes; pageNo++) {
      int piece = Math.min(bytes - done, perPage - at);
      if (pageNo != heldOverflow && !readPage(pageNo, overflowAt)) {
        heldOverflow = -1;
        throw new CorruptionException(name, offsets[pageNo], "page " + pageNo + " can't be read");
      }
      heldOverflow = pageNo;
      int start = overflowAt + PageLayout.HEADER_BYTES + at;
      target.copyFrom(targetOffset + done, memory(), start, piece);
      done += piece;
      at = 0;
    }
  }

  /** Brings a page that was found to an offset in {@link #block}. */
  private boolean readPage(int pageNo, int target) {
    long at = pageNo > 0 && pageNo < offsets.length ? offsets[pageNo] : 0;
    if (at == 0) {
      return false;
    }
    if (target == overflowAt) {
      heldOverflow = -1;
    }
    return !packing.isNone()
        ? stored(at, pageNo, pageNo + 1, target) == pageNo
        : read(at, target, pageSize)
            && PageLayout.isIntact(memory(), target, pageSize, seed, pageNo);
  }

  private boolean read(long at, int target, int bytes) {
    return readSome(at, target, bytes) == bytes;
  }

  /** A place that the device can't read is as bad as one with wrong bytes. */
  private int readSome(long at, int target, int bytes) {
    DataFile source = file;
    try {
      return source == null ? 0 : source.read(at, memory(), target, bytes);
    } catch (IOException e) {
      return 0;
    }
  }

  private byte[] key(int base, int of) {
    byte[] key = new byte[PageReader.keyLength(memory(), base, of)];
    PageReader.copyKey(memory(), base, of, key);
    return key;
  }

  /** Gives file and memory back. */
  @Override
  public void close() throws IOException {
    if (block != null) {
      space.pool().release(block);
      block = null;
    }
    if (coder != null) {
      coder.close();
      coder = null;
    }
    if (file != null) {
      file.close();
      file = null;
    }
  }
}
