package io.isobardb.lsm.flush;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.observe.FlushSpan;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.memory.pool.OutOfBudgetException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the write memory below its trigger and the log below its limit, by flushing.
 *
 * <p>Asked by writers and by itself; looks at all trees, idle ones too. Thread rule: all methods
 * may be called by any thread; none blocks.
 */
public final class Flusher {
  /** Groups of L0 at which a tree is not flushed until merges have caught up. */
  public static final int MAX_L0_GROUPS = 12;

  /** Bytes flushed for memory's sake over bytes in memory, up to which all of a tree is flushed. */
  private static final double BETA = 0.5;

  private final Engine engine;
  private final Settings settings;
  private final Consumer<TreeHandle> onFlushed;

  private final AtomicInteger running = new AtomicInteger();
  private final AtomicBoolean choosing = new AtomicBoolean();
  private final LongAdder bytesWritten = new LongAdder();
  private final LongAdder flushes = new LongAdder();
  private volatile Runnable letGo = () -> {};

  /**
   * What flushes keep to.
   *
   * @param logLimitBytes above this length of log the tree with the lowest LSN is flushed
   * @param tableBytes size of a disk SSTable
   * @param maxJobs flushes at once
   */
  public record Settings(long logLimitBytes, long tableBytes, int maxJobs) {}

  /**
   * @param onFlushed told when a tree's L0 has grown
   */
  public Flusher(Engine engine, Settings settings, Consumer<TreeHandle> onFlushed) {
    this.engine = engine;
    this.settings = settings;
    this.onFlushed = onFlushed;
  }

  /** What makes cursors give up old states, so that what was flushed can be freed. */
  public void onPressure(Runnable action) {
    letGo = action;
  }

  Engine engine() {
    return engine;
  }

  Settings settings() {
    return settings;
  }

  /** Bytes written to disk by flushes. */
  public long bytesWritten() {
    return bytesWritten.sum();
  }

  /** Slices flushed. */
  public long flushes() {
    return flushes.sum();
  }

  /** Starts flushes if there is need. Cheap when there is none, or when enough of them run. */
  public void request() {
    holdWriters();
    if (running.get() >= settings.maxJobs()
        || engine.failure().cause() != null
        || engine.space().isFull()) {
      return;
    }
    if (!choosing.compareAndSet(false, true)) {
      return;
    }
    try {
      choose();
    } finally {
      choosing.set(false);
    }
  }

  /** Makes writers wait while the log is over its limit. Cheap when it is not near that. */
  private void holdWriters() {
    boolean logFull = false;
    // A log that is replayed is as long as it is.
    if (engine.log().isOpen() && engine.log().sizeBytes() > settings.logLimitBytes()) {
      // What a flush could let go, not what the files hold: their cut comes with the next edit.
      long needed = engine.log().end() - engine.catalog().neededLsn();
      logFull = needed > settings.logLimitBytes();
    }
    engine.gate().setLogFull(logFull);
  }

  /** Sees whether flushes wait for L0, so that the waits of writers are named for that. */
  private void seeL0() {
    boolean full = false;
    for (TreeHandle tree : engine.catalog().trees()) {
      full |= l0Full(tree) && memoryBytes(tree.states().current()) > 0;
    }
    engine.gate().setL0Full(full);
  }

  private void choose() {
    while (running.get() < settings.maxJobs()) {
      FlushJob job = logTriggered();
      if (job == null && engine.gate().pressed()) {
        job = memoryTriggered();
        if (job == null && running.get() == 0) {
          relieve();
        }
      }
      if (job == null) {
        return;
      }
      running.incrementAndGet();
      engine.environment().scheduler().submit(job);
    }
  }

  /** Frees what nobody but idle cursors holds any more. */
  private void relieve() {
    long before = engine.gate().usedBytes();
    letGo.run();
    if (engine.gate().usedBytes() < before) {
      engine.gate().wake();
    }
  }

  /** Flushes everything a tree holds in memory now. False if a flush of it is under way. */
  public boolean flushAll(TreeHandle tree) {
    if (!tree.memoryBusy().compareAndSet(false, true)) {
      return false;
    }
    sealActive(tree);
    running.incrementAndGet();
    engine.environment().scheduler().submit(new FlushJob(this, tree, FlushJob.Mode.FULL));
    return true;
  }

  /**
   * A flush of the tree that keeps the log from being cut, if the log is too long.
   *
   * <p>If it is flushed for memory's sake too, its oldest run is soon done with. If hardly, because
   * the log is short for so much memory, many small flushes of the oldest would only pile up in L0:
   * then all of it goes ("Breaking Down Memory Walls in LSM-based Storage Systems", 4.2.1, beta).
   */
  private @Nullable FlushJob logTriggered() {
    if (engine.log().sizeBytes() <= settings.logLimitBytes() / 64 * 61) {
      return null;
    }
    TreeHandle oldest = null;
    long lowest = Long.MAX_VALUE;
    for (TreeHandle tree : engine.catalog().trees()) {
      long lsn = tree.states().current().minMemoryLsn();
      if (tree.settings().logged() && lsn < lowest && !tree.closed()) {
        lowest = lsn;
        oldest = tree;
      }
    }
    if (oldest == null || l0Full(oldest) || !oldest.memoryBusy().compareAndSet(false, true)) {
      return null;
    }
    TreeState state = oldest.states().current();
    long bytes = memoryBytes(state);
    long since = oldest.takeFlushedBytes();
    if (state.memoryRunCount() == 0 || since <= BETA * bytes) {
      sealActive(oldest);
      return new FlushJob(this, oldest, FlushJob.Mode.FULL);
    }
    return new FlushJob(this, oldest, FlushJob.Mode.OLDEST);
  }

  /** A flush of the tree that holds more than its share, if any has something to flush. */
  private @Nullable FlushJob memoryTriggered() {
    List<TreeHandle> candidates = new ArrayList<>(engine.catalog().trees());
    TreeHandle best = null;
    long most = 0;
    for (TreeHandle tree : candidates) {
      long bytes = memoryBytes(tree.states().current());
      if (bytes > most && !tree.memoryBusy().get() && !l0Full(tree) && !tree.closed()) {
        most = bytes;
        best = tree;
      }
    }
    if (best == null || !best.memoryBusy().compareAndSet(false, true)) {
      return null;
    }
    if (best.states().current().frozenRuns(engine.log().visible()) == 0) {
      sealActive(best);
    }
    return new FlushJob(this, best, FlushJob.Mode.PARTIAL);
  }

  private static boolean l0Full(TreeHandle tree) {
    return tree.states().current().version().groups().size() >= MAX_L0_GROUPS;
  }

  /** Bytes of write memory that a tree holds. */
  public static long memoryBytes(TreeState state) {
    long bytes = ((ActiveTree) state.active().content()).bytesUsed();
    for (int i = 0; i < state.memoryRunCount(); i++) {
      bytes += state.run(i).sizeBytes();
    }
    return bytes;
  }

  private void sealActive(TreeHandle tree) {
    ActiveTree active = tree.activeTree();
    if (active.bytesUsed() > 0) {
      tree.seal(active, engine.log()::end);
    }
  }

  /** A slice of a tree is on disk. */
  void flushed(
      TreeHandle tree, boolean partial, FlushSpan span, long written, long freed, long nanos)
      throws IOException {
    if (partial) {
      tree.addFlushedBytes(freed);
    }
    bytesWritten.add(written);
    flushes.increment();
    engine.observers().flushed(span, new StoreListener.Flush(tree.name(), written, freed, nanos));
    cutLog();
    holdWriters();
    seeL0();
    if (engine.gate().pressed()) {
      letGo.run();
    }
    engine.gate().freed(freed, nanos);
    onFlushed.accept(tree);
  }

  private void cutLog() throws IOException {
    if (engine.log().isOpen()) {
      engine.log().get().truncateBefore(engine.catalog().logStart());
    }
  }

  /** A flush has ended. */
  void ended(TreeHandle tree) {
    tree.memoryBusy().set(false);
    if (running.decrementAndGet() == 0 && engine.log().sizeBytes() > settings.logLimitBytes()) {
      relieveLog();
    }
    engine.gate().wake();
    request();
  }

  /** Cuts the log as far as it can be now: no later flush might come that would. */
  private void relieveLog() {
    if (!engine.log().isOpen() || engine.failure().cause() != null) {
      return;
    }
    try {
      engine.log().get().flush();
      engine.catalog().noteLogStart();
      cutLog();
    } catch (IOException | RuntimeException e) {
      failed(e);
    }
  }

  void failed(Throwable cause) {
    if (cause instanceof DiskFullException full) {
      engine.space().full(full);
    } else if (cause instanceof OutOfBudgetException none) {
      engine.space().outOfMemory(none);
    } else {
      engine.failure().fail(cause);
    }
  }
}
