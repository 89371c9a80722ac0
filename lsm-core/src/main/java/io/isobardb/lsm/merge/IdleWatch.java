package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.StoreClock;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.schedule.StoreWatch;
import io.isobardb.lsm.state.ReadLoss;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notices trees that nobody writes to any more, and has their memory merged into one run, and all
 * of them into one on disk once reads have paid for that ({@link Settler}).
 *
 * <p>It also has small SSTables joined where there are many ({@link SmallTables}).
 *
 * <p>Looks at the trees a few times a second, if that takes a twentieth of a processor at most, and
 * only as long as something may have changed: a store that is not written to is not looked at
 * again, but once a second if it holds what expires, and when reads have paid for one more merge,
 * or for an index ({@link TableIndexes}). Work that has to be repeated until it is done, and that
 * no one waits for, is done here as well. It also notes the time by which reads have judged what
 * expires, if no commit has done so.
 *
 * <p>Thread rule: {@link #run} is called by one thread at a time; {@link #onWritten} by any.
 */
public final class IdleWatch implements StoreWatch {
  /** How long a tree must have been left alone, twice at most. */
  private static final long PERIOD_NANOS = 100_000_000;

  /** A pause is so many times as long as the look before it: of many trees a look takes long. */
  private static final int PAUSE_PER_LOOK = 20;

  /** How soon trees are looked at once cursors have lost much to delete markers. */
  private static final long MARKERS_NANOS = 1_000_000;

  /** How often trees are looked at of which something expires, and the time noted. */
  private static final long EXPIRY_NANOS = 1_000_000_000;

  private final Engine engine;
  private final Merger merger;
  private final MemoryMerger memoryMerger;
  private final Settler settler;
  private final TableIndexes indexes;
  private final SmallTables smallTables;
  private final Map<TreeHandle, Seen> seen = new HashMap<>();
  private final BooleanSupplier unfinished;
  private @Nullable Handle handle;

  /** What the store's clock told last when that was noted, or when only this watch asked it. */
  private long knownMillis;

  private long notedNanos = Long.MIN_VALUE;

  /** How long to wait before trees are looked at again. */
  private volatile long periodNanos = PERIOD_NANOS;

  /**
   * What a tree was like at its last look that found it written to, or lookups to have gained more
   * than scans have lost.
   *
   * @param bytesWritten to it by users
   * @param reads of it
   */
  private record Seen(long bytesWritten, Settler.Reads reads) {}

  /**
   * @param flushes flush trees that are settled
   * @param indexLookups how many, for each entry, pay for an index over a cached SSTable
   * @param unfinished does a piece of other work; whether there is more of it. Must not wait.
   */
  public IdleWatch(
      Engine engine,
      Merger merger,
      MemoryMerger memoryMerger,
      Flushes flushes,
      double indexLookups,
      BooleanSupplier unfinished) {
    this.engine = engine;
    this.merger = merger;
    this.memoryMerger = memoryMerger;
    this.settler = new Settler(engine, merger, flushes);
    this.indexes = new TableIndexes(engine, indexLookups);
    this.smallTables = new SmallTables(engine, merger);
    this.unfinished = unfinished;
  }

  @Override
  public void start() {
    handle = engine.environment().scheduler().start(this);
    onWritten();
  }

  /** Ends, after a look that is under way. */
  public void stop() {
    Handle started = handle;
    if (started != null) {
      started.stop();
    }
  }

  @Override
  public void onWritten() {
    Handle started = handle;
    if (started != null) {
      started.wakeWithin(periodNanos);
    }
  }

  /** There may be many small SSTables by now. */
  @Override
  public void onFlushed() {
    onWritten();
  }

  /** Cursors have lost more to delete markers; called by a thread that reads. */
  private void onMarkers() {
    Handle started = handle;
    if (started != null) {
      started.wakeWithin(MARKERS_NANOS);
    }
  }

  @Override
  public String name() {
    return "idle";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    long began = engine.nanos();
    StoreClock clock = engine.snapshots().time();
    clock.tellLeap();
    boolean asked = clock.lastMillis() != knownMillis;
    boolean again = unfinished.getAsBoolean();
    boolean expires = false;
    for (TreeHandle tree : engine.catalog().trees()) {
      if (merger.awaitsDrop(tree)) {
        merger.request(tree);
        again = true;
      }
      expires |= tree.expires();
      again |= look(tree);
    }
    forgetClosed();
    periodNanos = Math.max(PERIOD_NANOS, PAUSE_PER_LOOK * (engine.nanos() - began));
    long told = clock.lastMillis();
    if (!asked || noted()) {
      knownMillis = told;
    }
    Handle started = handle;
    if (again) {
      onWritten();
    } else if (expires && started != null) {
      started.wakeWithin(EXPIRY_NANOS);
    }
  }

  /** Whether a tree should be looked at again soon. */
  private boolean look(TreeHandle tree) {
    long written = tree.counts().bytesWritten();
    ReadLoss loss = tree.memory().readLoss();
    indexes.request(tree);
    Seen before = seen.get(tree);
    if (before == null) {
      loss.listenToMarkers(this::onMarkers);
    }
    boolean isWritten = before == null || before.bytesWritten() != written;
    boolean cleans = merger.unhindered() && settler.requestClean(tree, isWritten);
    if (before == null || isWritten) {
      seen.put(tree, new Seen(written, Settler.Reads.of(tree)));
      settler.forget(tree);
      memoryMerger.request(tree);
      smallTables.request(tree);
      return true;
    }
    Settler.Reads reads = Settler.Reads.of(tree).since(before.reads());
    if (reads.scans().nanos() + reads.scans().markerNanos() < 0) {
      // Lookups of the past say nothing of what comes: scans need not make up for them.
      Seen now = new Seen(written, Settler.Reads.of(tree));
      seen.put(tree, now);
      reads = now.reads().since(now.reads());
    }
    if (cleans
        || !merger.unhindered()
        || memoryMerger.requestIdle(tree)
        || smallTables.request(tree)
        || settler.request(tree, reads)) {
      return true;
    }
    loss.listen(this::onWritten);
    // Scans may have to lose more, as lookups count against them: then that is asked again.
    long settles = due(settler.priceNanos(tree, reads), reads.scans().nanos());
    long looks = Math.min(memoryMerger.priceNanos(tree), settler.nanosToLook(tree));
    loss.tellAt(due(Math.min(looks, settles), -loss.nanosPerRun()));
    return false;
  }

  private static long due(long price, long lost) {
    return price == Long.MAX_VALUE ? price : price - lost;
  }

  private void forgetClosed() {
    for (TreeHandle tree : List.copyOf(seen.keySet())) {
      if (tree.closed()) {
        seen.remove(tree);
        settler.close(tree);
        smallTables.forget(tree);
      }
    }
  }

  /** Notes the time, but not within a second after the last note; returns whether it did. */
  private boolean noted() {
    long now = engine.nanos();
    if (engine.failure().cause() != null
        || engine.environment().storage().discardsChanges()
        || notedNanos != Long.MIN_VALUE && now - notedNanos < EXPIRY_NANOS) {
      return false;
    }
    try {
      engine.catalog().noteTime();
      notedNanos = now;
      return true;
    } catch (DiskFullException e) {
      // There may be room at the next look.
      return false;
    } catch (IOException e) {
      engine.failure().fail(e);
      return false;
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    engine.failure().fail(cause);
  }
}
