package io.isobardb.lsm.wal;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.observe.Observers;
import io.isobardb.lsm.observe.StallCounter;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.Purpose;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
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
  /** Looks for those before us, who are about to be done, before a wait that costs more. */
  private static final int SPINS = 64;

  private final Ring ring;
  private final Segments segments;
  private final LogWriter writer;
  private final Signal visibleChanged;
  private final PagePool pool;
  private final List<Block> blocks;
  private final long droppedBytes;

  private Log(
      Ring ring,
      Segments segments,
      Memory stage,
      Environment environment,
      LogOptions options,
      PagePool pool,
      List<Block> blocks,
      long droppedBytes) {
    this.ring = ring;
    this.segments = segments;
    this.pool = pool;
    this.blocks = blocks;
    this.droppedBytes = droppedBytes;
    this.visibleChanged = environment.scheduler().signal("earlier writes");
    this.writer =
        new LogWriter(
            ring,
            segments,
            stage,
            environment.scheduler(),
            environment.clock(),
            options.asyncSyncNanos(),
            visibleChanged::raise);
  }

  /**
   * Opens the log, or creates it if there is none and nothing is known of one that starts behind
   * {@link Lsn#FIRST}; hands all records from its start on to {@code handler}. A torn tail is cut
   * off, see {@link #droppedBytes}. What is handed over is durable already, so that the handler may
   * act on it for good; new records follow it.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if a record is damaged, or a segment missing,
   *     that is not part of a torn tail; no file was changed
   * @throws io.isobardb.lsm.error.FormatException if a segment is of a newer version or of another
   *     store; no file was changed
   */
  public static Log open(
      Environment environment,
      PagePool pool,
      LogOptions options,
      UUID storeId,
      LogExtent extent,
      LogHandler handler)
      throws IOException {
    long startLsn = extent.startLsn();
    if (startLsn < Lsn.FIRST || startLsn % Lsn.ALIGNMENT != 0) {
      throw new IllegalArgumentException("no position of a record: " + startLsn);
    }
    List<Block> blocks = new ArrayList<>();
    Segments segments = null;
    try {
      Memory scratch = block(pool, Segments.SCRATCH_BYTES, blocks);
      Memory stage = block(pool, LogWriter.stageMemoryBytes(options.ringBytes()), blocks);
      Ring ring = new Ring(block(pool, options.ringBytes(), blocks), RecordLayout.seed(storeId));
      segments = new Segments(environment.storage(), storeId, scratch, options);
      List<SegmentLayout> headers = segments.find(extent);
      long end = startLsn;
      long dropped = 0;
      if (headers.isEmpty()) {
        segments.roll(0);
      } else {
        long durable = Math.max(extent.syncedLsn(), headers.get(headers.size() - 1).promise());
        segments.settleFound(durable, ring.memory, options.ringBytes());
        try (LogReplay replay =
            new LogReplay(segments, headers, ring.memory, ring.storeSeed, pool)) {
          replay.run(extent, handler);
          end = replay.end();
          dropped = replay.droppedBytes();
          replay.copyLastBlock(stage);
          segments.cut(end, replay.torn(), stage);
        }
      }
      segments.adoptLeftovers();
      ring.reset(end);
      Log log = new Log(ring, segments, stage, environment, options, pool, blocks, dropped);
      log.writer.start(end, environment.scheduler());
      return log;
    } catch (Throwable e) {
      release(segments, pool, blocks, e);
      throw e;
    }
  }

  /**
   * Checks that {@link #open} would find all segments, of a version that it can read. Changes
   * nothing on disk.
   *
   * @throws io.isobardb.lsm.error.CorruptionException if a segment is missing, or its header bad
   * @throws io.isobardb.lsm.error.FormatException if a segment is of a newer version or of another
   *     store
   */
  public static void check(
      Environment environment, PagePool pool, LogOptions options, UUID storeId, LogExtent extent)
      throws IOException {
    Block scratch = pool.allocateBlock(Segments.SCRATCH_BYTES, Purpose.LOG);
    try {
      new Segments(environment.storage(), storeId, scratch.memory(), options).find(extent);
    } finally {
      pool.release(scratch);
    }
  }

  private static Memory block(PagePool pool, int bytes, List<Block> blocks) {
    Block block = pool.allocateBlock(bytes, Purpose.LOG);
    blocks.add(block);
    return block.memory();
  }

  private static void release(
      @Nullable Segments segments, PagePool pool, List<Block> blocks, Throwable cause) {
    blocks.forEach(pool::release);
    if (segments != null) {
      try {
        segments.close();
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
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
    awaitPlace(RecordLayout.MARKER_BYTES);
    long lsn = ring.reserve(RecordLayout.MARKER_BYTES);
    long end = lsn + RecordLayout.MARKER_BYTES;
    if (end > ring.limit()) {
      awaitRoom(end);
    }
    ring.finishMarker(lsn);
    return lsn;
  }

  /** Makes an unlogged write visible, and returns when it and everything before it is. */
  public void publishMarker(long lsn) {
    ring.markMarkerApplied(lsn);
    published(lsn, lsn + RecordLayout.MARKER_BYTES);
  }

  /** Makes what is applied visible, and returns when all below {@code end} is. */
  void published(long lsn, long end) {
    advance();
    if (ring.visibleEnd() < end) {
      awaitVisible(end);
    }
    writer.published(lsn, end);
  }

  /** Moves over all that is applied. */
  void advance() {
    if (ring.walk()) {
      visibleChanged.raise();
    }
  }

  private void awaitVisible(long end) {
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

  /** The end of what is synced: every record with an LSN below it survives a crash. */
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
   * Waits until the record at {@code lsn}, which was published, and all before it are synced.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; the record will become
   *     durable when there is, unless the process ends before
   * @throws io.isobardb.lsm.error.StoreFailedException if the log has stopped; whether the record
   *     is durable is unknown
   */
  public void awaitDurable(long lsn) {
    writer.awaitDurable(lsn);
  }

  /**
   * Waits until all that is visible now is synced; errors as {@link #awaitDurable}. A disk that was
   * full is tried again at once.
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
    segments.dropBefore(Math.min(lsn, writer.durable()));
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

  /** Bytes written to segment files since the log was opened, rewritten blocks included. */
  public long writtenBytes() {
    return writer.writtenBytes();
  }

  /**
   * From now on, syncs are reported, and waits for room in the buffer counted.
   *
   * @param onFailure told, once, if a write or a sync failed
   */
  public void observe(Observers observers, StallCounter stalls, Consumer<Throwable> onFailure) {
    writer.observe(observers, stalls, onFailure);
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
   * Waits until a record that takes its place now would find room for so many bytes, while it still
   * may turn back. Others may take the room meanwhile.
   */
  void awaitPlace(long bytes) {
    if (ring.tail() + bytes > ring.limit()) {
      VarHandle.fullFence();
      advance();
      writer.awaitPlace(bytes);
    }
  }

  void awaitRoom(long end) {
    VarHandle.fullFence();
    advance();
    writer.awaitRoom(end);
  }

  /**
   * Syncs all that is visible, with a last record that promises it, and closes the files. A log
   * that has stopped is closed as it stands.
   *
   * @throws io.isobardb.lsm.error.IsobarException if the sync failed; all is closed nevertheless
   */
  @Override
  public void close() throws IOException {
    if (blocks.isEmpty()) {
      return;
    }
    try {
      if (!writer.hasFailed()) {
        flush();
        newRecord().promise();
        flush();
      }
    } finally {
      writer.stop();
      blocks.forEach(pool::release);
      blocks.clear();
      segments.close();
    }
  }
}
