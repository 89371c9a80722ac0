package io.isobardb.lsm.wal;

import static io.isobardb.lsm.wal.RecordLayout.FIRST;
import static io.isobardb.lsm.wal.RecordLayout.FULL;
import static io.isobardb.lsm.wal.RecordLayout.HEADER_BYTES;
import static io.isobardb.lsm.wal.RecordLayout.LAST;
import static io.isobardb.lsm.wal.RecordLayout.MIDDLE;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.page.MemoryChecksum;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The part of the stream that is in memory: byte {@code p} of the stream stands at {@code p mod
 * bytes}.
 *
 * <pre>
 *   freed <= written <= completed         <= tail     (the log's writer)
 *   freed <= walked (visible)             <= tail     (whoever publishes)
 *   a byte p may be written to while p < limit = min(freed + bytes, spaceEnd)
 * </pre>
 *
 * <p>The bytes are a file mapped into memory ({@link RingFile}): what is complete here is not lost
 * if the process ends, however it ends. At first only a part of the file has space on the disk, and
 * nothing may be stored to the rest. That part begins at the block where the log was opened. It
 * doubles until it is the whole ring, after which {@code limit} is {@code freed + bytes} for good.
 *
 * <p>On a file system that copies on write, a store to the mapped file may fail for want of room.
 * The JVM goes on behind it, and throws an {@code InternalError} much later, or never. So what was
 * stored is looked at there before a checksum vouches for it.
 *
 * <p>The writer that advances {@code tail} owns the bytes it passed. Every byte in {@code [tail,
 * limit)} is 0, so a record's word 0 is 0 until its writer stores it, last and with release. The
 * owner marks the record applied later, with a store to its own header; nobody else writes it.
 *
 * <p>{@code walked} is the end of the longest prefix of applied records; its lowest bit is set
 * while it stands between the fragments of a record, whose start is then in {@code held}. Fragments
 * but the last count as applied at once, for a record may be larger than the ring. A thread that
 * walks with an outdated {@code walked} may read reused bytes, but positions never return, so that
 * its compare-and-set fails.
 *
 * <p>Thread rule: any thread, except as noted.
 */
final class Ring {
  private static final VarHandle AT = MethodHandles.arrayElementVarHandle(long[].class);

  /** Indices into {@link #positions}, 128 bytes apart. */
  private static final int TAIL = 16;

  private static final int WALKED = 32;
  private static final int HELD = 48;
  private static final int FREED = 64;
  private static final int LIMIT = 80;

  private static final long INSIDE = 1;

  /** A store fails for a whole page of the system. */
  static final int SYSTEM_PAGE = 4096;

  private static final int CACHE_LINE = 64;

  /** Of so many bytes all are looked at. */
  private static final int CHECKED_WHOLE = 256;

  /** No position of the stream. */
  static final long NO_ROOM = -1;

  final Memory memory;
  final int bytes;
  final long storeSeed;

  /** The most payload that one header stands for. */
  final int fragmentBytes;

  private final int mask;
  private final long[] positions = new long[96];

  /** Whether what is stored is looked at. */
  private final boolean doubted;

  /** The block of the stream from which the ring has space. */
  private long spaceStart;

  private volatile int spaceBytes;

  /**
   * @param memory as large as the ring; all zeros
   * @param storeSeed see {@link RecordLayout#seed}
   * @param doubted whether what is stored to the memory may not be there
   */
  Ring(Memory memory, long storeSeed, boolean doubted) {
    this.memory = memory;
    this.bytes = memory.size();
    this.mask = bytes - 1;
    this.storeSeed = storeSeed;
    this.doubted = doubted;
    this.fragmentBytes = bytes / 4 - HEADER_BYTES;
  }

  /**
   * Makes the ring empty, at a position of the stream. Before anybody else uses it.
   *
   * @param space how many bytes have space on the disk from the position's block on; the ring's
   *     size, divided by a power of two
   */
  void reset(long position, int space) {
    spaceStart = blockOf(position);
    spaceBytes = space;
    AT.setVolatile(positions, TAIL, position);
    AT.setVolatile(positions, WALKED, position);
    moveLimit(position);
  }

  /** Where the block of the stream begins that a position is in. */
  static long blockOf(long position) {
    return position & -DataFile.BLOCK;
  }

  /** Where a position of the stream stands in {@link #memory}. */
  int offset(long position) {
    return (int) position & mask;
  }

  /** Bytes of the stream that a record with this payload takes, all its fragments included. */
  long recordBytes(int payloadLength) {
    if (payloadLength <= fragmentBytes) {
      return HEADER_BYTES + Lsn.align(payloadLength);
    }
    long before = (payloadLength - 1) / fragmentBytes;
    long last = payloadLength - before * fragmentBytes;
    return before * (HEADER_BYTES + fragmentBytes) + HEADER_BYTES + Lsn.align(last);
  }

  /**
   * Takes the next bytes of the stream, unless there is no room now for the first of them.
   *
   * <p>While there is room for an eighth of the ring more, many threads may take their place at
   * once. Then they do so one by one, so that none takes a place without room.
   *
   * @param firstBytes at most {@code recordBytes}
   * @return the position, or {@link #NO_ROOM}
   */
  long reserve(long firstBytes, long recordBytes) {
    long tail = (long) AT.getVolatile(positions, TAIL);
    if (tail + firstBytes <= limit() - bytes / 8) {
      return (long) AT.getAndAdd(positions, TAIL, recordBytes);
    }
    while (tail + firstBytes <= limit()) {
      if (AT.compareAndSet(positions, TAIL, tail, tail + recordBytes)) {
        return tail;
      }
      tail = (long) AT.getVolatile(positions, TAIL);
    }
    return NO_ROOM;
  }

  long tail() {
    return (long) AT.getVolatile(positions, TAIL);
  }

  long freed() {
    return (long) AT.getAcquire(positions, FREED);
  }

  /** The end of what may be written to now. */
  long limit() {
    return (long) AT.getAcquire(positions, LIMIT);
  }

  /** How much of the ring has space on the disk. */
  int spaceBytes() {
    return spaceBytes;
  }

  /** The end of what may be written to, however much is freed; unlimited with a whole ring. */
  long spaceEnd() {
    int space = spaceBytes;
    return space == bytes ? Long.MAX_VALUE : spaceStart + space;
  }

  /**
   * Whether the part without space is needed soon: less than half of the other part is left, and
   * half a batch, since nobody looks before a batch is written.
   */
  boolean isShort(int batchBytes) {
    return spaceEnd() - tail() < spaceBytes / 2 + batchBytes / 2;
  }

  /** The part behind {@link #spaceEnd}, as large as all before, has its space now. */
  synchronized void doubleSpace() {
    spaceBytes = 2 * spaceBytes;
    moveLimit(freed());
  }

  private synchronized void moveLimit(long freed) {
    AT.setVolatile(positions, FREED, freed);
    AT.setVolatile(positions, LIMIT, Math.min(freed + bytes, spaceEnd()));
  }

  long walked() {
    return (long) AT.getVolatile(positions, WALKED) & ~INSIDE;
  }

  /** The end of the longest prefix of whole applied records. */
  long visibleEnd() {
    for (; ; ) {
      long walked = (long) AT.getVolatile(positions, WALKED);
      if ((walked & INSIDE) == 0) {
        return walked;
      }
      long held = (long) AT.getVolatile(positions, HELD);
      if ((long) AT.getVolatile(positions, WALKED) == walked) {
        return held;
      }
    }
  }

  /** Word 0 of the record at {@code position}; 0 if it is not finished or has no room yet. */
  long finishedWord(long position) {
    return position < limit() ? memory.getLongAcquire(offset(position)) : 0;
  }

  /**
   * Finishes a record, or a fragment, whose payload is in place: computes the checksum and stores
   * the header. From here on the log's writer may write it to the file.
   *
   * @param crc of {@link #memory}; the caller's own
   * @return word 1 as stored
   */
  long finish(long at, int length, int kind, int fragment, long durable, MemoryChecksum crc) {
    long word1 = RecordLayout.word1(RecordLayout.promise(at, durable), kind, fragment);
    int from = offset(at + 8);
    memory.putLong(from, word1);
    int covered = 8 + (int) Lsn.align(length);
    crc.reset();
    int contiguous = Math.min(covered, bytes - from);
    crc.update(from, contiguous);
    if (contiguous < covered) {
      crc.update(0, covered - contiguous);
    }
    ensureHasWord(from, word1);
    if (fragment == FIRST || fragment == MIDDLE) {
      memory.putLong(from, word1 | RecordLayout.APPLIED);
    }
    int sum = RecordLayout.sum(crc.value(), at, length, storeSeed);
    long word0 = RecordLayout.word0(length, sum);
    memory.putLongRelease(offset(at), word0);
    if (fragment == FULL || fragment == LAST) { // Others may be freed by now.
      ensureHasWord(offset(at), word0);
    }
    return word1;
  }

  /** Checks a word that was stored. Its halves are read, which no compiler takes from the store. */
  private void ensureHasWord(int offset, long word) {
    if (doubted
        && (memory.getIntOpaque(offset) != (int) word
            || memory.getIntOpaque(offset + Integer.BYTES) != (int) (word >>> Integer.SIZE))) {
      throw lost();
    }
  }

  /**
   * Checks up to eight bytes that were stored one by one.
   *
   * @param end of them
   * @param bytes the last of them highest
   */
  void ensureHas(int end, long bytes, int count) {
    if (end >= Long.BYTES) {
      long difference = memory.getLong(end - Long.BYTES) ^ bytes;
      if (difference >>> Long.SIZE - Byte.SIZE * count != 0) {
        throw lost();
      }
      return;
    }
    long first = memory.getLong(0) << Long.SIZE - Byte.SIZE * end;
    if ((first ^ bytes) >>> Long.SIZE - Byte.SIZE * count != 0) {
      throw lost();
    }
  }

  /** Whether what is stored is to be looked at. */
  boolean isDoubted() {
    return doubted;
  }

  /** Whether bytes that were stored are there. Of many a part is looked at, of each page some. */
  boolean has(int offset, byte[] source, int sourceOffset, int length) {
    int whole = Math.min(length, CHECKED_WHOLE);
    boolean same = memory.compare(offset, whole, source, sourceOffset, whole) == 0;
    int end = Math.min(length - whole, CACHE_LINE);
    for (int at = whole; same && at < length - end; at += CACHE_LINE) {
      same = memory.compare(offset + at, 8, source, sourceOffset + at, 8) == 0;
    }
    int last = length - end;
    return same && memory.compare(offset + last, end, source, sourceOffset + last, end) == 0;
  }

  /** Checks that each page takes what is stored to it. Changes the bytes. */
  void ensureTakes(int offset, int length) {
    for (int at = offset; at < offset + length; at = (at | SYSTEM_PAGE - 1) + 1) {
      int shift = Byte.SIZE * (at & 3);
      int before = memory.getIntOpaque(at & -4) >>> shift;
      memory.putByte(at, (byte) ~before);
      if ((byte) (memory.getIntOpaque(at & -4) >>> shift) == (byte) before) {
        throw lost();
      }
    }
  }

  /** Checks that a record was marked applied, unless all have moved on over it. */
  void ensureMarked(long at) {
    if (doubted
        && walked() <= at
        && (memory.getLongOpaque(offset(at + 8)) & RecordLayout.APPLIED) == 0
        && walked() <= at) {
      throw lost();
    }
  }

  private static InternalError lost() {
    return new InternalError(
        "what was stored to the file RING, which is mapped, is not there: the disk is full, if its"
            + " file system copies on write, or the device failed");
  }

  /** Marks a finished record applied; {@code word1} is what {@link #finish} gave. */
  void markApplied(long at, long word1) {
    memory.putLongRelease(offset(at + 8), word1 | RecordLayout.APPLIED);
  }

  void finishMarker(long at) {
    long word = RecordLayout.markerWord(at, storeSeed);
    memory.putLongRelease(offset(at), word);
    ensureHasWord(offset(at), word);
  }

  void markMarkerApplied(long at) {
    long word = RecordLayout.markerWord(at, storeSeed) | RecordLayout.MARKER_APPLIED;
    memory.putLongRelease(offset(at), word);
  }

  /**
   * Moves {@code walked} over all that is applied.
   *
   * <p>A caller that has marked a record applied and does not find it covered afterwards must call
   * this again behind a full fence before it waits: of two threads whose records are neighbours,
   * one then sees the other's mark.
   *
   * @return whether this call moved it
   */
  boolean walk() {
    boolean moved = false;
    for (; ; ) {
      long from = (long) AT.getVolatile(positions, WALKED);
      long to = appliedFrom(from);
      if (to == from) {
        return moved;
      }
      if ((from & INSIDE) == 0 && (to & INSIDE) != 0) {
        hold(from);
      }
      moved |= AT.compareAndSet(positions, WALKED, from, to);
    }
  }

  /** One step of {@link #walk}: any number of whole records, or one fragment. */
  private long appliedFrom(long from) {
    long limit = limit();
    long start = from & ~INSIDE;
    long p = start;
    while (p < limit) {
      long word0 = memory.getLongAcquire(offset(p));
      if (RecordLayout.isMarker(word0)) {
        if ((word0 & RecordLayout.MARKER_APPLIED) == 0) {
          break;
        }
        p += RecordLayout.MARKER_BYTES;
        continue;
      }
      if (word0 == 0 || RecordLayout.length(word0) < 0) {
        break;
      }
      long word1 = memory.getLongAcquire(offset(p + 8));
      if ((word1 & RecordLayout.APPLIED) == 0) {
        break;
      }
      int fragment = RecordLayout.fragment(word1);
      long next = p + RecordLayout.sizeBytes(word0);
      if (fragment != FULL) {
        if (p > start) {
          break;
        }
        return fragment == LAST ? next : next | INSIDE;
      }
      p = next;
    }
    return p == start ? from : p;
  }

  private void hold(long position) {
    long held = (long) AT.getVolatile(positions, HELD);
    while (held < position && !AT.compareAndSet(positions, HELD, held, position)) {
      held = (long) AT.getVolatile(positions, HELD);
    }
  }

  /** Copies bytes of the stream out; by the log's writer. */
  void copyTo(Memory target, int targetOffset, long position, int length) {
    int from = offset(position);
    int contiguous = Math.min(length, bytes - from);
    target.copyFrom(targetOffset, memory, from, contiguous);
    target.copyFrom(targetOffset + contiguous, memory, 0, length - contiguous);
  }

  /**
   * Zeroes all below {@code position} and hands it out again; by the log's writer.
   *
   * @return false if the mapped file did not take the zeros; then nothing is handed out
   */
  boolean free(long position) {
    long freed = freed();
    int from = offset(freed);
    int length = (int) (position - freed);
    int contiguous = Math.min(length, bytes - from);
    memory.zero(from, contiguous);
    memory.zero(0, length - contiguous);
    if (doubted && (!isZero(from, contiguous) || !isZero(0, length - contiguous))) {
      return false;
    }
    moveLimit(position);
    return true;
  }

  /** Looks at a word of each line: a store fails for whole pages. */
  private boolean isZero(int from, int length) {
    for (int at = from; at < from + length; at += CACHE_LINE) {
      if (memory.getLongOpaque(at) != 0) {
        return false;
      }
    }
    return true;
  }
}
