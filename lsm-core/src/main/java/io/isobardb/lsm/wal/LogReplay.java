package io.isobardb.lsm.wal;

import static io.isobardb.lsm.wal.RecordLayout.BATCH;
import static io.isobardb.lsm.wal.RecordLayout.FENCE;
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
 * <p>What the segments lack may still be in the ring of the process that wrote them, if that
 * process was killed. Where the segments end, right records in the ring go on with the log. They
 * may be trusted after a failure of the machine, too, when any part of the ring can be missing: a
 * record that is right is the one that was written at its LSN, and it is used only if nothing
 * before it is missing.
 *
 * <p>Memory: a window of the stream. A record that does not fit into it is read twice: first to see
 * that all of it is right, then to deliver it in parts. A record's length is believed only after
 * its checksum was right.
 *
 * <p>Thread rule: one thread.
 */
final class LogReplay implements AutoCloseable {
  private final Segments segments;
  private final List<SegmentLayout> headers;
  private final Memory window;
  private final long storeSeed;
  private final CRC32C crc = new CRC32C();
  private final @Nullable RingFile ring;

  /** The part of the stream that is read from the ring; empty if there is none. */
  private long ringFrom;

  private long ringTo;
  private boolean ringUsed;

  /** The first byte behind what can be read. */
  private long streamEnd;

  /** Where the record began, or the fragment, that {@link #deliver} did not find. */
  private long missing;

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

  /** How many changes of trees the manifest has. */
  private long treeChanges = Long.MAX_VALUE;

  /** Whether the log ends at a fence. */
  private boolean fenced;

  private long end;
  private boolean torn;
  private long droppedBytes;

  /** Is told of records that the segments lack. */
  interface RingPart {
    /** Nothing is done about them. */
    RingPart LEFT = (from, to, wholeEnd) -> false;

    /**
     * The bytes of the stream between two positions are in the ring alone.
     *
     * @param wholeEnd the end of the last whole record before them
     * @return whether they are in the segments now
     */
    boolean found(long from, long to, long wholeEnd) throws IOException;
  }

  /**
   * @param window scratch memory, of at least two blocks
   * @param ring what the last process left; null if nothing
   */
  LogReplay(
      Segments segments,
      List<SegmentLayout> headers,
      Memory window,
      @Nullable RingFile ring,
      long storeSeed) {
    this.segments = segments;
    this.headers = headers;
    this.window = window;
    this.ring = ring;
    this.storeSeed = storeSeed;
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
   * @param part is told of what is in the ring alone, before the handler gets it
   * @throws CorruptionException if a record is damaged that must be there
   */
  void run(LogExtent extent, LogHandler handler, RingPart part) throws IOException {
    treeChanges = extent.treeChanges();
    long p = extent.startLsn();
    for (long next = deliver(p, handler);
        next > p || goesOnInRing(p, part);
        next = deliver(p, handler)) {
      p = next;
    }
    end = p;
    judgeTail(extent.syncedLsn());
  }

  /** Whether the ring has what is missing of the log behind {@code wholeEnd}. */
  private boolean goesOnInRing(long wholeEnd, RingPart part) throws IOException {
    RingFile left = ring;
    if (left == null || ringUsed || fenced) {
      return false;
    }
    long from = missing;
    if (!left.holds(from)) {
      return false;
    }
    readFromRing(from, from + left.ringBytes());
    long to = from;
    while (to < ringTo && parseInRing(to, left)) {
      to += size;
    }
    readFromRing(from, to);
    if (to == from) {
      return false;
    }
    ringUsed = true;
    if (part.found(from, to, wholeEnd)) {
      readFromRing(from, from);
    }
    return true;
  }

  private boolean parseInRing(long p, RingFile left) throws IOException {
    long word0 = window.getLong(load(p, Long.BYTES));
    boolean marker = RecordLayout.isMarker(word0);
    if (word0 == 0 || !marker && p + Long.BYTES == ringTo) {
      return false;
    }
    long state = marker ? p : p + Long.BYTES;
    left.ignoreState(state, marker);
    int at = load(state, Long.BYTES);
    long flag = marker ? RecordLayout.MARKER_APPLIED : RecordLayout.APPLIED;
    window.putLong(at, window.getLong(at) & ~flag);
    return parse(p);
  }

  private void readFromRing(long from, long to) {
    ringFrom = from;
    ringTo = to;
    streamEnd = Math.max(segments.endPosition(), (to + DataFile.BLOCK - 1) & -DataFile.BLOCK);
    windowEnd = windowStart;
  }

  /** Delivers the record at {@code p}; gives its end, or {@code p} if there is no whole record. */
  private long deliver(long p, LogHandler handler) throws IOException {
    if (!parse(p)) {
      missing = p;
      return p;
    }
    if (fragment == FULL) {
      long next = p + size;
      if (size != MARKER_BYTES && kind == FENCE && isShut(p)) {
        fenced = true;
        return p;
      }
      if (size == MARKER_BYTES) {
        handler.record(p, LogHandler.MARKER, window, 0, 0, 0);
      } else if (kind == BATCH && size <= maxSpan()) {
        int at = load(p, (int) size);
        handler.record(p, LogHandler.BATCH, window, at + HEADER_BYTES, length, 0);
      } else if (kind == BATCH) {
        deliverParts(p, next, length, handler);
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
        missing = q;
        return p;
      }
      if (fragment != MIDDLE && fragment != LAST || size == MARKER_BYTES) {
        throw damaged(q, "a new record between fragments");
      }
      total += length;
      q += size;
    } while (fragment != LAST);
    if (total > LogRecord.MOST_BYTES) {
      throw damaged(p, "a record of " + total + " bytes");
    }
    if (kind == BATCH) {
      deliverParts(p, q, (int) total, handler);
    }
    return q;
  }

  /** Whether the manifest lacks what the fence at {@code p} asks for. */
  private boolean isShut(long p) throws IOException {
    if (length != RecordLayout.FENCE_BYTES) {
      throw damaged(p, "a fence of " + length + " bytes");
    }
    return window.getLong(load(p + HEADER_BYTES, Long.BYTES)) > treeChanges;
  }

  /** Receives parts of a log that can't be read, though they were synced. */
  interface LostPart {
    /** The bytes of the stream between two positions. */
    void onLost(long from, long to);
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
      boolean rest = false;
      try {
        next = deliver(p, handler);
      } catch (CorruptionException e) {
        stray = parse(p);
        rest = stray && fragment != FULL && fragment != FIRST;
      }
      if (next > p) {
        begun = true;
        p = next;
        continue;
      }
      if (begun && !stray && goesOnInRing(p, RingPart.LEFT)) {
        continue;
      }
      long from = p;
      long behind = stray ? p + size : p + Lsn.ALIGNMENT;
      if (synced < 0) {
        synced = Math.max(syncedLsn, promisedBehind(p));
      }
      // A right record that nothing can be made of is no torn tail.
      if (from >= synced && !stray) {
        break;
      }
      p = nextRecord(behind);
      // What is left of a record that began before the log's first segment is on disk already.
      if (begun || !rest) {
        parts.onLost(from, Math.min(p, Math.max(synced, behind)));
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
      if (q < segments.endPosition() && !segments.isThere(q)) {
        q = segments.nextThere(q);
      } else if (parse(q)) {
        return q;
      } else {
        q += Lsn.ALIGNMENT;
      }
    }
    return streamEnd;
  }

  /** Delivers a record whose fragments were all found right, as it is read once more. */
  private void deliverParts(long p, long next, int total, LogHandler handler) throws IOException {
    int rest = total;
    for (long q = p; q < next; ) {
      int fragmentBytes = RecordLayout.length(window.getLong(load(q, HEADER_BYTES)));
      for (int done = 0; done < fragmentBytes; ) {
        int piece = Math.min(fragmentBytes - done, maxSpan());
        rest -= piece;
        int at = load(q + HEADER_BYTES + done, piece);
        handler.record(p, LogHandler.BATCH, window, at, piece, rest);
        done += piece;
      }
      q += HEADER_BYTES + Lsn.align(fragmentBytes);
    }
  }

  /** Copies bytes of the stream out. */
  void copy(long from, Memory target, int targetOffset, int count) throws IOException {
    for (int done = 0; done < count; ) {
      int piece = Math.min(count - done, maxSpan());
      target.copyFrom(targetOffset + done, window, load(from + done, piece), piece);
      done += piece;
    }
  }

  /** Decides between a clean end, a torn tail and damage. */
  private void judgeTail(long syncedLsn) throws IOException {
    String what = fenced ? "the manifest lacks changes of trees" : "bad record" + goesOnIn();
    if (syncedLsn > end) {
      throw damaged(end, what + ", or the end; the log was synced up to LSN " + syncedLsn);
    }
    for (SegmentLayout header : headers) {
      if (header.promise() > end) {
        throw damaged(end, what + "; segment " + header.index() + " says it was synced");
      }
    }
    long lastEnd = end;
    for (long q = end; q < streamEnd; ) {
      if (parse(q)) {
        if (promised > end) {
          throw damaged(end, what + "; the record at LSN " + q + " says it was synced");
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
      lastEnd = claimedEnd(end);
    }
    droppedBytes = lastEnd - end;
  }

  /** Where a record or fragment ends by what it says, which need not be right. */
  private long claimedEnd(long p) throws IOException {
    long word0 = window.getLong(load(p, Lsn.ALIGNMENT));
    long claimed = RecordLayout.length(word0) < 0 ? 0 : RecordLayout.sizeBytes(word0);
    return Math.min(streamEnd, p + Math.max(Lsn.ALIGNMENT, claimed));
  }

  /** Tells which other segment may have the damage, of a record in several. */
  private String goesOnIn() throws IOException {
    long bad = Math.max(end, missing);
    if (bad >= streamEnd) {
      return "";
    }
    String last = segments.nameAt(claimedEnd(bad) - 1);
    return last.equals(segments.nameAt(end)) ? "" : " (it goes on in " + last + ")";
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
        at += fill(at, (int) (at - windowStart));
      }
      overlay();
    }
    return (int) (position - windowStart);
  }

  /** Reads from {@code at} on what one segment has; gives how many bytes that should be. */
  private int fill(long at, int offset) throws IOException {
    long segmentEnd = (at / segments.segmentBytes() + 1) * segments.segmentBytes();
    int piece = (int) (Math.min(windowEnd, segmentEnd) - at);
    boolean inSegments = at < segments.endPosition();
    int got = inSegments && segments.isThere(at) ? read(at, offset, piece) : 0;
    if (got < piece) {
      window.zero(offset + got, piece - got);
      shortFile |= inSegments;
    }
    return piece;
  }

  /** Lays what is read from the ring over what the segments have in the window. */
  private void overlay() throws IOException {
    RingFile left = ring;
    long from = Math.max(ringFrom, windowStart);
    long to = Math.min(ringTo, windowEnd);
    if (left != null && from < to) {
      left.read(from, window, (int) (from - windowStart), (int) (to - from));
    }
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
