package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.MemoryChecksum;

/**
 * Encodes one record at a time straight into the log's ring; made for reuse.
 *
 * <p>Order of calls: {@link #begin}, which gives the LSN; the {@code put} methods, which must add
 * up to the payload length; {@link #complete}, after which the record is written to the file in the
 * background; {@link #publish}, when its entries are where readers find them. A writer that fails
 * before that calls {@link #abandon}. From {@code begin} to {@code publish} later writers and their
 * readers wait for this one: do no I/O and wait for no lock of another writer in between.
 *
 * <p>A payload longer than a quarter of the ring is stored in fragments, unseen by the caller.
 *
 * <p>Thread rule: one thread at a time. Nothing is allocated per record.
 *
 * <p>Errors: every method may throw {@code StoreFailedException} (or {@code StoreClosedException})
 * when the log has stopped; then there is nothing to abandon. Each may throw {@code InternalError}
 * if the ring does not take what is stored to it: see {@link Ring}.
 */
public final class LogRecord {
  /** The longest payload that replay takes. */
  public static final int MOST_BYTES = Integer.MAX_VALUE - DataFile.BLOCK;

  /** What {@link #at} is when there is no record in hand. */
  private static final long NONE = -1;

  private final Log log;
  private final Ring ring;

  /** {@link Ring#isDoubted}. */
  private final boolean doubted;

  private final Memory memory;
  private final MemoryChecksum crc;

  private long lsn = NONE;

  /** Stream position of the header of the fragment in hand. */
  private long at = NONE;

  /** Payload bytes of the fragment in hand. */
  private int fragmentLength;

  /** Payload bytes that belong to later fragments. */
  private int remaining;

  /** Payload bytes of this fragment that lie behind {@link #runEnd}, at the start of the ring. */
  private int wrapped;

  /** Where in the ring the next byte goes, and where the run of bytes it is in ends. */
  private int next;

  private int runEnd;

  /** The last bytes that were put one by one, the newest one highest, and how many to look at. */
  private long singles;

  private int singleCount;

  private boolean fragmented;
  private boolean completed;
  private long word1;

  LogRecord(Log log, Ring ring) {
    this.log = log;
    this.ring = ring;
    this.doubted = ring.isDoubted();
    this.memory = ring.memory;
    this.crc = memory.newChecksum();
  }

  /**
   * Takes the record's place in the log. Waits if the ring has no room.
   *
   * @return the record's LSN
   * @throws io.isobardb.lsm.error.DiskFullException if the ring has no room because the disk is
   *     full, or if the disk has no room for a record in fragments; the record has taken no place
   */
  public long begin(int payloadLength) {
    return begin(payloadLength, new WaitLimit());
  }

  /**
   * As {@link #begin(int)}, but waits for the record's place no longer than {@code limit} says.
   *
   * @throws io.isobardb.lsm.error.WriteStalledException if that is not long enough; the record has
   *     taken no place
   */
  public long begin(int payloadLength, WaitLimit limit) {
    if (at != NONE) {
      throw new IllegalStateException(
          "the record at LSN " + lsn + " is neither published nor void");
    }
    if (payloadLength < 0 || payloadLength > MOST_BYTES) {
      throw new IllegalArgumentException("payload length " + payloadLength);
    }
    log.checkNotFailed();
    completed = false;
    singleCount = 0;
    fragmented = payloadLength > ring.fragmentBytes;
    long recordBytes = ring.recordBytes(payloadLength);
    long firstBytes =
        fragmented ? RecordLayout.HEADER_BYTES + (long) ring.fragmentBytes : recordBytes;
    lsn = log.reserve(firstBytes, recordBytes, limit);
    remaining = payloadLength;
    openFragment(lsn);
    return lsn;
  }

  /** Appends one byte. */
  public void putByte(int value) {
    if (next == runEnd) {
      nextRun();
    }
    memory.putByte(next++, (byte) value);
    if (doubted) {
      singles = singles >>> Byte.SIZE | (long) value << Long.SIZE - Byte.SIZE;
      if (++singleCount == Long.BYTES) {
        checkSingles();
      }
    }
  }

  /** Looks at the bytes that were stored one by one. */
  private void checkSingles() {
    if (singleCount > 0) {
      ring.ensureHas(next, singles, singleCount);
      singleCount = 0;
    }
  }

  /** Appends an unsigned number in {@link #varintBytes} bytes: seven bits each, lowest first. */
  public void putVarint(int value) {
    int rest = value;
    while ((rest & ~0x7F) != 0) {
      putByte(rest | 0x80);
      rest >>>= 7;
    }
    putByte(rest);
  }

  /** Bytes that {@link #putVarint} takes, 1 to 5. */
  public static int varintBytes(int value) {
    return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
  }

  /** Appends bytes from the heap. */
  public void put(byte[] source, int offset, int length) {
    if (length <= runEnd - next) {
      store(source, offset, length);
      return;
    }
    for (int done = 0; done < length; ) {
      int piece = piece(length - done);
      store(source, offset + done, piece);
      done += piece;
    }
  }

  private void store(byte[] source, int offset, int length) {
    checkSingles();
    memory.put(next, source, offset, length);
    if (doubted && !ring.has(next, source, offset, length)) {
      ring.ensureTakes(next, length);
      memory.put(next, source, offset, length); // It is the caller who changes its array.
    }
    next += length;
  }

  /**
   * Ends the payload and stores the checksum. From here on replay finds the record, even if the
   * process dies. A failure of the machine can still take it.
   *
   * @throws IllegalStateException if fewer bytes were put than {@link #begin} was told
   */
  public void complete() {
    if (completed || at == NONE || next != runEnd || wrapped != 0 || remaining != 0) {
      throw new IllegalStateException("the payload of the record at LSN " + lsn + " is not whole");
    }
    checkSingles();
    int fragment = fragmented ? RecordLayout.LAST : RecordLayout.FULL;
    word1 = ring.finish(at, fragmentLength, RecordLayout.BATCH, fragment, log.durable(), crc);
    completed = true;
  }

  /**
   * Makes the record visible, and returns when it and everything before it is.
   *
   * @throws IllegalStateException if the record is not complete
   */
  public void publish() {
    if (!completed) {
      throw new IllegalStateException("the record at LSN " + lsn + " is not complete");
    }
    long mark = at;
    at = NONE;
    completed = false;
    ring.markApplied(mark, word1);
    ring.ensureMarked(mark);
    log.onPublished(lsn, mark + RecordLayout.HEADER_BYTES + Lsn.align(fragmentLength));
  }

  /**
   * Gives the record up: it takes its place in the log without effect, and is published, so that
   * nobody waits for it. Harmless when there is no record in hand.
   *
   * @return false if the record was complete already: then it stays in the log with its effect, and
   *     the store must fail if its memory does not hold all of it
   */
  public boolean abandon() {
    if (at == NONE) {
      return true;
    }
    if (completed) {
      publish();
      return false;
    }
    singleCount = 0;
    while (remaining > 0) {
      closeFragment(RecordLayout.VOID);
    }
    finishVoid();
    return true;
  }

  /** Writes and publishes a record without effect, whose promise covers all that is durable. */
  void promise() {
    begin(0);
    finishVoid();
  }

  /** Writes and publishes a fence. */
  void fence(long treeChanges) {
    begin(RecordLayout.FENCE_BYTES);
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      putByte((byte) (treeChanges >>> shift));
    }
    checkSingles();
    finish(RecordLayout.FENCE);
  }

  private void finishVoid() {
    finish(RecordLayout.VOID);
  }

  private void finish(int kind) {
    int fragment = fragmented ? RecordLayout.LAST : RecordLayout.FULL;
    word1 = ring.finish(at, fragmentLength, kind, fragment, log.durable(), crc);
    completed = true;
    publish();
  }

  /** Bytes of {@code wanted} that fit into the run in hand; at least one. */
  private int piece(int wanted) {
    if (next == runEnd) {
      nextRun();
    }
    return Math.min(wanted, runEnd - next);
  }

  private void nextRun() {
    checkSingles();
    if (wrapped > 0) {
      next = 0;
      runEnd = wrapped;
      wrapped = 0;
    } else if (remaining > 0) {
      closeFragment(RecordLayout.BATCH);
    } else {
      throw new IllegalStateException("more payload than announced at LSN " + lsn);
    }
  }

  private void closeFragment(int kind) {
    int fragment = at == lsn ? RecordLayout.FIRST : RecordLayout.MIDDLE;
    ring.finish(at, fragmentLength, kind, fragment, log.durable(), crc);
    // Nobody publishes a fragment: without this the ring would never be rid of it.
    log.advance();
    openFragment(at + RecordLayout.HEADER_BYTES + fragmentLength);
  }

  /** Leaves no record in hand if the log has stopped. */
  private void openFragment(long position) {
    at = NONE;
    fragmentLength = Math.min(remaining, ring.fragmentBytes);
    remaining -= fragmentLength;
    long payload = position + RecordLayout.HEADER_BYTES;
    long end = payload + Lsn.align(fragmentLength);
    if (end > ring.limit()) {
      log.awaitRoom(end);
    }
    at = position;
    next = ring.offset(payload);
    int contiguous = Math.min(fragmentLength, ring.bytes - next);
    runEnd = next + contiguous;
    wrapped = fragmentLength - contiguous;
  }
}
