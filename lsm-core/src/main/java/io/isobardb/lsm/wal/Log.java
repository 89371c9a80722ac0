package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The store's one log: gives writes their order, makes them durable, and gives them back at open.
 *
 * <p>A record's position in the stream is its LSN. Writers take places and encode in parallel
 * ({@link LogRecord}); one service writes and syncs for all of them. {@link #visible} moves over
 * records in the order of their LSNs as they are published, {@link #durable} as they are synced.
 *
 * <p>While it is replayed, the position that replay has reached stands in for it, so that flushes
 * can go on meanwhile.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #open}, {@link #onReplaying} and
 * {@link #onReplayed} by the opening one, {@link #close} when no other call is in progress. Methods
 * that need the log open throw {@code IllegalStateException} while it is replayed.
 *
 * <p>Errors: the first failed write or sync stops the log for good: {@code StoreFailedException}
 * with the cause, from then on. {@code DiskFullException} passes when there is room again.
 */
public final class Log implements AutoCloseable {
  /** Looks for earlier writers, which are about to be done, before a wait that costs more. */
  private static final int SPINS = 64;

  /** What there is once the log is open. */
  private record Parts(
      Ring ring,
      Segments segments,
      LogWriter writer,
      Signal visibleChanged,
      Storage storage,
      LogMemory memory,
      long droppedBytes) {}

  private final Lock applying = new ReentrantLock();

  /** Null until replay is over. */
  private volatile @Nullable Parts parts;

  /** Replay has applied everything below. */
  private volatile long replayedEnd = Lsn.FIRST;

  /** The record that is being replayed. */
  private volatile long replaying = Lsn.ZERO;

  private boolean closed;

  /** A log to be opened; until it is, it can only tell how far it is replayed. */
  public Log() {}

  /** Replay begins with the record at {@code lsn}, and has applied all before it. */
  public void onReplaying(long lsn) {
    // Between two records lies no position that a log could begin at.
    replaying = lsn;
    replayedEnd = lsn;
  }

  /** Replay has applied everything below {@code lsn}. */
  public void onReplayed(long lsn) {
    replayedEnd = lsn;
  }

  /** Whether replay is over. */
  public boolean isOpen() {
    return parts != null;
  }

  /**
   * What replay holds while it applies an operation, and so does a thread that seals an active
   * SSTable while the log is replayed. The boundary that it sets is the record being replayed, as
   * if none of it were on its way into that SSTable, which may be flushed and freed at once.
   */
  public Lock applying() {
    return applying;
  }

  private Parts parts() {
    Parts open = parts;
    if (open == null) {
      throw new IllegalStateException("the log is not open yet");
    }
    return open;
  }

  /**
   * Opens the log, or creates it if there is none and nothing is known of one that starts behind
   * {@link Lsn#FIRST}; hands all records from its start on to {@code handler}. A torn tail is cut
   * off, see {@link #droppedBytes}. What is handed over is durable already, so that the handler may
   * act on it for good; new records follow it. Comes after {@link #deleteSpares}. No file that was
   * there is written to: a process that lost the directory to us may have it open.
   *
   * @param handler may throw {@code IllegalArgumentException} for a payload that is none
   * @return this
   * @throws io.isobardb.lsm.error.CorruptionException if a record is damaged, or a segment missing,
   *     that is not part of a torn tail, or one is of another store; no file was changed. Or if a
   *     record is no payload
   * @throws io.isobardb.lsm.error.FormatException if a segment is of a newer version; no file was
   *     changed
   */
  public Log open(LogSite site, LogOptions options, LogExtent extent, LogHandler handler)
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
      Signal visibleChanged = environment.scheduler().signal(Awaited.EARLIER_WRITES);
      LogWriter writer =
          new LogWriter(ring, segments, memory, site, options.asyncSyncNanos(), visibleChanged);
      writer.start(end, environment.scheduler());
      parts = new Parts(ring, segments, writer, visibleChanged, storage, memory, dropped);
      return this;
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
   * @throws io.isobardb.lsm.error.CorruptionException if a segment is missing, its header bad, or a
   *     file of another store
   * @throws io.isobardb.lsm.error.FormatException if a file is of a newer version
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
    return new LogRecord(this, parts().ring);
  }

  /**
   * Takes a place in the order for a write that is not logged. It must be given to {@link
   * #publishMarker} in any case: later writers and their readers wait for it.
   *
   * @return the write's LSN
   */
  public long reserveMarker() {
    return reserveMarker(new WaitLimit());
  }

  /**
   * As {@link #reserveMarker()}, but waits no longer than {@code limit} says.
   *
   * @throws io.isobardb.lsm.error.WriteStalledException if that is not long enough; nothing is
   *     taken
   */
  public long reserveMarker(WaitLimit limit) {
    checkNotFailed();
    long lsn = reserve(RecordLayout.MARKER_BYTES, RecordLayout.MARKER_BYTES, limit);
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
    return parts().ring.reserve(RecordLayout.MARKER_BYTES, RecordLayout.MARKER_BYTES);
  }

  /** Writes the marker whose place was taken; may wait for room in the ring. */
  public void finishMarker(long lsn) {
    long end = lsn + RecordLayout.MARKER_BYTES;
    Ring ring = parts().ring;
    if (end > ring.limit()) {
      awaitRoom(end);
    }
    try {
      ring.finishMarker(lsn);
    } catch (InternalError e) {
      throw stop(e);
    }
  }

  /** The ring did not take what was stored to a place that was taken: all behind would wait. */
  private InternalError stop(InternalError cause) {
    LogWriter writer = parts().writer;
    if (!writer.hasFailed()) {
      writer.onFailed(cause);
    }
    return cause;
  }

  /**
   * Writes a fence: after a crash the log ends here unless the manifest has so many changes of
   * trees. May wait for room in the ring.
   *
   * @throws DiskFullException if the ring has no room because the disk is full; there is no fence
   */
  public void fence(long treeChanges) {
    try {
      newRecord().fence(treeChanges);
    } catch (InternalError e) {
      throw stop(e);
    }
  }

  /** Makes an unlogged write visible, and returns when it and everything before it is. */
  public void publishMarker(long lsn) {
    parts().ring.markMarkerApplied(lsn);
    onPublished(lsn, lsn + RecordLayout.MARKER_BYTES);
  }

  /** Makes what is applied visible, and returns when all below {@code end} is. */
  void onPublished(long lsn, long end) {
    Parts open = parts();
    advance(open);
    if (open.ring.visibleEnd() < end) {
      awaitVisible(end);
    }
    open.writer.onPublished(lsn, end);
  }

  /** Moves over all that is applied. */
  void advance() {
    advance(parts());
  }

  private static void advance(Parts open) {
    if (open.ring.walk()) {
      open.visibleChanged.raise();
    }
  }

  /**
   * Waits until all below {@code end} is visible.
   *
   * @throws StoreFailedException if the log has failed
   */
  public void awaitVisible(long end) {
    Parts open = parts();
    Ring ring = open.ring;
    VarHandle.fullFence();
    for (int i = 0; i < SPINS; i++) {
      advance(open);
      if (ring.visibleEnd() >= end) {
        return;
      }
      Thread.onSpinWait();
    }
    open.visibleChanged.await(() -> ring.visibleEnd() >= end || open.writer.hasFailed());
    if (ring.visibleEnd() < end) {
      checkNotFailed();
    }
  }

  /**
   * The LSN to read at now: a reader at it sees every record that starts at or before it, and no
   * record that starts there is missing. While the log is replayed, what replay has reached.
   */
  public long visible() {
    Parts open = parts;
    return (open != null ? open.ring.visibleEnd() : replayedEnd) - 1;
  }

  /**
   * The end of what is synced in the segments. While the disk is full, {@link #awaitDurable}
   * vouches for more. While the log is replayed, the record that is being replayed: what comes
   * before it was synced first, so what a replay has flushed need not be flushed again after a
   * crash.
   */
  public long durable() {
    Parts open = parts;
    return open != null ? open.writer.durable() : replaying;
  }

  /** The end of what is reserved: the next record's LSN, if nobody else is faster. */
  public long end() {
    Parts open = parts;
    return open != null ? open.ring.tail() : replayedEnd;
  }

  /**
   * A gate to pass before a write begins.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if the log can't be written for want of room
   * @throws io.isobardb.lsm.error.StoreFailedException if the log has stopped
   */
  public void checkWritable() {
    parts().writer.checkWritable();
  }

  /**
   * Waits until the record at {@code lsn}, which was published, and all before it survive a failure
   * of the machine. While the disk is full, the ring keeps them: it has its space on the disk.
   *
   * @throws io.isobardb.lsm.error.StoreFailedException if the log has stopped; whether the record
   *     is durable is unknown
   */
  public void awaitDurable(long lsn) {
    parts().writer.awaitDurable(lsn);
  }

  /**
   * Waits as {@link #awaitDurable} for all that is visible now. A disk that was full is tried again
   * at once.
   */
  public void flush() {
    Parts open = parts();
    open.writer.tryAgain();
    open.writer.awaitDurable(open.ring.visibleEnd() - 1);
  }

  /**
   * Drops the files that hold nothing at or above {@code lsn}, which must be durable, and noted as
   * the log's start where {@link #open} will get it from.
   */
  public void truncateBefore(long lsn) throws IOException {
    LogWriter writer = parts().writer;
    writer.dropBefore(Math.min(lsn, writer.durable()));
  }

  /**
   * Bytes of the stream from the start of the oldest file kept to {@link #end}; 0 while the log is
   * replayed.
   */
  public long sizeBytes() {
    Parts open = parts;
    return open != null ? open.ring.tail() - open.segments.startPosition() : 0;
  }

  /** Bytes of a torn tail that {@link #open} cut off; 0 if the log ended cleanly. */
  public long droppedBytes() {
    return parts().droppedBytes;
  }

  /** How often the log was synced since it was opened. */
  public long syncs() {
    return parts().writer.syncs();
  }

  /** About how old the oldest record is that is not synced, at most; 0 if all are. */
  public long unsyncedNanos() {
    return parts().writer.unsyncedNanos();
  }

  /** Whether there was no room on disk for the log's last write. */
  public boolean isDiskFull() {
    return parts().writer.isDiskFull();
  }

  /** About what the log's files take on the disk, spares and the ring included. */
  public long allocatedBytes() {
    Parts open = parts();
    return open.segments.allocatedBytes() + RingFile.HEADER_BYTES + open.ring.spaceBytes();
  }

  /** Bytes written to segment files since the log was opened, rewritten blocks included. */
  public long writtenBytes() {
    return parts().writer.writtenBytes();
  }

  /** Stops the log for good; all waiters and later writers get the cause. Idempotent. */
  public void fail(Throwable cause) {
    parts().writer.latch(cause);
  }

  /** For tests of the order of publication. */
  Ring ring() {
    return parts().ring;
  }

  void checkNotFailed() {
    parts().writer.checkNotFailed();
  }

  /**
   * Takes a record's place. Waits until there is room in the ring for its first bytes, while the
   * writer may still turn back.
   *
   * @throws DiskFullException if there is none because the disk is full, or if the disk has no room
   *     for the bytes that the ring can't hold
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than it may
   */
  long reserve(long firstBytes, long recordBytes, WaitLimit limit) {
    Parts open = parts();
    Ring ring = open.ring;
    if (firstBytes < recordBytes) {
      checkDiskRoom(open, recordBytes);
    }
    long lsn = ring.reserve(firstBytes, recordBytes);
    while (lsn == Ring.NO_ROOM) {
      VarHandle.fullFence();
      advance(open);
      open.writer.awaitPlace(firstBytes, limit);
      lsn = ring.reserve(firstBytes, recordBytes);
    }
    return lsn;
  }

  /** A record that is larger than the ring could not turn back halfway. */
  private static void checkDiskRoom(Parts open, long recordBytes) {
    long usable;
    try {
      usable = open.storage.usableBytes();
    } catch (IOException unknown) {
      return;
    }
    long needed = recordBytes + open.ring.bytes - open.ring.spaceBytes();
    if (usable < needed) {
      throw new DiskFullException(
          "a write of "
              + recordBytes
              + " bytes needs "
              + needed
              + " bytes of room on the disk of "
              + open.storage.path()
              + ", which has "
              + usable
              + "; nothing was written");
    }
  }

  /**
   * Waits until a place that was taken may be written to, which ends below {@code end}. If that
   * fails, be it for want of heap, nobody will write there, and all behind it would wait for that:
   * the log stops.
   */
  void awaitRoom(long end) {
    Parts open = parts();
    VarHandle.fullFence();
    try {
      advance(open);
      open.writer.awaitRoom(end);
    } catch (Throwable e) {
      if (!open.writer.hasFailed()) {
        open.writer.onFailed(e);
      }
      throw e;
    }
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
    Parts open = parts();
    boolean failed = open.writer.hasFailed();
    try {
      if (!failed) {
        flush();
        newRecord().promise();
        flush();
      }
    } finally {
      open.writer.stop();
      LogMemory memory = open.memory;
      try (memory) {
        open.segments.close();
      }
    }
    if (!failed) {
      dropSpares(open.segments);
    }
  }

  private static void dropSpares(Segments segments) {
    try {
      segments.dropSpares();
    } catch (IOException e) {
      // All is durable, and the next opening deletes what is left.
    }
  }
}
