package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The store's one log: gives writes their order, makes them durable, and gives them back at open.
 *
 * <p>A record's position in the stream is its LSN. Writers take places and encode in parallel
 * ({@link LogRecord}); one service writes and syncs for all of them. {@link #visible} moves over
 * records in the order of their LSNs as they are published, {@link #durable} as they are synced.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #close} when no other call is in
 * progress.
 *
 * <p>Errors: the first failed write or sync stops the log for good: {@code StoreFailedException}
 * with the cause, from then on. {@code DiskFullException} passes when there is room again.
 */
public final class Log implements AutoCloseable {
  /** Looks for earlier writers, which are about to be done, before a wait that costs more. */
  private static final int SPINS = 64;

  private final Ring ring;
  private final Segments segments;
  private final LogWriter writer;
  private final Signal visibleChanged;
  private final Storage storage;
  private final LogMemory memory;
  private final long droppedBytes;
  private boolean closed;

  private Log(
      Ring ring,
      Segments segments,
      LogMemory memory,
      LogSite site,
      LogOptions options,
      long droppedBytes) {
    this.ring = ring;
    this.segments = segments;
    this.storage = site.environment().storage();
    this.memory = memory;
    this.droppedBytes = droppedBytes;
    this.visibleChanged = site.environment().scheduler().signal(Awaited.EARLIER_WRITES);
    this.writer =
        new LogWriter(ring, segments, memory, site, options.asyncSyncNanos(), visibleChanged);
  }

  /**
   * Opens the log, or creates it if there is none and nothing is known of one that starts behind
   * {@link Lsn#FIRST}; hands all records from its start on to {@code handler}. A torn tail is cut
   * off, see {@link #droppedBytes}. What is handed over is durable already, so that the handler may
   * act on it for good; new records follow it. Comes after {@link #deleteSpares}. No file that was
   * there is written to: a process that lost the directory to us may have it open.
   *
   * @param handler may throw {@code IllegalArgumentException} for a payload that is none
   * @throws io.isobardb.lsm.error.CorruptionException if a record is damaged, or a segment missing,
   *     that is not part of a torn tail; no file was changed. Or if a record is no payload
   * @throws io.isobardb.lsm.error.FormatException if a segment is of a newer version or of another
   *     store; no file was changed
   */
  public static Log open(LogSite site, LogOptions options, LogExtent extent, LogHandler handler)
      throws IOException {
    long startLsn = extent.startLsn();
    if (startLsn < Lsn.FIRST || startLsn % Lsn.ALIGNMENT != 0) {
      throw new IllegalArgumentException("no position of a record: " + startLsn);
    }
    Environment environment = site.environment();
    Storage storage = environment.storage();
    UUID storeId = site.storeId();
    LogMemory memory = new LogMemory(site.pool(), options.ringBytes());
    Segments segments = null;
    try {
      segments = new Segments(storage, storeId, memory.scratch(), options);
      List<SegmentLayout> headers = segments.find(extent);
      long end = startLsn;
      long dropped = 0;
      if (headers.isEmpty()) {
        segments.roll(0);
      } else {
        try (RingFile left = RingFile.find(storage, storeId, memory.scratch());
            LogReplay replay =
                new LogReplay(
                    segments, headers, memory.window(), left, RecordLayout.seed(storeId))) {
          recover(segments, replay, extent, memory, handler);
          end = replay.end();
          dropped = replay.droppedBytes();
        }
      }
      segments.deleteDropped();
      Ring ring;
      try {
        ring = memory.mapRing(storage, storeId, end);
      } catch (DiskFullException e) {
        throw noRoom("opening a store writes the file " + RingFile.NAME + " anew", e);
      }
      Log log = new Log(ring, segments, memory, site, options, dropped);
      log.writer.start(end, environment.scheduler());
      return log;
    } catch (Throwable e) {
      release(segments, memory, e);
      throw e;
    }
  }

  /** Replays; what is handed over is durable in the segments before. */
  private static void recover(
      Segments segments, LogReplay replay, LogExtent extent, LogMemory memory, LogHandler handler)
      throws IOException {
    try {
      segments.settleFound(extent.startLsn(), memory.window());
    } catch (DiskFullException e) {
      throw noRoom("opening a store writes the last segment of its log anew", e);
    }
    replay.run(
        extent,
        LogScan.checked(segments, handler),
        (from, to, wholeEnd) -> {
          try {
            segments.complete(from, to, wholeEnd, replay, memory.stage());
          } catch (DiskFullException e) {
            String left = (to - from) + " bytes of log in " + RingFile.NAME;
            throw noRoom("the last process left " + left + " that need room in a log segment", e);
          }
          return true;
        });
    replay.copyLastBlock(memory.stage());
    segments.cut(replay.end(), replay.torn(), memory.stage(), memory.window());
  }

  private static DiskFullException noRoom(String why, DiskFullException e) {
    return new DiskFullException(
        "the disk is full, and "
            + why
            + "; nothing is lost: make room, and open the store again, or open it to be read only: "
            + e.getMessage(),
        e);
  }

  /**
   * Deletes the files that the last process kept to become segments. Nothing is lost with them, and
   * a full disk has room then for what is written anew.
   */
  public static void deleteSpares(Storage storage) throws IOException {
    Segments.deleteSpares(storage);
  }

  /**
   * Checks that {@link #open} would find all segments, and the ring, of a version that it can read.
   * Changes nothing on disk.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if a segment is missing, or its header bad
   * @throws io.isobardb.lsm.error.FormatException if a file is of a newer version or of another
   *     store
   */
  public static void check(LogSite site, LogOptions options, LogExtent extent) throws IOException {
    Storage storage = site.environment().storage();
    UUID storeId = site.storeId();
    Block scratch = site.pool().blocks().allocate(Segments.SCRATCH_BYTES, Purpose.LOG);
    try {
      RingFile ring = RingFile.find(storage, storeId, scratch.memory());
      if (ring != null) {
        ring.close();
      }
      new Segments(storage, storeId, scratch.memory(), options).find(extent);
    } finally {
      site.pool().release(scratch);
    }
  }

  /**
   * Makes a log without records, in the directory of a store that has none, for {@link #open} with
   * the same start; durable when this returns.
   *
   * @param startLsn a multiple of the options' {@code segmentBytes}
   */
  public static void begin(
      Storage storage, PagePool pool, LogOptions options, UUID storeId, long startLsn)
      throws IOException {
    Block scratch = pool.blocks().allocate(Segments.SCRATCH_BYTES, Purpose.LOG);
    try {
      new Segments(storage, storeId, scratch.memory(), options)
          .begin(startLsn / options.segmentBytes());
    } finally {
      pool.release(scratch);
    }
  }

  /** Bytes of a pool that an open log with such a ring takes. */
  public static long memoryBytes(int ringBytes) {
    return LogMemory.bytes(ringBytes);
  }

  private static void release(@Nullable Segments segments, LogMemory memory, Throwable cause) {
    try (memory) {
      if (segments != null) {
        segments.close();
      }
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** An encoder for the records of one thread at a time; to be kept and reused. */
  public LogRecord newRecord() {
    return new LogRecord(this, ring);
  }

  /**
   * Takes a place in the order for a write that is not logged. It must be given to {@link
   * #publishMarker} in any case: later writers and their readers wait for it.
   *
   * @return the write's LSN
   */
  public long reserveMarker() {
    checkNotFailed();
    long lsn = reserve(RecordLayout.MARKER_BYTES, RecordLayout.MARKER_BYTES);
    finishMarker(lsn);
    return lsn;
  }

  /**
   * Takes the place of a marker without waiting. Then {@link #finishMarker} is to follow at once,
   * and {@link #publishMarker} in any case: until then nothing from there on becomes visible, but
   * the log can be durable beyond it.
   *
   * @return the LSN; -1 if there is no room in the ring now
   */
  public long tryReserveMarker() {
    return ring.reserve(RecordLayout.MARKER_BYTES, RecordLayout.MARKER_BYTES);
  }

  /** Writes the marker whose place was taken; may wait for room in the ring. */
  public void finishMarker(long lsn) {
    long end = lsn + RecordLayout.MARKER_BYTES;
    if (end > ring.limit()) {
      awaitRoom(end);
    }
    ring.finishMarker(lsn);
  }

  /**
   * Writes a fence: after a crash the log ends here unless the manifest has so many changes of
   * trees. May wait for room in the ring.
   *
   * @throws DiskFullException if the ring has no room because the disk is full; there is no fence
   */
  public void fence(long treeChanges) {
    newRecord().fence(treeChanges);
  }

  /** Makes an unlogged write visible, and returns when it and everything before it is. */
  public void publishMarker(long lsn) {
    ring.markMarkerApplied(lsn);
    onPublished(lsn, lsn + RecordLayout.MARKER_BYTES);
  }

  /** Makes what is applied visible, and returns when all below {@code end} is. */
  void onPublished(long lsn, long end) {
    advance();
    if (ring.visibleEnd() < end) {
      awaitVisible(end);
    }
    writer.onPublished(lsn, end);
  }

  /** Moves over all that is applied. */
  void advance() {
    if (ring.walk()) {
      visibleChanged.raise();
    }
  }

  /**
   * Waits until all below {@code end} is visible.
   *
   * @throws StoreFailedException if the log has failed
   */
  public void awaitVisible(long end) {
    VarHandle.fullFence();
    for (int i = 0; i < SPINS; i++) {
      advance();
      if (ring.visibleEnd() >= end) {
        return;
      }
      Thread.onSpinWait();
    }
    visibleChanged.await(() -> ring.visibleEnd() >= end || writer.hasFailed());
    if (ring.visibleEnd() < end) {
      checkNotFailed();
    }
  }

  /**
   * The LSN to read at now: a reader at it sees every record that starts at or before it, and no
   * record that starts there is missing.
   */
  public long visible() {
    return ring.visibleEnd() - 1;
  }

  /**
   * The end of what is synced in the segments. While the disk is full, {@link #awaitDurable}
   * vouches for more.
   */
  public long durable() {
    return writer.durable();
  }

  /** The end of what is reserved: the next record's LSN, if nobody else is faster. */
  public long end() {
    return ring.tail();
  }

  /**
   * A gate to pass before a write begins.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if the log can't be written for want of room
   * @throws io.isobardb.lsm.error.StoreFailedException if the log has stopped
   */
  public void checkWritable() {
    writer.checkWritable();
  }

  /**
   * Waits until the record at {@code lsn}, which was published, and all before it survive a failure
   * of the machine. While the disk is full, the ring keeps them: it has its space on the disk.
   *
   * @throws io.isobardb.lsm.error.StoreFailedException if the log has stopped; whether the record
   *     is durable is unknown
   */
  public void awaitDurable(long lsn) {
    writer.awaitDurable(lsn);
  }

  /**
   * Waits as {@link #awaitDurable} for all that is visible now. A disk that was full is tried again
   * at once.
   */
  public void flush() {
    writer.tryAgain();
    writer.awaitDurable(ring.visibleEnd() - 1);
  }

  /**
   * Drops the files that hold nothing at or above {@code lsn}, which must be durable, and noted as
   * the log's start where {@link #open} will get it from.
   */
  public void truncateBefore(long lsn) throws IOException {
    writer.dropBefore(Math.min(lsn, writer.durable()));
  }

  /** Bytes of the stream from the start of the oldest file kept to {@link #end}. */
  public long sizeBytes() {
    return ring.tail() - segments.startPosition();
  }

  /** Bytes of a torn tail that {@link #open} cut off; 0 if the log ended cleanly. */
  public long droppedBytes() {
    return droppedBytes;
  }

  /** How often the log was synced since it was opened. */
  public long syncs() {
    return writer.syncs();
  }

  /** About how old the oldest record is that is not synced, at most; 0 if all are. */
  public long unsyncedNanos() {
    return writer.unsyncedNanos();
  }

  /** Whether there was no room on disk for the log's last write. */
  public boolean isDiskFull() {
    return writer.isDiskFull();
  }

  /** About what the log's files take on the disk, spares and the ring included. */
  public long allocatedBytes() {
    return segments.allocatedBytes() + RingFile.HEADER_BYTES + ring.spaceBytes();
  }

  /** Bytes written to segment files since the log was opened, rewritten blocks included. */
  public long writtenBytes() {
    return writer.writtenBytes();
  }

  /** Stops the log for good; all waiters and later writers get the cause. Idempotent. */
  public void fail(Throwable cause) {
    writer.latch(cause);
  }

  /** For tests of the order of publication. */
  Ring ring() {
    return ring;
  }

  void checkNotFailed() {
    writer.checkNotFailed();
  }

  /**
   * Takes a record's place. Waits until there is room in the ring for its first bytes, while the
   * writer may still turn back.
   *
   * @throws DiskFullException if there is none because the disk is full, or if the disk has no room
   *     for the bytes that the ring can't hold
   */
  long reserve(long firstBytes, long recordBytes) {
    if (firstBytes < recordBytes) {
      checkDiskRoom(recordBytes);
    }
    long lsn = ring.reserve(firstBytes, recordBytes);
    while (lsn == Ring.NO_ROOM) {
      VarHandle.fullFence();
      advance();
      writer.awaitPlace(firstBytes);
      lsn = ring.reserve(firstBytes, recordBytes);
    }
    return lsn;
  }

  /** A record that is larger than the ring could not turn back halfway. */
  private void checkDiskRoom(long recordBytes) {
    long usable;
    try {
      usable = storage.usableBytes();
    } catch (IOException unknown) {
      return;
    }
    long needed = recordBytes + ring.bytes - ring.spaceBytes();
    if (usable < needed) {
      throw new DiskFullException(
          "a write of "
              + recordBytes
              + " bytes needs "
              + needed
              + " bytes of room on the disk of "
              + storage.path()
              + ", which has "
              + usable
              + "; nothing was written");
    }
  }

  void awaitRoom(long end) {
    VarHandle.fullFence();
    advance();
    writer.awaitRoom(end);
  }

  /**
   * Makes all that is visible durable, with a last record that promises it, and closes the files. A
   * log that has stopped is closed as it stands.
   *
   * @throws io.isobardb.lsm.error.IsobarException if the sync failed; all is closed nevertheless
   */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      if (!writer.hasFailed()) {
        flush();
        newRecord().promise();
        flush();
      }
    } finally {
      writer.stop();
      try (memory) {
        segments.close();
      }
    }
  }
}
