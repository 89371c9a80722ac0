package io.isobardb.lsm.wal;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.BitSet;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file behind the log's {@link Ring}. The ring is this file mapped into memory, so a record is
 * in the hands of the system as soon as it is complete, and outlives the process.
 *
 * <pre>
 *   0  magic                   8
 *   8  format version          4
 *  12  checksum                4   masked CRC32C of the block with this field 0
 *  16  store id               16
 *  32  ring bytes              8   a power of two
 *  40  0                    4056
 *  4096 the ring: byte p of the stream stands at p mod ring bytes
 * </pre>
 *
 * <p>When a log is opened, records that the segments lack are looked for here: see {@link
 * LogReplay}. They need no other mark than their checksum, which binds store and LSN. Two rules
 * keep an old record from being taken for a new one with the same LSN:
 *
 * <ul>
 *   <li>The log never gives an LSN out twice while it is open.
 *   <li>The ring is zeroed, and that is synced, before the first record of an opened log.
 * </ul>
 *
 * <p>A store to mapped memory without space on the disk kills the process. So zeros are written to
 * a part of the ring before anybody may store to it. A new file has its whole length, but space for
 * {@link #firstBytes} of the ring only. {@link #giveSpace} adds to them as the log is written. That
 * need not be synced: what was never written to a new file is zeros anyhow.
 *
 * <p>Thread rule: one thread, but for {@link #sync}, {@link #giveSpace} and the mapped memory.
 * Calls of {@code giveSpace} come one after another.
 */
final class RingFile implements AutoCloseable {
  static final String NAME = "RING";
  private static final String TEMPORARY = "RING.tmp";

  static final int HEADER_BYTES = DataFile.BLOCK;

  private static final long MAGIC = 0x4752_5241_424F_5349L; // "ISOBARRG"
  private static final int VERSION = 1;
  private static final int VERSION_AT = 8;
  private static final int CHECKSUM_AT = 12;
  private static final int STORE_AT = 16;
  private static final int RING_BYTES_AT = 32;
  private static final int MIN_RING_BYTES = 16 << 10;
  private static final int FIRST_BYTES = 512 << 10;

  private final DataFile file;
  private final int ringBytes;
  private final Memory scratch;

  /** Words that hold a record's state, by position in the ring over 8: see {@link #ignoreState}. */
  private final BitSet states = new BitSet();

  /** The same for markers. */
  private final BitSet markers = new BitSet();

  /** Whether what the file lacks at its end is taken for zeros. */
  private boolean salvaged;

  private RingFile(DataFile file, int ringBytes, Memory scratch) {
    this.file = file;
    this.ringBytes = ringBytes;
    this.scratch = scratch;
  }

  /**
   * Opens the ring that an earlier run left, to read it.
   *
   * @param scratch memory for a block, which is overwritten
   * @return null if there is none
   * @throws CorruptionException if its header is damaged, or it is of another store
   * @throws FormatException if it is of a newer version
   */
  static @Nullable RingFile find(Storage storage, UUID storeId, Memory scratch) throws IOException {
    if (!storage.exists(NAME)) {
      return null;
    }
    DataFile file = storage.open(NAME, IoMode.BUFFERED);
    try {
      int length = file.read(0, scratch, 0, HEADER_BYTES);
      return new RingFile(file, decode(scratch, length, storeId), scratch);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /**
   * Makes the file for a new ring. The ring is all zeros, durably. What an earlier opening left is
   * deleted, not used: a process that lost its lock may have it mapped. Its records must be in
   * segments, durably.
   *
   * @param from the block of the stream from which {@link #firstBytes} have space
   * @param scratch as {@link Segments#SCRATCH_BYTES} says
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room for it
   */
  static RingFile create(Storage storage, UUID storeId, int ringBytes, long from, Memory scratch)
      throws IOException {
    storage.delete(NAME);
    storage.delete(TEMPORARY);
    encode(scratch, ringBytes, storeId);
    try (DataFile file = storage.create(TEMPORARY, IoMode.BUFFERED)) {
      file.write(0, scratch, 0, HEADER_BYTES);
      long lastBlock = HEADER_BYTES + (long) ringBytes - DataFile.BLOCK;
      file.write(lastBlock, scratch, HEADER_BYTES, DataFile.BLOCK);
      new RingFile(file, ringBytes, scratch).giveSpace(from, firstBytes(ringBytes));
      file.sync();
    }
    storage.rename(TEMPORARY, NAME);
    storage.syncDirectory();
    return new RingFile(storage.open(NAME, IoMode.BUFFERED), ringBytes, scratch);
  }

  /** How much of a new ring has space: at least one more part of that size is left. */
  static int firstBytes(int ringBytes) {
    return Math.min(FIRST_BYTES, ringBytes / 2);
  }

  /**
   * Gives a part of the ring its space on the disk. Nothing may have been stored there.
   *
   * @param from a block of the stream
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room for it; nothing else has
   *     changed then
   */
  void giveSpace(long from, int bytes) throws IOException {
    for (int done = 0; done < bytes; ) {
      int at = (int) (from + done) & ringBytes - 1;
      int length = Math.min(Math.min(Segments.ZERO_BYTES, bytes - done), ringBytes - at);
      file.write(HEADER_BYTES + (long) at, scratch, HEADER_BYTES, length);
      done += length;
    }
  }

  /** The ring, as memory; valid until {@link #close}. Only parts with space may be stored to. */
  Memory map() throws IOException {
    return file.map(HEADER_BYTES, ringBytes);
  }

  /**
   * Makes durable what was stored in the mapped ring before the call. Any thread.
   *
   * @throws IOException if it failed, for lack of room too
   */
  void sync() throws IOException {
    try {
      file.sync();
    } catch (DiskFullException e) {
      throw new IOException("sync of " + NAME + " failed", e);
    }
  }

  int ringBytes() {
    return ringBytes;
  }

  /** Takes what the file lacks at its end for zeros from now on; gives where that begins, or -1. */
  long salvage() throws IOException {
    salvaged = true;
    long size = file.size();
    return size < HEADER_BYTES + (long) ringBytes ? size : -1;
  }

  /** Whether anything stands at a position of the stream, were it of an earlier one. */
  boolean holds(long position) throws IOException {
    read(position, scratch, 0, Long.BYTES);
    return scratch.getLong(0) != 0;
  }

  /**
   * The word at this position of the stream holds the state of a record, or of a marker: from now
   * on it is read as it stands in segments, where there is no state.
   */
  void ignoreState(long position, boolean marker) {
    (marker ? markers : states).set((int) (position & ringBytes - 1) >>> 3);
  }

  /** Reads bytes of the stream, at most as many as the ring has. */
  void read(long position, Memory target, int targetOffset, int length) throws IOException {
    int from = (int) position & ringBytes - 1;
    int contiguous = Math.min(length, ringBytes - from);
    readPart(from, target, targetOffset, contiguous);
    if (contiguous < length) {
      readPart(0, target, targetOffset + contiguous, length - contiguous);
    }
  }

  private void readPart(int from, Memory target, int targetOffset, int length) throws IOException {
    int got = file.read(HEADER_BYTES + (long) from, target, targetOffset, length);
    if (got < length && salvaged) {
      target.zero(targetOffset + got, length - got);
    } else if (got < length) {
      throw new CorruptionException(NAME, HEADER_BYTES + (long) from + got, "the file ends here");
    }
    clear(states, RecordLayout.APPLIED, from, target, targetOffset, length);
    clear(markers, RecordLayout.MARKER_APPLIED, from, target, targetOffset, length);
  }

  private static void clear(
      BitSet words, long state, int from, Memory target, int targetOffset, int length) {
    int end = from + length >>> 3;
    for (int word = words.nextSetBit(from >>> 3);
        word >= 0 && word < end;
        word = words.nextSetBit(word + 1)) {
      int at = targetOffset + (word << 3) - from;
      target.putLong(at, target.getLong(at) & ~state);
    }
  }

  private static void encode(Memory block, int ringBytes, UUID storeId) {
    block.zero(0, HEADER_BYTES);
    block.putLong(0, MAGIC);
    block.putInt(VERSION_AT, VERSION);
    block.putLong(STORE_AT, storeId.getMostSignificantBits());
    block.putLong(STORE_AT + 8, storeId.getLeastSignificantBits());
    block.putLong(RING_BYTES_AT, ringBytes);
    block.putInt(CHECKSUM_AT, checksum(block));
  }

  private static int decode(Memory block, int length, UUID storeId) {
    if (length < HEADER_BYTES) {
      throw new CorruptionException(NAME, 0, "the header ends after " + length + " bytes");
    }
    if (block.getLong(0) != MAGIC) {
      throw new CorruptionException(NAME, 0, "no ring of a log: wrong magic");
    }
    int version = block.getInt(VERSION_AT);
    if (version > VERSION) {
      throw FormatException.newer(NAME, version, VERSION);
    }
    int stored = block.getInt(CHECKSUM_AT);
    block.putInt(CHECKSUM_AT, 0);
    if (version != VERSION || stored != checksum(block)) {
      throw new CorruptionException(NAME, 0, "wrong checksum of the header");
    }
    UUID store = new UUID(block.getLong(STORE_AT), block.getLong(STORE_AT + 8));
    if (!store.equals(storeId)) {
      throw new CorruptionException(
          NAME, STORE_AT, "it belongs to store " + store + ", not to " + storeId);
    }
    long ringBytes = block.getLong(RING_BYTES_AT);
    if (Long.bitCount(ringBytes) != 1 || ringBytes < MIN_RING_BYTES || ringBytes > 1 << 30) {
      throw new CorruptionException(NAME, RING_BYTES_AT, "a ring of " + ringBytes + " bytes");
    }
    return (int) ringBytes;
  }

  private static int checksum(Memory block) {
    CRC32C crc = new CRC32C();
    block.update(crc, 0, HEADER_BYTES);
    return RecordLayout.mask((int) crc.getValue());
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
