package io.isobardb.lsm.wal;

import static io.isobardb.lsm.wal.RecordLayout.FIRST;
import static io.isobardb.lsm.wal.RecordLayout.MIDDLE;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.event.StallSpan;
import io.isobardb.lsm.event.SyncSpan;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Scheduler;
import io.isobardb.lsm.schedule.Service;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Brings the ring's finished records to the files, by one thread at a time: the one that has {@link
 * #taken} the log.
 *
 * <p>A writer that waits for a sync and finds nobody writing does it itself, for all that wait by
 * then (group commit): a hand-over to another thread costs more than the sync on a fast device. A
 * writer that finds the log taken waits in the {@link SyncQueue}, and is served by the next sync.
 * All else is the service's: it writes when somebody waits for room, when {@link #batchBytes} have
 * come together, and when the oldest unsynced record is {@code asyncSyncNanos} old ({@link
 * SyncTimer}); then it writes all that is finished, and syncs if somebody waits or that time is
 * over. New files are made by the service while others write, and the ring gets more space on the
 * disk. It also gives back what the files take beyond need, once nothing was written for {@link
 * #QUIET_NANOS}.
 *
 * <p>Bytes go through a staging buffer: the ring changes while it is written (records are marked
 * applied, new ones begin in the last block), and the device must see bytes that stand still.
 * Behind the last record a zero word is written, so that a log which ends there is seen to end
 * cleanly. In direct mode the last, partly filled block stays in the staging buffer and is written
 * anew.
 *
 * <p>What fences are about is durable before a sync that makes them durable: {@link
 * LogListener#beforeSync}.
 *
 * <p>Failure: the first failed write or sync is final. Only a full disk is not: the bytes are still
 * in the ring and no sync has failed, so the write is tried again from time to time. Until it
 * succeeds nothing more is admitted. What was admitted is made durable in the ring, whose file has
 * its space on the disk; from there it must not go before the segments have it durably.
 *
 * <p>Thread rule: {@link #run} by the service's thread; what is marked so is for any thread.
 * Interrupts of those who write are kept, and do no harm.
 */
final class LogWriter implements Service {
  /** A sync, to be told once the log is free: what a listener does holds up nobody else. */
  private record Synced(SyncSpan span, StoreListener.Sync sync) {}

  private static final List<Synced> NONE = List.of();
  private static final int STAGE_BYTES = 256 << 10;

  /** A thread that wakes up takes a processor from a writer: better seldom, and for longer. */
  private static final int MAX_BATCH_BYTES = 1 << 20;

  private static final long DISK_FULL_RETRY_NANOS = 200_000_000L;
  static final long QUIET_NANOS = 10_000_000_000L;

  private final Ring ring;
  private final Segments segments;
  private final LogMemory memory;
  private final Memory stage;
  private final Clock clock;
  private final SyncTimer timer;
  private final int stageBytes;
  private final int unit;
  private final int leastBatchBytes;
  private final Signal room;
  private final SyncQueue syncQueue;

  /** {@link #isDurable}: made once, since there may be no heap when the log is given back. */
  private final LongPredicate served = this::isDurable;

  /** Whether a thread writes to the log: the service, or a writer that waits for a sync. */
  private final AtomicBoolean taken = new AtomicBoolean();

  private final LogListener listener;

  /** What waits for earlier writes, which a failure ends. */
  private final Signal visibleChanged;

  // Read by any thread.
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final AtomicLong syncWanted = new AtomicLong();
  private final AtomicLong roomWanted = new AtomicLong();

  private volatile @Nullable DiskFullException diskFull;

  /** Whether the disk had no room when the ring was to get more space ahead of need. */
  private volatile boolean growthFailed;

  /** Whether to try a full disk again before it is time. */
  private volatile boolean retry;

  private volatile long durable;

  /** All records below are durable in the ring, if they are not in the segments. */
  private volatile long kept;

  private volatile long written;
  private volatile long syncedPosition;
  private volatile long syncs;

  private volatile long writtenBytes;

  // Of the service.
  /** Where the log ended when the service looked last, and since when it has. */
  private long quietEnd;

  private long quietSince;

  // Of the thread that has taken the log.
  /** The end of the last finished record, or fragment, that was seen; not below written. */
  private long completed;

  /** The first header whose state is not cleared in the file; at most a header before written. */
  private long header;

  /** The end of the last record, or fragment, that is written from its first byte to its last. */
  private long boundary;

  /** Whether {@link #header} is a fragment that others come before. */
  private boolean inside;

  /** Syncs that the listener is still to be told of. */
  private List<Synced> untold = NONE;

  /** The end of the last whole record that is written. */
  private long whole;

  /**
   * @param memory its staging buffer has {@link #stageMemoryBytes}
   * @param visibleChanged what the log's other waiters wait on; raised when the log fails
   */
  LogWriter(
      Ring ring,
      Segments segments,
      LogMemory memory,
      LogSite site,
      long asyncSyncNanos,
      Signal visibleChanged) {
    this.ring = ring;
    this.segments = segments;
    this.memory = memory;
    this.stage = memory.stage();
    this.clock = site.environment().clock();
    this.timer = new SyncTimer(clock, asyncSyncNanos);
    this.stageBytes = stage.size() - DataFile.BLOCK;
    this.unit = segments.unit();
    this.leastBatchBytes = Math.min(STAGE_BYTES, ring.bytes / 4);
    this.room = site.environment().scheduler().signal(Awaited.LOG_ROOM);
    this.syncQueue = new SyncQueue(site.environment().scheduler());
    this.listener = site.listener();
    this.visibleChanged = visibleChanged;
  }

  static int stageMemoryBytes(int ringBytes) {
    return Math.min(STAGE_BYTES, ringBytes) + DataFile.BLOCK;
  }

  /**
   * Begins at a position of the stream below which all is synced. In direct mode the staging buffer
   * begins with the bytes between the block's start and the position.
   */
  void start(long position, Scheduler scheduler) {
    completed = position;
    header = position;
    boundary = position;
    whole = position;
    written = position;
    syncedPosition = position;
    durable = position;
    timer.attach(scheduler.start(this));
  }

  @Override
  public String name() {
    return "log";
  }

  @Override
  public boolean ready() {
    // The thread that has the log lets the service look again.
    return failure.get() == null
        && !taken.get()
        && (segments.wantsSpare() || wantsGrowth() || workToDo());
  }

  /** How much is written at a time if nobody waits: a power of two; a quarter of a large ring. */
  private int batchBytes() {
    return Math.max(leastBatchBytes, Math.min(MAX_BATCH_BYTES, ring.spaceBytes() / 4));
  }

  private boolean wantsGrowth() {
    return !growthFailed && ring.isShort(batchBytes());
  }

  /** Whether the service should write, whatever the time is. */
  private boolean workToDo() {
    if (diskFull != null) {
      return retry;
    }
    // While nobody writes, and without an error, written is the end of a record.
    long from = written;
    boolean more = ring.finishedWord(from) != 0;
    if (syncWanted.get() > durable && (more || from > syncedPosition)) {
      return true;
    }
    if (more && ring.tail() - from >= batchBytes()) {
      return true;
    }
    return roomWanted.get() > ring.limit()
        && (more
            || roomWanted.get() > ring.spaceEnd()
            || Math.min(from, ring.walked()) > ring.freed());
  }

  @Override
  public void run() throws IOException {
    if (failure.get() != null) {
      return;
    }
    growInTime();
    if (!timer.isDue(clock.nanos()) && diskFull == null && !workToDo()) {
      setAlarm();
    } else if (taken.compareAndSet(false, true)) {
      try {
        write(false);
      } catch (Throwable e) {
        // Before the log is free: the writer that takes it next must not try a sync again.
        latch(e);
        throw e;
      } finally {
        release();
      }
    }
    segments.prepare();
    shrinkInTime();
  }

  /** Any thread: the log is needed from here on only. */
  void dropBefore(long position) throws IOException {
    segments.dropBefore(position);
    if (segments.isOversized(ring.tail())) {
      timer.wakeWithin(QUIET_NANOS);
    }
  }

  /** Gives back what the files take, after a time without writes. */
  private void shrinkInTime() throws IOException {
    long now = clock.nanos();
    long end = ring.tail();
    if (end != quietEnd) {
      quietEnd = end;
      quietSince = now;
    }
    boolean oversized = segments.isOversized(end);
    if (oversized || segments.hasLargeSpares()) {
      long rest = quietSince + QUIET_NANOS - now;
      if (rest > 0) {
        timer.wakeWithin(rest);
      } else if (oversized ? !shrink(end) : !dropSpares()) {
        timer.wakeWithin(QUIET_NANOS);
      }
    }
  }

  /** Whether the spares could be deleted: not while the log is written. */
  private boolean dropSpares() throws IOException {
    if (!taken.compareAndSet(false, true)) {
      return false;
    }
    try {
      segments.dropSpares();
      return true;
    } finally {
      release();
    }
  }

  /** Whether the files could be made smaller: not while the log is written, or the disk is full. */
  private boolean shrink(long end) throws IOException {
    if (!taken.compareAndSet(false, true)) {
      return false;
    }
    try {
      boolean synced = syncedPosition == end && ring.tail() == end;
      if (synced && failure.get() == null) {
        segments.shrink(end);
      }
      return synced;
    } catch (DiskFullException e) {
      return false;
    } catch (Throwable e) {
      // The open file may have lost its name: nobody may write to it once the log is free.
      latch(e);
      throw e;
    } finally {
      release();
    }
  }

  /** Gives the ring more space before somebody waits for it. */
  private void growInTime() throws IOException {
    if (wantsGrowth()) {
      try {
        grow();
      } catch (DiskFullException e) {
        // Nobody needs the space yet: write() will try again, and tell.
        growthFailed = true;
      }
    }
  }

  private void grow() throws IOException {
    long limit = ring.limit();
    memory.growRing();
    growthFailed = false;
    if (roomWanted.get() > limit) {
      room.raise();
    }
  }

  /** Writes and syncs, in the place of the service, for all that wait. */
  private void lead() {
    try {
      write(true);
    } catch (Throwable e) {
      onFailed(e);
    } finally {
      release();
    }
  }

  /**
   * What the service would have seen, or has passed over, while the log was taken comes now. Those
   * that were served go first: what they write next while the others are called is in the next
   * sync.
   */
  private void release() {
    List<Synced> told = untold;
    untold = NONE;
    syncQueue.callDone(served);
    taken.set(false);
    if (diskFull == null) {
      syncQueue.callNext(served);
    }
    setAlarm();
    if (ready()) {
      timer.wake();
    }
    for (Synced one : told) {
      listener.onSynced(one.span, one.sync);
    }
  }

  private void setAlarm() {
    if (diskFull != null) {
      timer.wakeWithin(DISK_FULL_RETRY_NANOS);
    } else {
      timer.setAlarm();
    }
  }

  /**
   * Done by the thread that has taken the log: writes what is finished, and syncs if that is
   * wanted.
   */
  private void write(boolean sync) throws IOException {
    if (failure.get() != null) {
      return;
    }
    long now = clock.nanos();
    boolean due = timer.isDue(now);
    try {
      retry = false;
      writeFinished();
      while (roomWanted.get() > ring.spaceEnd()) {
        grow();
      }
      boolean wanted =
          sync || due || !syncQueue.isEmpty() || syncWanted.get() > durable || kept > durable;
      if (wanted && written > syncedPosition) {
        sync();
        timer.onSynced(now);
        free();
      } else {
        freeUnsynced();
      }
    } catch (DiskFullException e) {
      diskFull = e;
      room.raise();
      keepInRing();
      return;
    }
    diskFull = null;
    keepTime(now, due);
  }

  @Override
  public void onFailed(Throwable cause) {
    latch(cause);
    listener.onFailed(cause);
  }

  private void writeFinished() throws IOException {
    long end = completed;
    for (long word0 = ring.finishedWord(end); word0 != 0; word0 = ring.finishedWord(end)) {
      end += RecordLayout.sizeBytes(word0);
    }
    completed = end;
    freeUnsynced();
    while (written < end) {
      if (written == segments.endPosition()) {
        roll();
      }
      writePiece(end);
      if (written < end) {
        freeUnsynced();
      }
    }
  }

  /** What is below the new segment's promise must be durable before its file has a name. */
  private void roll() throws IOException {
    if (written > syncedPosition) {
      sync();
    }
    segments.roll(whole);
  }

  private void writePiece(long end) throws IOException {
    long from = written;
    long base = from & -unit;
    int kept = (int) (from - base);
    long segmentEnd = segments.endPosition();
    long to = Math.min(Math.min(end, base + stageBytes), segmentEnd);
    ring.copyTo(stage, kept, from, (int) (to - from));

    long h = header;
    boolean in = inside;
    long wholeEnd = whole;
    long ended = h <= to ? h : boundary;
    while (h < to) {
      if (!in) {
        wholeEnd = h;
      }
      long word0 = ring.memory.getLongAcquire(ring.offset(h));
      boolean marker = RecordLayout.isMarker(word0);
      long state = marker ? h : h + 8;
      if (state >= to) {
        break;
      }
      int at = (int) (state - base);
      long word = stage.getLong(at);
      stage.putLong(at, word & ~(marker ? RecordLayout.MARKER_APPLIED : RecordLayout.APPLIED));
      int fragment = marker ? RecordLayout.FULL : RecordLayout.fragment(word);
      in = fragment == FIRST || fragment == MIDDLE;
      h += RecordLayout.sizeBytes(word0);
      if (h <= to) {
        ended = h;
      }
    }
    if (h == to && !in) {
      wholeEnd = to;
    }

    int used = (int) (to - base);
    int terminated = to < segmentEnd ? used + Lsn.ALIGNMENT : used;
    int padded = (terminated + unit - 1) & -unit;
    stage.zero(used, padded - used);
    segments.write(base, stage, 0, padded);

    header = h;
    inside = in;
    whole = wholeEnd;
    boundary = ended;
    writtenBytes += padded;
    written = to;
    int keep = used & -unit;
    stage.move(keep, 0, used - keep);
  }

  /**
   * The disk is full: what is finished becomes durable where it is, in a segment or in the ring.
   */
  private void keepInRing() throws IOException {
    boolean in = inside;
    long end = in ? whole : header;
    for (long h = header; h < completed; ) {
      long word0 = ring.memory.getLongAcquire(ring.offset(h));
      int fragment =
          RecordLayout.isMarker(word0)
              ? RecordLayout.FULL
              : RecordLayout.fragment(ring.memory.getLongAcquire(ring.offset(h + 8)));
      in = fragment == FIRST || fragment == MIDDLE;
      h += RecordLayout.sizeBytes(word0);
      end = in ? end : h;
    }
    if (written > syncedPosition) {
      sync();
    }
    if (end > kept) {
      listener.beforeSync();
      memory.syncRing();
      kept = end;
    }
  }

  /**
   * As {@link #free}, after a write that no sync has followed. A process that takes the directory
   * from us reads the segments first, and then the ring. So a record may leave the ring only if it
   * was in a segment while the directory was ours. A sync looks for that itself.
   */
  private void freeUnsynced() throws IOException {
    if (freeable() > ring.freed()) {
      segments.ensureHeld();
      free();
    }
  }

  private long freeable() {
    long to = Math.min(boundary, ring.walked());
    return kept > durable ? Math.min(to, syncedPosition) : to;
  }

  /**
   * Gives room back, by whole records or fragments: after a crash one is read either from the
   * segments or from the ring.
   */
  private void free() throws IOException {
    long to = freeable();
    if (to > ring.freed()) {
      if (!ring.free(to)) {
        throw new IOException(
            "the file RING, which is mapped, could not be written: the disk is full, if its file"
                + " system copies on write, or the device failed");
      }
      if (roomWanted.get() > to) {
        room.raise();
      }
    }
  }

  private void sync() throws IOException {
    SyncSpan span = SyncSpan.start();
    long start = clock.nanos();
    long before = durable;
    listener.beforeSync();
    segments.sync();
    syncs++;
    syncedPosition = written;
    durable = whole;
    span.end();
    StoreListener.Sync sync = new StoreListener.Sync(durable - before, clock.nanos() - start);
    untold = untold.isEmpty() ? new ArrayList<>(1) : untold;
    untold.add(new Synced(span, sync));
  }

  /** Any thread: about how old the oldest unsynced record is, at most. */
  long unsyncedNanos() {
    return ring.tail() == syncedPosition ? 0 : timer.ageNanos();
  }

  /** Any thread: whether there was no room on disk for the last write. */
  boolean isDiskFull() {
    return diskFull != null;
  }

  /** Keeps the timer running as long as anything is, or is about to be, unsynced. */
  private void keepTime(long now, boolean due) {
    if (due) {
      timer.restart(now);
    }
    if (timer.isRunning() && ring.tail() == syncedPosition) {
      timer.end();
      if (ring.tail() != syncedPosition) {
        timer.start();
      }
    }
  }

  /** Any thread, after the record was published: sees to it that it will be written and synced. */
  void onPublished(long lsn, long end) {
    if (((lsn ^ end) & -batchBytes()) != 0
        || syncWanted.get() > lsn
        || roomWanted.get() > ring.limit()) {
      timer.wake();
    }
    if (!timer.isRunning()) {
      timer.start();
    }
  }

  /**
   * Any thread: waits until so many bytes behind all that is reserved may be written to the ring;
   * others may take that room.
   *
   * @throws DiskFullException if the disk is full
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than it may
   */
  void awaitPlace(long bytes, WaitLimit limit) {
    boolean over = awaitRoom(() -> diskFull != null || isRoom(ring.tail() + bytes), limit);
    checkWritable();
    if (!over) {
      listener.countRefusal();
      throw limit.refusal(StallReason.LOG_BUFFER, null, WaitLimit.UNKNOWN);
    }
  }

  /** Any thread: waits until all below {@code end} may be written to the ring. */
  void awaitRoom(long end) {
    awaitRoom(() -> isRoom(end), new WaitLimit());
    checkNotFailed();
  }

  private boolean awaitRoom(BooleanSupplier over, WaitLimit limit) {
    StallSpan span = listener.beginStall(StallReason.LOG_BUFFER);
    try {
      return limit.await(room, clock, () -> failure.get() != null || over.getAsBoolean());
    } finally {
      listener.endStall(span);
    }
  }

  /** Whether all below {@code end} may be written to the ring; if not, it is asked for. */
  private boolean isRoom(long end) {
    if (end <= ring.limit()) {
      return true;
    }
    raise(roomWanted, end);
    timer.wake();
    return end <= ring.limit();
  }

  /** Any thread: see {@link Log#awaitDurable}. */
  void awaitDurable(long lsn) {
    if (isDurable(lsn)) {
      return;
    }
    if (lsn >= ring.tail()) {
      throw new IllegalArgumentException("LSN " + lsn + " is not in the log yet");
    }
    if (!tryLead(lsn)) {
      SyncQueue.Waiter waiter = syncQueue.enter(lsn);
      try {
        while (!tryLead(lsn)) {
          waiter.await();
        }
      } finally {
        syncQueue.leave(waiter);
      }
    }
    if (!isDurable(lsn)) {
      checkNotFailed();
    }
  }

  /** Sees to a sync unless somebody else writes to the log; whether there is nothing left to do. */
  private boolean tryLead(long lsn) {
    if (diskFull == null && !isDurable(lsn) && taken.compareAndSet(false, true)) {
      lead();
      if (!isDurable(lsn)) {
        // The disk is full, or one before this record is not done: that is for the service.
        raise(syncWanted, lsn + 1);
      }
    }
    return isDurable(lsn) || failure.get() != null;
  }

  private boolean isDurable(long lsn) {
    return durable > lsn || kept > lsn;
  }

  /** Any thread: the disk that was full may have room. */
  void tryAgain() {
    if (diskFull != null) {
      retry = true;
      timer.wake();
    }
  }

  private static void raise(AtomicLong position, long to) {
    long now = position.get();
    while (now < to && !position.compareAndSet(now, to)) {
      now = position.get();
    }
  }

  /** Any thread: throws if the log has stopped. */
  void checkNotFailed() {
    Throwable cause = failure.get();
    if (cause != null) {
      throw rejection(cause);
    }
  }

  /** Any thread: throws if the log has stopped, or can't be written to for now. */
  void checkWritable() {
    checkNotFailed();
    DiskFullException full = diskFull;
    if (full != null) {
      throw new DiskFullException(
          "the disk is full, so the log can't be written; make room, and writes go on by themselves: "
              + full.getMessage(),
          full);
    }
  }

  private static IsobarException rejection(Throwable cause) {
    return cause instanceof StoreClosedException
        ? new StoreClosedException("the log is closed")
        : new StoreFailedException("the log has stopped: " + cause, cause);
  }

  boolean hasFailed() {
    return failure.get() != null;
  }

  /** Any thread: the first cause counts. */
  void latch(Throwable cause) {
    if (failure.compareAndSet(null, cause)) {
      room.raise();
      syncQueue.callAll();
      visibleChanged.raise();
    }
  }

  /** Ends the service, and lets nobody wait any more. */
  void stop() {
    timer.stop();
    latch(new StoreClosedException("the log is closed"));
  }

  long durable() {
    return durable;
  }

  long syncs() {
    return syncs;
  }

  long writtenBytes() {
    return writtenBytes;
  }

  /**
   * When the log is synced though nobody waits for that: some time after the oldest record that is
   * not synced. Wakes the log's service then.
   *
   * <p>Thread rule: all methods may be called by any thread; {@link #attach} before the others.
   */
  private static final class SyncTimer {
    private final Clock clock;
    private final long intervalNanos;

    /** Whether it runs; false only if nothing is unsynced, or about to be. */
    private final AtomicBoolean running = new AtomicBoolean();

    private volatile long deadlineNanos;
    private volatile long syncedNanos;
    private volatile Service.@Nullable Handle service;

    SyncTimer(Clock clock, long intervalNanos) {
      this.clock = clock;
      this.intervalNanos = intervalNanos;
      this.syncedNanos = clock.nanos();
    }

    /** Says whom to wake. */
    void attach(Service.Handle log) {
      service = log;
    }

    /** Ends the service. */
    void stop() {
      Service.Handle attached = service;
      if (attached != null) {
        attached.stop();
      }
    }

    boolean isRunning() {
      return running.get();
    }

    /** All that was finished by {@code now} is synced. */
    void onSynced(long now) {
      syncedNanos = now;
    }

    /** About how old the oldest unsynced record is, at most, if there is one. */
    long ageNanos() {
      long now = clock.nanos();
      long begun = deadlineNanos - intervalNanos;
      return running.get() ? Math.max(0, Math.min(now - begun, now - syncedNanos)) : 0;
    }

    boolean isDue(long now) {
      return running.get() && now - deadlineNanos >= 0;
    }

    /** Starts it unless it runs. */
    void start() {
      if (running.compareAndSet(false, true)) {
        deadlineNanos = clock.nanos() + intervalNanos;
        wakeWithin(intervalNanos);
      }
    }

    /** It was due, and has another interval. */
    void restart(long now) {
      deadlineNanos = now + intervalNanos;
    }

    /** Ends it: a writer that finds something unsynced afterwards has to start it again. */
    void end() {
      running.set(false);
    }

    /** Every run of the service uses up its alarm, whatever it ran for: this sets it again. */
    void setAlarm() {
      if (running.get()) {
        wakeWithin(Math.max(1, deadlineNanos - clock.nanos()));
      }
    }

    void wakeWithin(long nanos) {
      Service.Handle attached = service;
      if (attached != null) {
        attached.wakeWithin(nanos);
      }
    }

    void wake() {
      Service.Handle attached = service;
      if (attached != null) {
        attached.wake();
      }
    }
  }
}
