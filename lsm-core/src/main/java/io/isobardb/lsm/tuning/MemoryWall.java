package io.isobardb.lsm.tuning;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.flush.Checkpointer;
import io.isobardb.lsm.flush.Flusher;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.tuning.WallRules.Division;
import io.isobardb.memory.cache.BufferCache;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.system.ProcessMemory;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Divides a store's memory budget into write memory and buffer cache.
 *
 * <p>What both share is the budget without the log's buffers, the tables, and some headroom for
 * merges, cursors and pages that readers still look at. At first the write memory has what the
 * options say: its <em>grant</em>. The wall can be moved, but what fits into the grant can always
 * be written: a write that needs more than the tuner has left moves the wall back, and the wall
 * stays beyond that from then on.
 *
 * <p>Neither region ever takes what is not there: pages come from the pool, which holds the budget.
 * Where the wall moves only says who gets them, and who has to give some back. What the write
 * memory does not use the cache may use until writers want it.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #setBudget} waits for flushes.
 */
public final class MemoryWall {
  /** How long {@link #setBudget} waits for slabs to go; then they go without it. */
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;
  private static final long LONGEST_PAUSE_NANOS = 100_000_000;

  private static final AtomicBoolean TOLD = new AtomicBoolean();

  private final Engine engine;
  private final PagePool pool;
  private final BufferCache cache;
  private final Flusher flusher;
  private final Checkpointer checkpointer;
  private final double askedShare;
  private final WallRules rules;

  /** The log's end when the budget was last lowered: older entries may lie in slabs that go. */
  private volatile long loweredAtLsn;

  private final Runnable onUnfinished;

  /** Held while the wall moves, and while the budget changes. */
  private final ReentrantLock moving = new ReentrantLock();

  /** In a simulation, the thread that waits for flushes meets itself here. */
  private boolean changing;

  /** The largest write that did not fit, in bytes; changed under the lock. */
  private volatile long largestWrite;

  private volatile long budgetBytes;
  private volatile long grantBytes;
  private volatile long mostWriteBytes;
  private volatile long sharedBytes;
  private volatile long targetBytes;

  /** Whether the cache may borrow what the write memory does not use; not while replay fills it. */
  private volatile boolean lends;

  /**
   * A wall that stands where the grant says; the cache learns of it with {@link #start}.
   *
   * @param onUnfinished called when {@link #giveBack} has to be called again, and soon
   */
  public MemoryWall(
      Engine engine,
      BufferCache cache,
      Flusher flusher,
      Checkpointer checkpointer,
      Grant grant,
      Runnable onUnfinished) {
    this.engine = engine;
    this.pool = engine.catalog().space().pool();
    this.cache = cache;
    this.flusher = flusher;
    this.checkpointer = checkpointer;
    this.onUnfinished = onUnfinished;
    this.budgetBytes = grant.budgetBytes();
    this.askedShare = grant.askedShare();
    this.grantBytes = grant.writeBytes();
    this.mostWriteBytes = grant.writeBytes();
    this.rules =
        new WallRules(
            (double) grant.writeFloorBytes() / grant.budgetBytes(),
            (double) grant.cacheFloorBytes() / grant.budgetBytes(),
            pool.pageSize());
    this.targetBytes = grant.writeBytes();
    this.sharedBytes = grant.budgetBytes();
    engine.gate().grant(grant.writeBytes());
  }

  /**
   * What the options say.
   *
   * @param budgetBytes all memory of the store
   * @param writeBytes the part that the write memory has at first
   * @param askedShare the part of the budget that was asked for, which may be more
   * @param writeFloorBytes the least that the tuner may leave the write memory; 0 for what the
   *     store needs
   * @param cacheFloorBytes the same for the cache
   */
  public record Grant(
      long budgetBytes,
      long writeBytes,
      double askedShare,
      long writeFloorBytes,
      long cacheFloorBytes) {}

  /** Divides the memory, now that the log has its buffers. */
  public void start() {
    moving.lock();
    try {
      MemoryAccount account = account(budgetBytes);
      long write = Math.min(engine.gate().limitBytes(), account.writeBytes());
      divide(budgetBytes, account, write);
      engine.gate().grant(grantBytes);
      engine.gate().setLimitBytes(write);
      lends = true;
    } finally {
      moving.unlock();
    }
    String why = ProcessMemory.whyNotGivenBack();
    if (why != null && TOLD.compareAndSet(false, true)) {
      SystemLog.tell(
          Level.INFO,
          MemoryWall.class,
          () -> "memory that stores free may stay with this process: " + why,
          null);
    }
  }

  /** How many pages the write memory lends to the cache now. */
  public int sparePages() {
    return lends ? (int) (engine.gate().spareBytes() / pool.pageSize()) : 0;
  }

  /** What write memory and cache have together, in bytes. */
  public long sharedBytes() {
    return sharedBytes;
  }

  /** Where the wall stands: the size of the write memory in bytes. */
  public long writeBytes() {
    return engine.gate().limitBytes();
  }

  /** Where the wall stands, or is moving to, in bytes. */
  public long targetBytes() {
    return targetBytes;
  }

  /** All memory of the store, in bytes. */
  public long budgetBytes() {
    return budgetBytes;
  }

  /** The least write memory and the least cache there should be. */
  WallRules.Floors floors() {
    return floors(division());
  }

  private WallRules.Floors floors(Division division) {
    long floors = engine.catalog().floorBytes();
    int trees = engine.catalog().trees().size();
    long large = Math.min(largestWrite, division.grant() / WallRules.LARGE_WRITES);
    return rules.floors(division, new WallRules.Needs(trees, floors, large));
  }

  private Division division() {
    return new Division(budgetBytes, sharedBytes, grantBytes, mostWriteBytes);
  }

  /** Says where the wall should go, within the floors; {@link #step} moves it. */
  public void moveTo(long writeBytes) {
    Awaited.BUDGET.check();
    moving.lock();
    try {
      targetBytes = floors().within(writeBytes, division());
    } finally {
      moving.unlock();
    }
  }

  /**
   * Moves the wall a little. Memory that writers have filled is given up only as it is flushed;
   * they are slowed down meanwhile, not stopped.
   *
   * @return whether it has not arrived
   */
  public boolean step() {
    if (!moving.tryLock()) {
      return true;
    }
    try {
      long now = engine.gate().limitBytes();
      if (changing || now == targetBytes) {
        return changing;
      }
      long next = rules.next(now, targetBytes, sharedBytes, engine.gate().limitForUse());
      place(next);
      flusher.request();
      return next != targetBytes;
    } finally {
      moving.unlock();
    }
  }

  /** The region that has to give gives first. */
  private void place(long writeBytes) {
    boolean rising = writeBytes > engine.gate().limitBytes();
    pool.blocks().keepForSlabs(MemoryAccount.slabBytes(pool, Math.max(writeBytes, grantBytes)));
    if (rising) {
      cache.resize(sharedBytes - writeBytes);
    }
    engine.gate().setLimitBytes(writeBytes);
    if (!rising) {
      cache.resize(sharedBytes - writeBytes);
    }
  }

  /**
   * Moves the wall back for a write that the grant has room for: at once, or after the change of
   * the budget that is under way.
   *
   * @param nanos how long it may wait for that; {@link WaitLimit#FOREVER} for as long as it takes
   * @return whether that was long enough
   */
  public boolean makeRoom(long bytes, long nanos) {
    Awaited.BUDGET.check();
    if (!lockWithin(nanos)) {
      return false;
    }
    try {
      largestWrite = Math.max(largestWrite, Math.min(bytes, grantBytes / WallRules.LARGE_WRITES));
      long needed = WallRules.LARGE_WRITES * largestWrite;
      targetBytes = Math.max(targetBytes, needed);
      if (!changing && engine.gate().limitBytes() < needed) {
        place(needed);
      }
      return true;
    } finally {
      moving.unlock();
    }
  }

  /** Takes the wall's lock, unless that takes longer. An interrupt is kept for later. */
  private boolean lockWithin(long nanos) {
    if (nanos == WaitLimit.FOREVER) {
      moving.lock();
      return true;
    }
    boolean interrupted = false;
    long begun = engine.nanos();
    try {
      while (true) {
        try {
          return moving.tryLock(begun + nanos - engine.nanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Divides the budget anew: what the write memory does not have the cache gets. */
  private void divide(long budget, MemoryAccount account, long writeBytes) {
    account.apply(pool);
    pool.blocks()
        .keepForSlabs(MemoryAccount.slabBytes(pool, Math.max(writeBytes, account.writeBytes())));
    budgetBytes = budget;
    sharedBytes = account.sharedBytes();
    mostWriteBytes = account.mostWriteBytes();
    grantBytes = account.writeBytes();
    targetBytes = writeBytes;
    cache.resize(sharedBytes - writeBytes);
  }

  /**
   * Changes the budget; write memory and buffer cache keep their shares of it, within the floors.
   * More is there at once. For less, this waits until the write memory has been flushed down to its
   * new size, and then until the pool is within the new budget. That second wait is bounded: what
   * is still held after it is logged, and {@link #giveBack} goes on in the background.
   *
   * @throws IllegalArgumentException if it is more than the JVM may have, or too little for what
   *     does not shrink
   */
  public void setBudget(long bytes) {
    Awaited.BUDGET.check();
    moving.lock();
    Awaited.BUDGET.enter();
    try {
      if (changing) {
        throw new IllegalStateException("the budget is being changed");
      }
      changing = true;
      try {
        changeBudget(bytes);
      } finally {
        changing = false;
      }
    } finally {
      Awaited.BUDGET.exit();
      moving.unlock();
    }
    awaitBudget();
  }

  /** Waits until the pool is within the budget, for a bounded time, without any lock. */
  private void awaitBudget() {
    long begun = engine.nanos();
    long nanos = SHORTEST_PAUSE_NANOS;
    while (giveBack()) {
      boolean stuck = engine.failure().cause() != null || engine.space().isFull();
      if (stuck || engine.nanos() - begun > PATIENCE_NANOS) {
        SystemLog.tell(
            Level.WARNING,
            MemoryWall.class,
            () ->
                engine.environment().storage().path()
                    + ": the memory budget was lowered to "
                    + pool.limitBytes()
                    + " bytes, but "
                    + pool.allocatedBytes()
                    + " are still held; they go as flushes, merges and reads end that hold pages of them: "
                    + pool.ledger(),
            null);
        onUnfinished.run();
        return;
      }
      // Flushes and merges tell what they free, but a slab goes when its last reader leaves.
      engine.gate().awaitFreed(() -> !pool.isAboveLimit(), nanos);
      nanos = Math.min(2 * nanos, LONGEST_PAUSE_NANOS);
    }
  }

  /**
   * Makes the holders of pages in slabs that have to go give them up: trees, by flushes; cursors;
   * the cache. Does not wait.
   *
   * @return whether the pool is still above its limit
   */
  public boolean giveBack() {
    if (!pool.isAboveLimit()) {
      return false;
    }
    if (engine.failure().cause() == null && !engine.space().isFull()) {
      for (TreeHandle tree : engine.catalog().trees()) {
        long oldest = tree.states().current().minMemoryLsn(engine.log().durable());
        if (oldest < loweredAtLsn && !tree.closed()) {
          flusher.flushAll(tree);
        }
      }
    }
    pool.vacate();
    return pool.isAboveLimit();
  }

  private void changeBudget(long bytes) {
    long fixed = MemoryAccount.fixedBytes(pool);
    long least = MemoryAccount.leastBudget(pool, fixed);
    if (bytes < least) {
      throw new IllegalArgumentException(
          "memoryBudget must be at least "
              + least
              + " bytes, of which the log and the tables hold "
              + fixed
              + ", not "
              + bytes
              + "; a store that is opened anew with a smaller budget takes less for them");
    }
    MemoryAccount account = account(bytes);
    Division division =
        new Division(bytes, account.sharedBytes(), account.writeBytes(), account.mostWriteBytes());
    long share = (long) ((double) bytes * targetBytes / budgetBytes);
    long write = floors(division).within(share, division);
    if (bytes >= pool.limitBytes()) {
      setLimit(bytes);
      divide(bytes, account, write);
      engine.gate().grant(grantBytes);
      engine.gate().setLimitBytes(write);
      return;
    }
    shrinkWriteMemory(write);
    engine.gate().grant(account.writeBytes());
    largestWrite = Math.min(largestWrite, account.writeBytes() / WallRules.LARGE_WRITES);
    divide(bytes, account, write);
    setLimit(bytes);
    // Memory that nobody writes to any more would keep its slabs for ever.
    loweredAtLsn = engine.log().end();
    flusher.request();
  }

  private void setLimit(long bytes) {
    pool.setLimit(bytes);
    engine.catalog().rangeMemory().recount();
  }

  private MemoryAccount account(long budget) {
    long asked = (long) (budget * askedShare);
    return MemoryAccount.of(pool, budget, MemoryAccount.fixedBytes(pool), asked);
  }

  /** Before the pool shrinks: a flush needs pages, too, and would never get them afterwards. */
  private void shrinkWriteMemory(long bytes) {
    long before = engine.gate().limitBytes();
    engine.gate().setLimitBytes(bytes);
    boolean done = false;
    try {
      checkpointer.awaitWriteMemory(bytes);
      done = true;
    } finally {
      if (!done) {
        engine.gate().setLimitBytes(before);
      }
    }
  }
}
