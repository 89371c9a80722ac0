package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The files of the log: segments {@code first..current}, of which the last is open, and spares.
 *
 * <p>A spare is as long as a segment already, so that writing to a segment does not extend the
 * file. A new one is made once half of the last segment is used. It is not filled with zeros, which
 * would double the bytes that a new log writes; one that was a segment before has its blocks, and
 * is synced in half the time. What a spare holds does not matter, since the checksums of records
 * bind store and LSN. A spare becomes a segment in this order: header and a zero block, sync,
 * rename, sync of the directory. So a segment's file always has a good header, and a segment exists
 * only if all below its promise is synced.
 *
 * <p>Thread rule: {@link #roll}, {@link #write}, {@link #sync}, {@link #shrink} and {@link
 * #dropSpares} by the thread that has taken the log; {@link #prepare}, {@link #dropBefore}, {@link
 * #isOversized}, {@link #hasLargeSpares} and {@link #allocatedBytes} by anybody; the rest while the
 * log is opened or closed.
 */
final class Segments implements AutoCloseable {
  /** Zeros that are written at once; they stand in the scratch memory behind a header. */
  static final int ZERO_BYTES = 64 << 10;

  /** Scratch memory that the constructor asks for: a header block, and zeros. */
  static final int SCRATCH_BYTES = SegmentLayout.HEADER_BYTES + ZERO_BYTES;

  /** What segments and spares may take though the log is hardly needed. */
  private static final long SPARED_BYTES = 4L * DataFile.BLOCK;

  private final Storage storage;
  private final IoMode mode;
  private final UUID storeId;
  private final Memory scratch;
  private final int maxSpares;

  /** Whole spares. Guarded by this. */
  private final ArrayDeque<Spare> spares = new ArrayDeque<>();

  /** How much of the spares was written. */
  private volatile long spareBytes;

  private long segmentBytes;
  private volatile long first;

  /** The segment in {@link #file}; one less than {@link #first} before there is any. */
  private volatile long current;

  private @Nullable DataFile file;

  /** How much of the last segment's file was written, now or as an earlier segment. */
  private volatile long writtenBytes;

  /** Segments from here on are files that this opening made. */
  private long firstOwn;

  /** The log is needed from here on only. */
  private volatile long needed;

  private volatile Hole hole = new Hole(-1, 0);

  /** Whether half of the last segment is used, which was told by {@link #wantsSpare}. */
  private boolean halfUsed;

  private volatile boolean wantsSpare;

  /** The segments that are there, if some may be missing. */
  private @Nullable TreeSet<Long> remains;

  /**
   * A file that may become a segment.
   *
   * @param writtenBytes how much of it was written
   */
  private record Spare(String name, long writtenBytes) {}

  /** A part of a segment's file that was not copied when a copy took its place. */
  private record Hole(long index, long bytes) {}

  Segments(Storage storage, UUID storeId, Memory scratch, LogOptions options) {
    this.storage = storage;
    this.storeId = storeId;
    this.scratch = scratch;
    this.mode = options.direct() && storage.supportsDirect() ? IoMode.DIRECT : IoMode.BUFFERED;
    this.maxSpares = options.spareSegments();
    this.segmentBytes = options.segmentBytes();
    scratch.zero(0, SCRATCH_BYTES);
  }

  /**
   * Finds the segments that hold the stream from its start on, and checks their headers.
   *
   * @return the headers in order; none if the log is new
   * @throws CorruptionException if one is missing or damaged
   */
  List<SegmentLayout> find(LogExtent extent) throws IOException {
    long start = extent.startLsn();
    long highest = -1;
    for (String name : storage.list()) {
      highest = Math.max(highest, SegmentLayout.indexOf(name));
    }
    if (highest < 0) {
      if (start > Lsn.FIRST || extent.syncedLsn() > Lsn.FIRST) {
        throw new CorruptionException(
            SegmentLayout.fileName(start / segmentBytes), 0, "missing, as are all log segments");
      }
      first = 0;
      current = -1;
      return List.of();
    }
    SegmentLayout last = header(highest);
    segmentBytes = last.segmentBytes();
    first = start / segmentBytes;
    if (first == highest + 1 && start % segmentBytes == 0) {
      first = highest;
    }
    if (first > highest) {
      throw new CorruptionException(
          SegmentLayout.fileName(highest),
          SegmentLayout.HEADER_BYTES + segmentBytes,
          "the log ends here, before its start at LSN " + start);
    }
    if (extent.syncedLsn() > (highest + 1) * segmentBytes) {
      throw new CorruptionException(
          SegmentLayout.fileName(highest + 1),
          0,
          "missing log segment; the log was synced up to LSN " + extent.syncedLsn());
    }
    List<SegmentLayout> headers = new ArrayList<>();
    for (long index = first; index < highest; index++) {
      SegmentLayout header = header(index);
      if (header.segmentBytes() != segmentBytes) {
        throw new CorruptionException(
            SegmentLayout.fileName(index),
            0,
            "segments of " + header.segmentBytes() + " bytes where others have " + segmentBytes);
      }
      headers.add(header);
    }
    headers.add(last);
    current = highest;
    return headers;
  }

  /**
   * Finds the segments that are there, whether they follow each other or not, and what headers can
   * be read.
   *
   * @param start where the log begins, or 0 if that is not known
   * @param problem is told of each segment whose header can't be
   */
  List<SegmentLayout> findRemains(long start, Consumer<CorruptionException> problem)
      throws IOException {
    TreeSet<Long> indexes = new TreeSet<>();
    for (String name : storage.list()) {
      long index = SegmentLayout.indexOf(name);
      if (index >= 0) {
        indexes.add(index);
      }
    }
    List<SegmentLayout> headers = new ArrayList<>();
    Map<Long, Integer> sizes = new TreeMap<>();
    long longest = 0;
    for (long index : indexes) {
      try {
        SegmentLayout header = header(index);
        headers.add(header);
        sizes.merge(header.segmentBytes(), 1, Integer::sum);
      } catch (CorruptionException e) {
        problem.accept(e);
      } catch (FormatException e) {
        problem.accept(new CorruptionException(SegmentLayout.fileName(index), 0, e.getMessage()));
      }
      try (DataFile opened = storage.open(SegmentLayout.fileName(index), mode)) {
        longest = Math.max(longest, opened.size() - SegmentLayout.HEADER_BYTES & -DataFile.BLOCK);
      }
    }
    segmentBytes =
        sizes.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse(Math.max(longest, LogOptions.MIN_SEGMENT_BYTES));
    indexes.removeIf(index -> index >= Long.MAX_VALUE / 2 / segmentBytes);
    indexes.removeIf(index -> index < start / segmentBytes);
    headers.removeIf(header -> header.segmentBytes() != segmentBytes);
    remains = indexes;
    first = indexes.isEmpty() ? 0 : indexes.first();
    current = indexes.isEmpty() ? -1 : indexes.last();
    return headers;
  }

  /** Whether there is a file for a position of the stream. */
  boolean isThere(long position) {
    return remains == null || remains.contains(position / segmentBytes);
  }

  /** The next position that there is a file for, or the end. */
  long nextThere(long position) {
    Long index = remains == null ? null : remains.ceiling(position / segmentBytes);
    return index == null ? endPosition() : Math.max(position, index * segmentBytes);
  }

  private SegmentLayout header(long index) throws IOException {
    String name = SegmentLayout.fileName(index);
    if (!storage.exists(name)) {
      throw new CorruptionException(name, 0, "missing log segment");
    }
    try (DataFile opened = storage.open(name, mode)) {
      int length = opened.read(0, scratch, 0, SegmentLayout.HEADER_BYTES);
      SegmentLayout header = SegmentLayout.decode(scratch, 0, length, name, storeId);
      if (header.index() != index) {
        throw new CorruptionException(name, 0, "this is segment " + header.index());
      }
      return header;
    }
  }

  /**
   * Makes durable what was found: after the process alone has died, bytes that nobody synced can be
   * read, and what acts on them must not lose them later.
   *
   * <p>A sync is not enough for that: after one that failed, the system may show what it has not
   * written, and take it for written. And a process that lost its lock may go on writing to the
   * last segment, which it has open. So a copy takes the place of the last segment. Those before it
   * were synced before it had a name, and nobody writes to them any more.
   *
   * @param from nothing before this position of the stream is needed, or copied
   * @param window memory of whole blocks
   * @throws DiskFullException if there is no room for it; nothing has changed then
   */
  void settleFound(long from, Memory window) throws IOException {
    if (!storage.discardsChanges()) {
      // Else nobody acts on it, and the heap may have no room for it.
      replace(current, from, Long.MAX_VALUE, window);
    }
  }

  /**
   * Puts a copy in the place of a segment, durably. The copy has the header, and what the segment
   * has of a part of the stream.
   *
   * @param window memory of whole blocks
   * @throws DiskFullException if there is no room for it; nothing has changed then
   */
  private void replace(long index, long from, long to, Memory window) throws IOException {
    String name = SegmentLayout.fileName(index);
    String copy = SegmentLayout.spareName(index);
    long skipped = Math.max(from - index * segmentBytes, 0) & -DataFile.BLOCK;
    storage.delete(copy);
    try {
      copy(name, copy, skipped, Math.min(to - index * segmentBytes, segmentBytes), window);
      storage.rename(copy, name);
    } catch (DiskFullException e) {
      storage.delete(copy);
      throw e;
    }
    syncDirectory();
    firstOwn = index;
    hole = new Hole(index, skipped);
  }

  /** Makes a synced copy of a segment's file, with a part of what follows the header. */
  private void copy(String name, String copy, long from, long to, Memory window)
      throws IOException {
    try (DataFile found = storage.open(name, IoMode.BUFFERED);
        DataFile target = storage.create(copy, IoMode.BUFFERED)) {
      copyPart(found, 0, SegmentLayout.HEADER_BYTES, target, window);
      long end = found.size();
      long partEnd = Math.min(SegmentLayout.HEADER_BYTES + to, end);
      copyPart(found, SegmentLayout.HEADER_BYTES + from, partEnd, target, window);
      if (target.size() < end) {
        zero(target, Math.max(end - DataFile.BLOCK, SegmentLayout.HEADER_BYTES), end);
      }
      syncFinally(target);
    }
  }

  /** Copies a part of a file, without the zeros at the end of each window. */
  private static void copyPart(DataFile from, long start, long end, DataFile to, Memory window)
      throws IOException {
    for (long at = start; at < end; at += window.size()) {
      int length = (int) Math.min(window.size(), end - at);
      int got = from.read(at, window, 0, length);
      if (got < length) {
        throw new IOException("a read of " + from.name() + " ended early, at " + (at + got));
      }
      while (length > 0 && isZero(window, length - 1 & -DataFile.BLOCK, length)) {
        length = length - 1 & -DataFile.BLOCK;
      }
      if (length > 0) {
        to.write(at, window, 0, length);
      }
    }
  }

  private static boolean isZero(Memory memory, int from, int to) {
    int at = from;
    while (at + Long.BYTES <= to && memory.getLong(at) == 0) {
      at += Long.BYTES;
    }
    while (at < to && memory.getByte(at) == 0) {
      at++;
    }
    return at == to;
  }

  long segmentBytes() {
    return segmentBytes;
  }

  /** The unit in which files are written: 4096 for direct files, else one word. */
  int unit() {
    return mode == IoMode.DIRECT ? DataFile.BLOCK : 8;
  }

  /** The first byte of the stream that is kept. */
  long startPosition() {
    return first * segmentBytes;
  }

  /** The end of the part of the stream that the segments have room for. */
  long endPosition() {
    return (current + 1) * segmentBytes;
  }

  String nameAt(long position) {
    return SegmentLayout.fileName(position / segmentBytes);
  }

  long offsetAt(long position) {
    return SegmentLayout.HEADER_BYTES + position % segmentBytes;
  }

  /** How much of the last segment's file the stream takes that ends here. */
  private long lengthTo(long end) {
    return SegmentLayout.HEADER_BYTES + end - current * segmentBytes;
  }

  DataFile openToRead(long index) throws IOException {
    return storage.open(SegmentLayout.fileName(index), mode);
  }

  /**
   * Makes the segment that holds {@code end} the last one and opens it; what lies below {@link
   * #startPosition} or behind goes. If {@code torn}, the rest of the segment is overwritten with
   * zeros, so that no record there is ever found again; the first {@code keptBytes} bytes of {@code
   * block} are what stands between the block's start and {@code end}. All that is left is synced.
   *
   * @param window memory of whole blocks, another one
   */
  void cut(long end, boolean torn, Memory block, Memory window) throws IOException {
    long last = Math.min(end / segmentBytes, current);
    if (last < current) {
      if (!storage.discardsChanges()) {
        replace(last, startPosition(), Long.MAX_VALUE, window);
      }
      for (long index = current; index > last; index--) {
        storage.delete(SegmentLayout.fileName(index));
        // One by one: after a power failure one between others would be missing.
        storage.syncDirectory();
      }
    }
    current = last;
    DataFile opened = storage.open(SegmentLayout.fileName(last), mode);
    file = opened;
    writtenBytes = lengthTo(end);
    if (torn && end < endPosition() && !storage.discardsChanges()) {
      long from = offsetAt(end & -DataFile.BLOCK);
      int kept = (int) (end & (DataFile.BLOCK - 1));
      if (kept > 0) {
        block.zero(kept, DataFile.BLOCK - kept);
        opened.write(from, block, 0, DataFile.BLOCK);
        from += DataFile.BLOCK;
      }
      zero(opened, from, fileBytes());
      writtenBytes = fileBytes();
    }
    opened.sync();
  }

  /**
   * Writes a part of the stream that stands elsewhere, and syncs it; segments are added if need be.
   * All before it must be synced.
   *
   * @param promise the end of a whole record at or before {@code from}
   * @param source where the part is read
   * @param block memory of whole blocks
   * @throws DiskFullException if there is no room for it
   */
  void complete(long from, long to, long promise, LogReplay source, Memory block)
      throws IOException {
    for (long at = from; at < to; ) {
      if (at == endPosition()) {
        roll(promise);
      }
      long end = Math.min(to, (at / segmentBytes + 1) * segmentBytes);
      try (DataFile target = openToRead(at / segmentBytes)) {
        while (at < end) {
          long base = at & -DataFile.BLOCK;
          long until = Math.min(end, base + block.size());
          int used = (int) (until - base);
          int padded = (used + DataFile.BLOCK - 1) & -DataFile.BLOCK;
          source.copy(base, block, 0, used);
          block.zero(used, padded - used);
          target.write(offsetAt(base), block, 0, padded);
          at = until;
        }
        syncFinally(target);
      }
    }
    close();
  }

  /**
   * Deletes the segments before the first, which an earlier opening had dropped or was about to.
   */
  void deleteDropped() throws IOException {
    for (String name : storage.list()) {
      long index = SegmentLayout.indexOf(name);
      if (index >= 0 && index < first) {
        storage.delete(name);
      }
    }
  }

  /** Deletes the spares that an earlier opening left: it may be about to write to them. */
  static void deleteSpares(Storage storage) throws IOException {
    for (String name : storage.list()) {
      if (SegmentLayout.isSpare(name)) {
        storage.delete(name);
      }
    }
  }

  /**
   * Checks that nobody else has the directory: a process that takes it later finds all that was
   * written.
   *
   * @throws IOException if somebody may have it
   */
  void ensureHeld() throws IOException {
    storage.ensureHeld();
  }

  private void retire(long index) throws IOException {
    String name = SegmentLayout.fileName(index);
    String spare = SegmentLayout.spareName(index);
    if (index >= firstOwn && spares.size() < maxSpares && !storage.exists(spare)) {
      storage.rename(name, spare);
      addSpare(spare, fileBytes() - holeBytes(index));
    } else {
      storage.delete(name);
    }
  }

  /** Drops the segments that lie wholly below {@code position}, but never the last one. */
  synchronized void dropBefore(long position) throws IOException {
    needed = Math.max(needed, position);
    long keep = Math.min(position / segmentBytes, current);
    while (first < keep) {
      retire(first);
      first++;
    }
  }

  /** Makes the one segment of a log that begins in it and has no records yet. */
  synchronized void begin(long index) throws IOException {
    current = index - 1;
    roll(0);
    close();
  }

  /**
   * Opens the next segment; the one before must be synced.
   *
   * @throws DiskFullException if there is no room for it; nothing has changed then
   */
  synchronized void roll(long promise) throws IOException {
    long index = current + 1;
    if (spares.isEmpty()) {
      makeSpare();
    }
    Spare next = spares.element();
    String spare = next.name();
    SegmentLayout header = new SegmentLayout(storeId, index, segmentBytes, promise);
    header.encode(scratch, 0);
    try (DataFile opened = storage.open(spare, mode)) {
      opened.write(0, scratch, 0, SegmentLayout.HEADER_BYTES + DataFile.BLOCK);
      syncFinally(opened);
    }
    String name = SegmentLayout.fileName(index);
    storage.rename(spare, name);
    removeSpare();
    halfUsed = false;
    wantsSpare = false;
    syncDirectory();
    DataFile opened = storage.open(name, mode);
    DataFile before = file;
    file = opened;
    current = index;
    writtenBytes =
        Math.max(next.writtenBytes(), SegmentLayout.HEADER_BYTES + (long) DataFile.BLOCK);
    if (before != null) {
      before.close();
    }
  }

  /** Makes the next segment's file if there is none yet, so that {@link #roll} need not. */
  synchronized void prepare() throws IOException {
    if (!wantsSpare) {
      return;
    }
    if (spares.isEmpty()) {
      try {
        makeSpare();
      } catch (DiskFullException e) {
        // Nobody needs the file yet: roll() will try again, and tell.
      }
    }
    wantsSpare = false;
  }

  /** Whether it is time for {@link #prepare}. */
  boolean wantsSpare() {
    return wantsSpare;
  }

  /** A file of a segment's length, of which only the end is written: the rest reads as zeros. */
  private void makeSpare() throws IOException {
    String name = SegmentLayout.spareName(current + 1);
    storage.delete(name);
    DataFile opened = storage.create(name, mode);
    try (opened) {
      zero(opened, fileBytes() - DataFile.BLOCK, fileBytes());
      syncFinally(opened);
    } catch (DiskFullException e) {
      storage.delete(name);
      throw e;
    }
    addSpare(name, DataFile.BLOCK);
  }

  private void addSpare(String name, long written) {
    spares.add(new Spare(name, written));
    spareBytes = spareBytes + written;
  }

  private void removeSpare() {
    spareBytes = spareBytes - spares.remove().writtenBytes();
  }

  /**
   * Whether {@link #shrink} would give something back: the log, which ends here, is needed from
   * this block of it on at most.
   */
  boolean isOversized(long end) {
    return needed >= Ring.blockOf(end)
        && allocatedBytes() > SPARED_BYTES
        && !storage.discardsChanges();
  }

  /**
   * Gives back what the files take beyond need, if {@link #isOversized} and all is written and
   * synced: deletes the spares, and puts a copy in the place of the last segment. The copy has
   * blocks for the header, and for the block of the stream that is not full.
   *
   * @param end of the stream
   * @throws DiskFullException if there is no room for the copy; only spares are gone then
   */
  synchronized void shrink(long end) throws IOException {
    dropSpares();
    DataFile before = opened();
    Memory window = new Memory(scratch.slice(0, SegmentLayout.HEADER_BYTES));
    replace(current, Ring.blockOf(end), end, window);
    try {
      file = storage.open(SegmentLayout.fileName(current), mode);
    } catch (DiskFullException e) {
      throw new IOException("the copy of the last log segment could not be opened", e);
    }
    writtenBytes = lengthTo(end);
    before.close();
  }

  /** Deletes the spares. The next write wants one, if it has use for it soon. */
  synchronized void dropSpares() throws IOException {
    while (!spares.isEmpty()) {
      storage.delete(spares.element().name());
      removeSpare();
    }
    halfUsed = false;
  }

  /** Whether spares take more than what makes no difference. */
  boolean hasLargeSpares() {
    return spareBytes > SPARED_BYTES && !storage.discardsChanges();
  }

  private long holeBytes(long index) {
    Hole found = hole;
    return found.index() == index ? found.bytes() : 0;
  }

  private long fileBytes() {
    return SegmentLayout.HEADER_BYTES + segmentBytes;
  }

  /**
   * About what the files take on the disk: what was written to them. The rest of them is holes,
   * where the file system has such.
   */
  long allocatedBytes() {
    Hole found = hole;
    long lacking = found.index() >= first ? found.bytes() : 0;
    return (current - first) * fileBytes() + writtenBytes + spareBytes - lacking;
  }

  private void zero(DataFile target, long from, long to) throws IOException {
    for (long at = from; at < to; at += ZERO_BYTES) {
      int length = (int) Math.min(ZERO_BYTES, to - at);
      target.write(at, scratch, SegmentLayout.HEADER_BYTES, length);
    }
  }

  /** Writes bytes of the stream, which must lie in the last segment. */
  void write(long position, Memory source, int sourceOffset, int length) throws IOException {
    opened().write(offsetAt(position), source, sourceOffset, length);
    long end = offsetAt(position) + length;
    writtenBytes = Math.max(writtenBytes, end);
    if (!halfUsed && end > fileBytes() / 2) {
      halfUsed = true;
      wantsSpare = true;
    }
  }

  /** Makes the last segment durable. */
  void sync() throws IOException {
    syncFinally(opened());
  }

  /** As {@link #syncFinally}: names that are written to must not be lost. */
  private void syncDirectory() throws IOException {
    try {
      storage.syncDirectory();
    } catch (DiskFullException e) {
      throw new IOException("the directory could not be synced", e);
    }
  }

  /** A failed sync is final, for whatever reason it failed. */
  private static void syncFinally(DataFile target) throws IOException {
    try {
      target.sync();
    } catch (DiskFullException e) {
      throw new IOException("sync of " + target.name() + " failed", e);
    }
  }

  private DataFile opened() {
    DataFile opened = file;
    if (opened == null) {
      throw new IllegalStateException("no log segment is open");
    }
    return opened;
  }

  /** Closes the segment that is open. */
  @Override
  public synchronized void close() throws IOException {
    DataFile opened = file;
    file = null;
    if (opened != null) {
      opened.close();
    }
  }
}
