package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.error.StoreFailedException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.flush.ClosingFlush;
import io.isobardb.lsm.recovery.ClosingSteps;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.ExitHook;
import io.isobardb.lsm.schedule.SignalLock;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;

/**
 * The end of a store. It comes once: because its user closes it, because the JVM ends, or because
 * its user lost it.
 *
 * <p>Refers to nothing that users hold, nor does what the store's threads reach, so that a store
 * can be lost: a cleaner notices when the open store is garbage. A cursor can be used without its
 * store, so a lost store is closed in the background once it has no open cursors. A registered bean
 * and a validated index refer to the store, so one that has these is not noticed before the JVM
 * ends.
 *
 * <p>The end of the JVM waits for calls for a moment. If one stays, nothing can be freed beneath
 * it, so a checkpoint is all that is done.
 *
 * <p>A thread that creates or drops trees, or closes the store, holds its {@link #lock}.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class Lifetime implements ExitHook.Closer {
  /** How long the end of the JVM waits for calls that have begun. */
  private static final long EXIT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** What becomes of the store at its end. */
  private enum Ending {
    OPEN,

    /** It is closed. */
    FREED,

    /** It is left as it is, as a call has not ended when the JVM does. */
    SAVED
  }

  private final StoreParts parts;
  private final Engine engine;
  private final Operations operations;
  private final LeakWatch leaks;
  private final Transactions transactions;
  private final OpenCursors cursors;
  private final RecorderSlot recorders;
  private final SignalLock lock;
  private final AtomicInteger snapshots = new AtomicInteger();
  private final Set<BulkLoader> loads = ConcurrentHashMap.newKeySet();
  private final AtomicInteger images = new AtomicInteger();
  private final LeakWatch.@Nullable Origin origin;

  /** What opened the store, and where; empty if nobody watches whether it is lost. */
  private volatile String opened = "";

  private Cleaner.@Nullable Cleanable watch;

  /** What closing consists of, once it has begun. */
  private volatile @Nullable ClosingSteps closing;

  private final AtomicReference<Ending> ending = new AtomicReference<>(Ending.OPEN);

  /** Whether all steps of closing have been taken. */
  private volatile boolean ended;

  /** With JMX, if there is one. */
  private @Nullable Registration registration;

  Lifetime(
      StoreParts parts,
      Operations operations,
      LeakWatch leaks,
      Transactions transactions,
      OpenCursors cursors,
      RecorderSlot recorders) {
    this.recorders = recorders;
    this.parts = parts;
    this.engine = parts.engine();
    this.operations = operations;
    this.leaks = leaks;
    this.transactions = transactions;
    this.cursors = cursors;
    this.origin = leaks.taken("the store", "");
    this.lock = new SignalLock(engine.environment().scheduler(), Awaited.LIFETIME);
  }

  /** Held by a thread that creates or drops trees, commits a bulk load, or closes the store. */
  SignalLock lock() {
    return lock;
  }

  /** How many snapshots are open. */
  AtomicInteger snapshots() {
    return snapshots;
  }

  /** How many images of the store are being copied; each ends soon after the store is closed. */
  AtomicInteger images() {
    return images;
  }

  /** Bulk loads that have not ended. */
  Set<BulkLoader> loads() {
    return loads;
  }

  LeakWatch.@Nullable Origin origin() {
    return origin;
  }

  /** What users did not close, in words, or null if they did. */
  private @Nullable String leftOpen() {
    int open = snapshots.get() + cursors.count() + transactions.count();
    return open == 0
        ? null
        : String.format(
            Locale.ROOT,
            "%d snapshots, %d cursors and %d transactions",
            snapshots.get(),
            cursors.count(),
            transactions.count());
  }

  // ---- what may end it besides its user

  /**
   * Has the store closed when it is lost, and if asked for when the JVM ends.
   *
   * @param store what its user holds something of, and nothing here refers to
   * @throws IllegalStateException if the JVM is ending
   */
  void watch(Object store, boolean closeOnExit) {
    lock.lock();
    try {
      watchHolding(store, closeOnExit);
    } finally {
      lock.unlock();
    }
  }

  private void watchHolding(Object store, boolean closeOnExit) {
    opened = LeakWatch.here();
    engine.environment().storage().describeHolder(opened);
    watch = LeakWatch.cleaner().register(store, this::onLost);
    if (closeOnExit) {
      ExitHook.ofJvm().add(this);
    }
  }

  @Override
  public String name() {
    return engine.environment().storage().path();
  }

  /** Nobody can close the store any more, nor use it but by a cursor. */
  private void onLost() {
    if (ended) {
      return;
    }
    boolean used = cursors.count() > 0;
    String end = used ? "is closed once its cursors are" : "is closed now";
    engine
        .environment()
        .storage()
        .describeHolder(opened + ", was lost without close(), and " + end);
    log(" was lost without close(), and " + end + ": it was opened " + opened, origin);
    cursors.afterLast(() -> ExitHook.closeInBackground(this));
  }

  // ---- JMX

  /** See {@code Store.registerMXBean}. */
  ObjectName register(OpenStore open) {
    lock.lock();
    try {
      operations.checkOpen();
      Registration made = new Registration(open, name());
      registration = made;
      return made.store();
    } catch (JMException e) {
      throw new IllegalStateException("JMX does not take the store: " + e, e);
    } finally {
      lock.unlock();
    }
  }

  /** The lock is held: a tree was created. */
  void onTreeCreated(String tree) {
    if (registration != null) {
      registration.add(tree);
    }
  }

  /** The lock is held: a tree was dropped. */
  void onTreeDropped(String tree) {
    if (registration != null) {
      registration.remove(tree);
    }
  }

  private void unregister() {
    if (registration != null) {
      registration.removeAll();
      registration = null;
    }
  }

  // ---- closing

  /** See {@code Store.close}. */
  @Override
  public void close() {
    StackRoom.check();
    tellLeftOpen();
    lock.lock();
    try {
      closeHolding();
    } finally {
      lock.unlock();
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A lock is taken from a thread only where it may call user code under it: within the last
   * checkpoint.
   */
  @Override
  public void goOnWithout(Predicate<Thread> exiting) {
    engine.environment().scheduler().goOnWithout(exiting);
    parts.checkpointer().goOnWithout(exiting);
    lock.takeFrom(exiting);
  }

  /**
   * {@inheritDoc}
   *
   * <p>If a call of the store does not end, the memory that it uses can't be freed: then unlogged
   * trees are saved, and the store is left as it is.
   */
  @Override
  public void closeAtExit() {
    tellLeftOpen();
    operations.refuse();
    // What else has begun may wait for a lock or for memory.
    transactions.close();
    engine.gate().close();
    boolean idle = operations.awaitBegun(cursors::closeIdle, EXIT_NANOS);
    if (idle && lock.tryLock(EXIT_NANOS)) {
      try {
        closeHolding();
      } finally {
        lock.unlock();
      }
    } else if (ending.compareAndSet(Ending.OPEN, Ending.SAVED) || ending.get() == Ending.SAVED) {
      saveAtExit();
    } else {
      close();
    }
  }

  private void tellLeftOpen() {
    if (operations.isClosed()) {
      return;
    }
    leaks.onClosed(origin);
    String open = leftOpen();
    if (open != null) {
      leaks.tellLeft(open);
    }
  }

  private void closeHolding() {
    if (ended) {
      return;
    }
    operations.refuse();
    ClosingSteps steps = closing;
    if (steps == null) {
      steps = closingSteps();
      closing = steps;
    }
    try {
      steps.takeAll();
    } catch (IOException e) {
      throw Operations.failed("closing the store", e);
    } finally {
      // Until then the end of the JVM, or the loss of the store, goes on with the rest.
      if (steps.isDone()) {
        ended = true;
        ExitHook.ofJvm().remove(this);
        Cleaner.Cleanable watching = watch;
        if (watching != null) {
          watching.clean();
        }
      }
    }
  }

  /** Saves what the end of the process would take: what is logged, it does not. */
  private void saveAtExit() {
    log(" is saved, but not closed: a call has not ended", null);
    if (unloggedTrees().isEmpty()) {
      return;
    }
    if (engine.log().visible() + 1 < engine.log().end()) {
      throw new IsobarException(
          atRisk() + ": a write does not end, and what follows it can't be read");
    }
    IsobarException failure = lastCheckpoint();
    if (failure != null) {
      throw failure;
    }
  }

  private List<String> unloggedTrees() {
    return engine.catalog().trees().stream()
        .filter(tree -> !tree.settings().logged())
        .map(TreeHandle::name)
        .toList();
  }

  @Override
  public String atRisk() {
    List<String> trees = unloggedTrees();
    return trees.isEmpty()
        ? "all that was written is in the log"
        : "the unlogged trees "
            + trees
            + " will stand at their last checkpoint; what is logged is not lost";
  }

  /** The lock is held, and operations are refused, so that there are no more trees. */
  private ClosingSteps closingSteps() {
    ClosingSteps steps = new ClosingSteps();
    steps.add(this::unregister);
    steps.add(transactions::close);
    parts.services().addStops(steps);
    steps.add(engine.gate()::close);
    steps.addRepeatable(cursors::closeAll);
    steps.add(this::closeRecorder);
    steps.addRepeatable(operations::awaitBegun);
    steps.addRepeatable(this::beginToFree);
    steps.addRepeatable(() -> loads.forEach(BulkLoader::discard));
    steps.addRepeatable(() -> operations.awaitCopies(() -> images.get() == 0));
    // What is not saved here is lost with the memory.
    steps.addRepeatable(() -> saveUnlogged(steps));
    steps.add(new ClosingFlush(engine, parts.flusher())::run);
    steps.addRepeatable(
        () ->
            engine.catalog().trees().forEach(tree -> tree.close(TreeHandle.Refusal.STORE_CLOSED)));
    // Reads ask their tree, not the store: some have begun since.
    steps.addRepeatable(operations::awaitBegun);
    steps.addRepeatable(
        () -> parts.services().awaitMerges(() -> operations.awaitJobs(() -> false)));
    steps.addRepeatable(() -> operations.awaitReaders(parts.pool().epochs()));
    steps.add(() -> ProfileFile.write(engine, parts.pool()));
    parts.addClosing(steps);
    return steps;
  }

  /** What a recording lacks does not keep a store from being closed whole. */
  private void closeRecorder() {
    try {
      recorders.close();
    } catch (UncheckedIOException e) {
      log(": " + e.getMessage(), null);
    }
  }

  private void log(String what, @Nullable Throwable cause) {
    SystemLog.tell(Level.WARNING, Lifetime.class, this, what, cause);
  }

  /** From here on the store can only be closed. */
  private void beginToFree() {
    if (!ending.compareAndSet(Ending.OPEN, Ending.FREED) && ending.get() == Ending.SAVED) {
      throw new IsobarException("the JVM ends: " + name() + " is saved, and not closed");
    }
  }

  private void saveUnlogged(ClosingSteps steps) {
    IsobarException failure = lastCheckpoint();
    if (failure != null) {
      steps.noteFailure(failure);
    }
  }

  /**
   * What kept unlogged trees, or all, from being saved, or null. A store that has failed does not
   * try, and says so unless some call has done that before.
   */
  private @Nullable IsobarException lastCheckpoint() {
    Throwable cause = engine.failure().cause();
    if (cause != null) {
      return engine.failure().told()
          ? null
          : new StoreFailedException(
              "the store had stopped writing before it was closed, and no call was told: "
                  + cause
                  + "; what was not synced by then may be lost. Mend the cause, and open it again",
              cause);
    }
    if (!parts.checkpointer().behind()) {
      return null;
    }
    try {
      parts.checkpointer().checkpoint();
      return null;
    } catch (IsobarException e) {
      return new IsobarException(
          "closed without a last checkpoint of the unlogged trees: " + e.getMessage(), e);
    } catch (IOException e) {
      return Operations.failed("the last checkpoint", e);
    }
  }
}
