package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.range.RangeMemory;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogRecord;
import io.isobardb.memory.pool.OutOfBudgetException;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.pool.PerThread;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries writes out: admit, reserve log space, log, insert, publish, and, if asked, wait for the
 * sync.
 *
 * <p>Writers call {@code admit} before they hold anything, then lock what they have to, and {@code
 * write}. From the reservation on nothing can fail but the log itself; what a write needs in memory
 * beyond a few pages (overflow values) it takes before. Once a write is visible nothing fails it
 * any more, save the wait for its sync.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Committer {
  /** Attempts to get a page within the budget before a started write may exceed it. */
  private static final int ATTEMPTS = 32;

  /** Attempts after that. */
  private static final int MORE_ATTEMPTS = 2;

  /** No write of a logged tree. */
  private static final long NOT_LOGGED = -1;

  /**
   * What a thread writes with: the write in hand, and the log record that it becomes. Both are used
   * again, so that a write allocates nothing.
   *
   * <p>Thread rule: its own thread.
   */
  public static final class Writer implements PerThread.Reusable {
    private final Write write = new Write();
    private final WaitLimit limit = new WaitLimit();
    private final Supplier<LogRecord> records;
    private @Nullable LogRecord record;
    private boolean taken;
    private long number;

    Writer(Supplier<LogRecord> records) {
      this.records = records;
    }

    @Override
    public boolean tryTake() {
      boolean free = !taken;
      taken = true;
      number++;
      return free;
    }

    /** Ends the write. */
    public void give() {
      write.clear();
      taken = false;
    }

    /** The number of the write in hand among those of this writer. */
    public long number() {
      return number;
    }

    /** The write in hand. */
    public Write write() {
      return write;
    }

    /** How long the write in hand may wait. */
    public WaitLimit limit() {
      return limit;
    }

    LogRecord record() {
      LogRecord made = record;
      if (made == null) {
        made = records.get();
        record = made;
      }
      return made;
    }
  }

  private final Engine engine;
  private final Log log;
  private final FailureLatch failure;
  private final PagePool pool;
  private final Snapshots snapshots;
  private final WriteGate gate;
  private final Sealer sealer;
  private final WriteShares shares;
  private final RangeRoom rangeRoom;
  private final RangeMemory rangeMemory;
  private final PerThread<Writer> writers;
  private final WriteRoom room;
  private final OperandFolding folding;
  private final long lookBytes;
  private final Runnable lookAtLog;
  private final AtomicLong nextLook = new AtomicLong();

  /**
   * @param rangeRoom admits range deletes
   * @param shares what trees have to hold to be written to
   * @param lookBytes how much log may be written between two looks at its length
   * @param lookAtLog looks at it; must return at once
   */
  public Committer(
      Engine engine,
      Sealer sealer,
      RangeRoom rangeRoom,
      WriteShares shares,
      long lookBytes,
      Runnable lookAtLog) {
    this.lookBytes = lookBytes;
    this.lookAtLog = lookAtLog;
    this.rangeRoom = rangeRoom;
    this.rangeMemory = engine.catalog().rangeMemory();
    this.engine = engine;
    this.log = engine.log();
    this.failure = engine.failure();
    this.pool = engine.catalog().space().pool();
    this.snapshots = engine.snapshots();
    this.gate = engine.gate();
    this.sealer = sealer;
    this.shares = shares;
    this.writers = new PerThread<>(() -> new Writer(engine.log()::newRecord));
    this.room = new WriteRoom(gate, engine.catalog());
    this.folding = new OperandFolding(engine, room);
  }

  /** What the calling thread writes with; it is to say when it is {@link Writer#give}. */
  public Writer writer() {
    return writers.take();
  }

  /**
   * Waits until there is room for the put or delete in hand. Nothing is kept for it: it is to be
   * written at once.
   *
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than it may
   */
  public void admit(TreeHandle tree, Writer writer) {
    Write write = writer.write();
    WaitLimit limit = writer.limit();
    if (write.isRange()) {
      rangeRoom.admit(WriteRoom.ofRange(write), limit);
    }
    gate.admit(write.roomBytes(), limit);
    shares.admit(tree, limit);
  }

  /** Whether there still is room for an admitted put or delete that had to wait for a lock. */
  public boolean admits(Write write) {
    return gate.admits(write.roomBytes())
        && (!write.isRange() || rangeRoom.admits(WriteRoom.ofRange(write)));
  }

  /** As {@link #admit(TreeHandle, Writer)}, for a batch. */
  public void admit(BatchFormat.Builder batch, WaitLimit limit) {
    if (batch.count() > 0) {
      rangeRoom.admit(batch.rangeBytes(), limit);
      long most = room.most(batch);
      gate.admit(WriteRoom.of(batch, most), most, limit);
      shares.admit(batch, limit);
    }
  }

  /** As {@link #admits(Write)}, for a batch. */
  public boolean admits(BatchFormat.Builder batch) {
    return batch.count() == 0
        || gate.admits(room.most(batch)) && rangeRoom.admits(batch.rangeBytes());
  }

  /**
   * Writes one put or delete that was admitted, the one that the writer has in hand; returns when
   * it is visible.
   *
   * @param slot the operation's that the caller is within
   * @return what to hand to {@link #awaitDurable}
   */
  public long write(TreeHandle tree, Writer writer, int slot) {
    failure.check();
    log.checkWritable();
    Write write = writer.write().hashed();
    if (write.isRange()) {
      return writeRange(tree, writer, slot);
    }
    ActiveTree active = tree.activeTree();
    if (active.fitsInline(write)) {
      return write(tree, active, writer, slot);
    }
    long claimed = room.claimOverflow(write.valueLength(), writer.limit());
    try {
      writeOverflow(active, write, writer.limit());
      return write(tree, active, writer, slot);
    } finally {
      active.freeOverflow(write.takeOverflow());
      gate.unclaim(claimed);
    }
  }

  /** Until it counts with the tree, it counts for what it will about take. */
  private long writeRange(TreeHandle tree, Writer writer, int slot) {
    sealer.sealForRange(tree);
    long bytes = WriteRoom.ofRange(writer.write());
    rangeMemory.add(bytes);
    try {
      return write(tree, tree.activeTree(), writer, slot);
    } finally {
      rangeMemory.add(-bytes);
    }
  }

  private long write(TreeHandle tree, ActiveTree active, Writer writer, int slot) {
    long written;
    try {
      written =
          tree.settings().logged()
              ? writeLogged(tree, writer, slot)
              : writeUnlogged(tree, writer, slot);
    } catch (InternalError e) {
      throw stop(e);
    }
    try {
      if (writer.write().isDeep()) {
        folding.fold(tree, OperandFolding.key(writer.write()));
      }
      sealer.sealIfFull(tree, active);
      onWritten(written);
    } catch (Throwable e) {
      passOver(e);
    }
    return written;
  }

  /**
   * A record was written at this LSN: has the log's length looked at, each time it has grown by
   * some bytes. Active SSTables may take writes for ever without becoming full: of keys written
   * again and again they keep little, while the log keeps it all.
   */
  private void onWritten(long lsn) {
    long next = nextLook.get();
    if (lsn >= next && nextLook.compareAndSet(next, lsn + lookBytes)) {
      lookAtLog.run();
    }
  }

  /**
   * A write to the mapped ring failed, maybe some instructions ago. What the ring has of the record
   * is not known, so all behind it would wait for it: the store stops.
   */
  private StoreFailedException stop(InternalError cause) {
    StoreFailedException stopped =
        new StoreFailedException(
            "the log's file RING, which is mapped, could not be written: the disk is full, if its"
                + " file system copies on write, or the file was cut off, or the device failed;"
                + " close the store, mend that, and open it again: "
                + cause.getMessage(),
            cause);
    failure.fail(stopped);
    failure.markTold();
    return stopped;
  }

  /**
   * The write is visible: its caller must be told so, and wait for its sync. What failed is tried
   * again by later writes.
   */
  private void passOver(Throwable cause) {
    if (cause instanceof InternalError broken) {
      throw stop(broken);
    }
    SystemLog.tell(
        Level.WARNING, Committer.class, "a write is done, but what follows it failed", cause);
  }

  /** Waits until a write is synced; nothing to wait for if it was to an unlogged tree. */
  public void awaitDurable(long written) {
    if (written == NOT_LOGGED) {
      return;
    }
    try {
      log.awaitDurable(written);
    } catch (StoreFailedException e) {
      failure.markTold();
      throw e;
    }
  }

  private long writeLogged(TreeHandle tree, Writer writer, int slot) {
    Write write = writer.write();
    LogRecord record = writer.record();
    boolean applied = false;
    try {
      write.at(record.begin(BatchFormat.operationBytes(tree.id(), write), writer.limit()));
      stamp(tree, write);
      BatchFormat.encode(record, tree.id(), write);
      apply(tree, write, slot);
      applied = true;
      record.complete();
      record.publish();
      return write.lsn();
    } finally {
      if (!applied) {
        record.abandon();
      }
    }
  }

  /**
   * Has an operand know the time of its place in the order of writes, which it has got just now.
   * What expires, and lies below, had made the tree one that {@code expires} before it got its own.
   */
  private void stamp(TreeHandle tree, Write write) {
    if (write.kind() == Kind.MERGE && tree.expires()) {
      tree.activeTree().stamp(write, snapshots.time().getAsLong());
    }
  }

  private long writeUnlogged(TreeHandle tree, Writer writer, int slot) {
    Write write = writer.write();
    write.at(log.reserveMarker(writer.limit()));
    try {
      stamp(tree, write);
      apply(tree, write, slot);
    } finally {
      log.publishMarker(write.lsn());
    }
    return NOT_LOGGED;
  }

  /**
   * Writes a batch that was admitted as one record; it becomes visible at once. The caller is
   * within an operation, and has checked since it began that the batch's trees are open: so they
   * stay until the batch is written.
   *
   * @param slot the operation's
   * @return what to hand to {@link #awaitDurable}
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than it may for its
   *     place in the log
   */
  public long write(BatchFormat.Builder batch, boolean logged, int slot, WaitLimit limit) {
    if (batch.count() == 0) {
      return NOT_LOGGED;
    }
    failure.check();
    log.checkWritable();
    Writer writer = writer();
    BatchApplier applier = new BatchApplier(this, engine, writer.write(), slot, limit);
    long written = NOT_LOGGED;
    long claimed = 0;
    long ranges = batch.rangeBytes();
    rangeMemory.add(ranges);
    try {
      claimed = room.claim(batch, limit);
      applier.prepare(batch);
      if (logged) {
        written = writeLogged(batch, applier, writer.record(), limit);
      } else {
        writeUnlogged(batch, applier, log, limit);
      }
    } catch (InternalError e) {
      throw stop(e);
    } finally {
      applier.freeUnused();
      writer.give();
      gate.unclaim(claimed);
      rangeMemory.add(-ranges);
    }
    try {
      applier.foldDeep(folding);
      applier.sealFull(sealer);
      onWritten(written);
    } catch (Throwable e) {
      passOver(e);
    }
    return written;
  }

  private static long writeLogged(
      BatchFormat.Builder batch, BatchApplier applier, LogRecord record, WaitLimit limit) {
    boolean applied = false;
    try {
      long lsn = record.begin(batch.length(), limit);
      applier.stamp(batch);
      record.put(batch.bytes(), 0, batch.length());
      applier.apply(batch, lsn);
      applied = true;
      record.complete();
      record.publish();
      return lsn;
    } finally {
      if (!applied) {
        record.abandon();
      }
    }
  }

  private static void writeUnlogged(
      BatchFormat.Builder batch, BatchApplier applier, Log log, WaitLimit limit) {
    long lsn = log.reserveMarker(limit);
    try {
      applier.stamp(batch);
      applier.apply(batch, lsn);
    } finally {
      log.publishMarker(lsn);
    }
  }

  /**
   * Applies an operation that replay found in the log, and that fits into the write memory.
   *
   * @param write has the LSN of its record
   */
  public void replay(TreeHandle tree, Write write) {
    // A version below operands that were folded with it on disk would hide what they gave.
    boolean range = write.isRange();
    if (tree.settings().operator() != null && !range && folding.isOnDisk(tree, write)) {
      return;
    }
    gate.admitReplayed(write.roomBytes());
    write.hashed();
    ActiveTree active = tree.activeTree();
    if (!range && !active.fitsInline(write)) {
      writeOverflow(active, write, new WaitLimit());
    }
    for (int attempt = 1; !replayed(tree, write, range); attempt++) {
      awaitPage(attempt);
    }
    if (write.isDeep()) {
      folding.foldReplayed(tree, OperandFolding.key(write));
    }
    sealer.sealReplayed(tree, active, write.lsn());
    onWritten(write.lsn());
  }

  /** Waits, for a write that has begun, until a page may have come free. */
  private void awaitPage(int attempt) {
    gate.awaitRelief(pool.pageSize(), null);
    // It holds up those behind it, the flushes of what it has written among them.
    lend(attempt);
  }

  private void lend(int attempt) {
    if (attempt >= ATTEMPTS && attempt % MORE_ATTEMPTS == 0) {
      pool.lendSlab();
    }
  }

  /** Applies an operation that replay found, unless there is no page for it now. */
  private boolean replayed(TreeHandle tree, Write write, boolean range) {
    Lock applying = log.applying();
    applying.lock();
    try {
      put(tree, write, range);
      tree.counts().countReplayed(write.roomBytes());
      return true;
    } catch (OutOfBudgetException e) {
      return false;
    } finally {
      applying.unlock();
    }
  }

  /** Writes a value to pages of its own, which the write has then. */
  void writeOverflow(ActiveTree active, Write write, WaitLimit limit) {
    for (int attempt = 1; ; attempt++) {
      try {
        active.writeOverflow(write);
        return;
      } catch (OutOfBudgetException e) {
        gate.awaitRelief(write.valueLength(), limit);
        lend(attempt);
      }
    }
  }

  /** Puts a write that has its place in the log into its tree. */
  void apply(TreeHandle tree, Write write, int slot) {
    boolean range = write.isRange();
    for (int attempt = 1; ; attempt++) {
      try {
        put(tree, write, range);
        tree.counts().countWrite(slot, write);
        return;
      } catch (OutOfBudgetException e) {
        // The gate lets nobody in whose write does not fit; a flush is under way.
        awaitPage(attempt);
      }
    }
  }

  private void put(TreeHandle tree, Write write, boolean range) {
    if (range) {
      // What is visible is taken first: a reader that is not registered later reads there or later.
      long visible = log.visible();
      tree.states().deleteRange(tree.order(), write.range(), snapshots, visible);
      engine.catalog().onHolding(tree.id());
      return;
    }
    if (write.expiry() != Expiry.NEVER) {
      engine.snapshots().time().noteExpiring(tree);
    }
    // No epoch is needed: a tree is not given up before all its writes are visible. And within one
    // the pages that an insert waits for would never come free.
    tree.states().current().target(write.lsn()).put(write, snapshots);
  }
}
