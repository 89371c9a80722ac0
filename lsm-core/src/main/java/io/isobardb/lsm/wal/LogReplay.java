package io.isobardb.lsm.wal;

import static io.isobardb.lsm.wal.RecordLayout.BATCH;
import static io.isobardb.lsm.wal.RecordLayout.FIRST;
import static io.isobardb.lsm.wal.RecordLayout.FULL;
import static io.isobardb.lsm.wal.RecordLayout.HEADER_BYTES;
import static io.isobardb.lsm.wal.RecordLayout.LAST;
import static io.isobardb.lsm.wal.RecordLayout.MARKER_BYTES;
import static io.isobardb.lsm.wal.RecordLayout.MIDDLE;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Purpose;
import java.io.IOException;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of a log from its start to its end, and tells a torn tail from damage.
 *
 * <p>The log ends at the first record that is not whole and right. That is a torn tail, and no
 * record that was reported durable is behind it, unless somebody promised that this place was
 * synced: a right record behind it, the header of a later segment, or whoever noted how far the log
 * was synced when it was closed. Then it is damage. Promises are always about ends of whole
 * records, so a record that a promise cuts in two does not exist.
 *
 * <p>Memory: a window of the stream, and a block for a record that does not fit into it. A record's
 * length is believed only after its checksum was right.
 *
 * <p>Thread rule: one thread.
 */
final class LogReplay implements AutoCloseable {
  private final Segments segments;
  private final List<SegmentLayout> headers;
  private final Memory window;
  private final long storeSeed;
  private final PagePool pool;
  private final CRC32C crc = new CRC32C();
  private final long streamEnd;

  private long windowStart;
  private long windowEnd;
  private @Nullable DataFile file;
  private long fileIndex = -1;
  private boolean shortFile;

  // The record that parse() found last.
  private long size;
  private int length;
  private int kind;
  private int fragment;
  private long promised;

  private long end;
  private boolean torn;
  private long droppedBytes;

  /**
   * @param window scratch memory; as large as the ring
   */
  LogReplay(
      Segments segments,
      List<SegmentLayout> headers,
      Memory window,
      long storeSeed,
      PagePool pool) {
    this.segments = segments;
    this.headers = headers;
    this.window = window;
    this.storeSeed = storeSeed;
    this.pool = pool;
    this.streamEnd = segments.endPosition();
  }

  /** The end of the last whole record; new records go there. */
  long end() {
    return end;
  }

  /** Whether something other than zeros may follow {@link #end}. */
  boolean torn() {
    return torn;
  }

  /** Bytes from {@link #end} to the end of the last record that can be made out behind it. */
  long droppedBytes() {
    return droppedBytes;
  }

  /**
   * Hands all records of the log to {@code handler}.
   *
   * @throws CorruptionException if a record is damaged that must be there
   */
  void run(LogExtent extent, LogHandler handler) throws IOException {
    long p = extent.startLsn();
    for (long next = deliver(p, handler); next > p; next = deliver(p, handler)) {
      p = next;
    }
    end = p;
    judgeTail(extent.syncedLsn());
  }

  /** Delivers the record at {@code p}; gives its end, or {@code p} if there is no whole record. */
  private long deliver(long p, LogHandler handler) throws IOException {
    if (!parse(p)) {
      return p;
    }
    if (fragment == FULL) {
      long next = p + size;
      if (size == MARKER_BYTES) {
        handler.record(p, LogHandler.MARKER, window, 0, 0);
      } else if (kind == BATCH && size <= maxSpan()) {
        int at = load(p, (int) size);
        handler.record(p, LogHandler.BATCH, window, at + HEADER_BYTES, length);
      } else if (kind == BATCH) {
        deliverAssembled(p, next, length, handler);
      }
      return next;
    }
    if (fragment != FIRST) {
      throw damaged(p, "a fragment without those before it");
    }
    long total = length;
    long q = p + size;
    do {
      if (!parse(q)) {
        return p;
      }
      if (fragment != MIDDLE && fragment != LAST || size == MARKER_BYTES) {
        throw damaged(q, "a new record between fragments");
      }
      total += length;
      q += size;
    } while (fragment != LAST);
    if (total > Integer.MAX_VALUE - DataFile.BLOCK) {
      throw damaged(p, "a record of " + total + " bytes");
    }
    if (kind == BATCH) {
      deliverAssembled(p, q, (int) total, handler);
    }
    return q;
  }

  /** Receives parts of a log that can't be read, though they were synced. */
  interface LostPart {
    /** The bytes of the stream between two positions. */
    void lost(long from, long to);
  }

  /**
   * As {@link #run}, but goes on behind what is damaged, and looks for the first record if where
   * the log starts is not known.
   *
   * @param known whether the first position is that of a record
   */
  void salvage(long start, boolean known, long syncedLsn, LogHandler handler, LostPart parts)
      throws IOException {
    long p = known ? start : nextRecord(start);
    boolean begun = known;
    long synced = -1;
    while (p < streamEnd) {
      long next = p;
      boolean stray = false;
      try {
        next = deliver(p, handler);
      } catch (CorruptionException e) {
        stray = parse(p);
      }
      if (next > p) {
        begun = true;
        p = next;
        continue;
      }
      long from = p;
      long behind = stray ? p + size : p + Lsn.ALIGNMENT;
      if (synced < 0) {
        synced = Math.max(syncedLsn, promisedBehind(p));
      }
      p = nextRecord(behind);
      if (from >= synced) {
        p = from;
        break;
      }
      // A record that began before the log's first segment is on disk already.
      if (begun || !stray) {
        parts.lost(from, Math.min(p, Math.max(synced, from + Lsn.ALIGNMENT)));
      }
    }
    end = Math.min(p, streamEnd);
  }

  /** The highest position that a record behind {@code from}, or a segment, says was synced. */
  private long promisedBehind(long from) throws IOException {
    long highest = 0;
    for (SegmentLayout header : headers) {
      highest = Math.max(highest, header.promise());
    }
    for (long q = nextRecord(from + Lsn.ALIGNMENT); q < streamEnd; q = nextRecord(q + size)) {
      highest = Math.max(highest, promised);
    }
    return highest;
  }

  /** Where the first right record begins at {@code from} or behind; {@link #parse} describes it. */
  private long nextRecord(long from) throws IOException {
    for (long q = from; q < streamEnd; ) {
      if (!segments.isThere(q)) {
        q = segments.nextThere(q);
      } else if (parse(q)) {
        return q;
      } else {
        q += Lsn.ALIGNMENT;
      }
    }
    return streamEnd;
  }

  private void deliverAssembled(long p, long next, int total, LogHandler handler)
      throws IOException {
    Block block = pool.allocateBlock(total, Purpose.LOG);
    try {
      int done = 0;
      for (long q = p; q < next; ) {
        int part = RecordLayout.length(window.getLong(load(q, HEADER_BYTES)));
        copy(q + HEADER_BYTES, block.memory(), done, part);
        done += part;
        q += HEADER_BYTES + Lsn.align(part);
      }
      handler.record(p, LogHandler.BATCH, block.memory(), 0, total);
    } finally {
      pool.release(block);
    }
  }

  private void copy(long from, Memory target, int targetOffset, int count) throws IOException {
    for (int done = 0; done < count; ) {
      int piece = Math.min(count - done, maxSpan());
      target.copyFrom(targetOffset + done, window, load(from + done, piece), piece);
      done += piece;
    }
  }

  /** Decides between a clean end, a torn tail and damage. */
  private void judgeTail(long syncedLsn) throws IOException {
    if (syncedLsn > end) {
      throw damaged(end, "bad record, or the end; the log was synced up to LSN " + syncedLsn);
    }
    for (SegmentLayout header : headers) {
      if (header.promise() > end) {
        throw damaged(end, "bad record; segment " + header.index() + " says it was synced");
      }
    }
    long lastEnd = end;
    for (long q = end; q < streamEnd; ) {
      if (parse(q)) {
        if (promised > end) {
          throw damaged(end, "bad record; the record at LSN " + q + " says it was synced");
        }
        q += size;
        lastEnd = q;
      } else {
        q += Lsn.ALIGNMENT;
      }
    }
    boolean zero = end == streamEnd || window.getLong(load(end, Lsn.ALIGNMENT)) == 0;
    torn = !zero || lastEnd > end || shortFile || end + segments.segmentBytes() <= streamEnd;
    if (!zero && lastEnd == end) {
      long word0 = window.getLong(load(end, Lsn.ALIGNMENT));
      long claimed = RecordLayout.length(word0) < 0 ? 0 : RecordLayout.sizeBytes(word0);
      lastEnd = Math.min(streamEnd, end + Math.max(Lsn.ALIGNMENT, claimed));
    }
    droppedBytes = lastEnd - end;
  }

  /** Whether a whole and right record begins at {@code p}; describes it in the fields. */
  private boolean parse(long p) throws IOException {
    if (p + MARKER_BYTES > streamEnd) {
      return false;
    }
    long word0 = window.getLong(load(p, MARKER_BYTES));
    if (word0 == 0) {
      return false;
    }
    length = RecordLayout.length(word0);
    promised = 0;
    if (length == RecordLayout.MARKER_TAG) {
      size = MARKER_BYTES;
      fragment = FULL;
      return word0 == RecordLayout.markerWord(p, storeSeed);
    }
    if (length < 0) {
      return false;
    }
    size = RecordLayout.sizeBytes(word0);
    if (p + size > streamEnd) {
      return false;
    }
    long word1 = window.getLong(load(p + 8, 8));
    if (!RecordLayout.isSane(word1)) {
      return false;
    }
    kind = RecordLayout.kind(word1);
    fragment = RecordLayout.fragment(word1);
    promised = RecordLayout.promised(p, RecordLayout.delta(word1));
    crc.reset();
    for (long q = p + 8; q < p + size; ) {
      int piece = (int) Math.min(p + size - q, maxSpan());
      window.update(crc, load(q, piece), piece);
      q += piece;
    }
    return RecordLayout.sum(word0) == RecordLayout.sum((int) crc.getValue(), p, length, storeSeed);
  }

  /** The most bytes that {@link #load} gives at once, wherever they begin. */
  private int maxSpan() {
    return window.size() - DataFile.BLOCK;
  }

  /** Sees to it that bytes of the stream are in the window; gives where. */
  private int load(long position, int count) throws IOException {
    if (position < windowStart || position + count > windowEnd) {
      windowStart = position & -DataFile.BLOCK;
      windowEnd = Math.min(windowStart + window.size(), streamEnd);
      for (long at = windowStart; at < windowEnd; ) {
        long segmentEnd = (at / segments.segmentBytes() + 1) * segments.segmentBytes();
        int piece = (int) (Math.min(windowEnd, segmentEnd) - at);
        int offset = (int) (at - windowStart);
        int got = segments.isThere(at) ? read(at, offset, piece) : 0;
        if (got < piece) {
          window.zero(offset + got, piece - got);
          shortFile = true;
        }
        at += piece;
      }
    }
    return (int) (position - windowStart);
  }

  /** Fewer bytes only where the file ends: what is not there is taken for the end of the log. */
  private int read(long position, int offset, int length) throws IOException {
    DataFile opened = open(position);
    long from = segments.offsetAt(position);
    int got = opened.read(from, window, offset, length);
    if (got < length && from + got < opened.size()) {
      throw new IOException("a read of " + opened.name() + " ended early, at " + (from + got));
    }
    return got;
  }

  private DataFile open(long position) throws IOException {
    long index = position / segments.segmentBytes();
    DataFile opened = file;
    if (opened == null || index != fileIndex) {
      close();
      opened = segments.openToRead(index);
      file = opened;
      fileIndex = index;
    }
    return opened;
  }

  private CorruptionException damaged(long position, String what) {
    return new CorruptionException(segments.nameAt(position), segments.offsetAt(position), what);
  }

  /** Copies the bytes between the block's start and {@link #end} to {@code block}. */
  void copyLastBlock(Memory block) throws IOException {
    long start = end & -DataFile.BLOCK;
    if (start < end) {
      copy(start, block, 0, (int) (end - start));
    }
  }

  @Override
  public void close() throws IOException {
    DataFile opened = file;
    file = null;
    if (opened != null) {
      opened.close();
    }
  }
}
