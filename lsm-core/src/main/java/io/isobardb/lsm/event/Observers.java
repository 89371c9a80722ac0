package io.isobardb.lsm.event;

import io.isobardb.lsm.error.UserCode;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StoreListener;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

/**
 * Passes events on to a store's listeners and to JFR.
 *
 * <p>Thread rule: all methods may be called by any thread; the caller holds no lock.
 */
public final class Observers {
  /** Registered when JFR is first used, since the first registration takes long. */
  private static final List<Class<? extends Event>> EVENTS =
      List.of(
          FlushSpan.class,
          IoLimitChange.class,
          IoSample.class,
          LevelPlanning.class,
          MergeSpan.class,
          ShapeChange.class,
          StallSpan.class,
          SyncSpan.class,
          TuningSpan.class);

  /** The observers of open stores, for what JFR asks for from time to time. */
  private static final Set<Observers> OPEN = ConcurrentHashMap.newKeySet();

  /** Held while JFR is told of the first open store, or that there is none any more. */
  private static final ReentrantLock REGISTERING = new ReentrantLock();

  private static final Runnable SAMPLING = () -> OPEN.forEach(Observers::sampleNow);

  private static final FlightRecorderListener RECORDER =
      new FlightRecorderListener() {
        /** JFR holds a lock of its own meanwhile, so this takes none. */
        @Override
        public void recorderInitialized(FlightRecorder recorder) {
          EVENTS.forEach(FlightRecorder::register);
          FlightRecorder.addPeriodicEvent(IoSample.class, SAMPLING);
        }
      };

  private final String store;
  private final List<StoreListener> listeners = new CopyOnWriteArrayList<>();
  private final IoCounters io;

  /** Whether there has been a listener: one that removes itself is still being told then. */
  private volatile boolean hasListened;

  /** True for a thread that is in a listener. */
  private final ThreadLocal<Boolean> telling = ThreadLocal.withInitial(() -> false);

  /** What was read and written, by purpose. */
  public interface IoCounters {
    /** Bytes read so far. */
    Map<IoPurpose, Long> bytesRead();

    /** Bytes written so far. */
    Map<IoPurpose, Long> bytesWritten();
  }

  /**
   * @param store where the store is, for JFR
   * @param io what JFR is told of from time to time, between {@link #open} and {@link #close}
   */
  public Observers(String store, IoCounters io) {
    this.store = store;
    this.io = io;
  }

  /** The store is being opened: JFR may ask it from now on. */
  public void open() {
    REGISTERING.lock();
    try {
      if (OPEN.isEmpty()) {
        FlightRecorder.addListener(RECORDER);
      }
      OPEN.add(this);
    } finally {
      REGISTERING.unlock();
    }
  }

  /** Adds a listener; it is told of what ends from now on. */
  public void add(StoreListener listener) {
    hasListened = true;
    listeners.add(listener);
  }

  /** A listener is told of nothing more; a call of it that is under way goes on. */
  public void remove(StoreListener listener) {
    listeners.remove(listener);
  }

  /**
   * The store is being closed. Without an open store JFR holds nothing of this class loader, so
   * that the class loader can be freed.
   */
  public void close() {
    REGISTERING.lock();
    try {
      if (OPEN.remove(this) && OPEN.isEmpty()) {
        // From then on RECORDER is not called, nor is a call of it under way.
        FlightRecorder.removeListener(RECORDER);
        if (FlightRecorder.isInitialized()) {
          FlightRecorder.removePeriodicEvent(SAMPLING);
        }
      }
    } finally {
      REGISTERING.unlock();
    }
  }

  /**
   * Refuses a call that may wait for work that waits for a listener.
   *
   * @param call as users write it
   * @throws IllegalStateException if this thread is in a listener
   */
  public void refuseWhileTelling(String call) {
    if (hasListened && telling.get()) {
      throw new IllegalStateException(
          call
              + " was called by a listener; it may wait for work that waits for the listener."
              + " Call it from a thread of your own");
    }
  }

  private void sampleNow() {
    Map<IoPurpose, Long> read = io.bytesRead();
    io.bytesWritten()
        .forEach(
            (purpose, written) -> {
              IoSample sample = new IoSample();
              sample.store = store;
              sample.purpose = purpose.name();
              sample.bytesRead = read.getOrDefault(purpose, 0L);
              sample.bytesWritten = written;
              sample.commit();
            });
  }

  /**
   * What flushes and merges may read and write has changed.
   *
   * @param l0Bytes per second, of merges of L0
   * @param allBytes per second, of all
   */
  public void onLimited(long l0Bytes, long allBytes, long pieceBytes, String reason) {
    IoLimitChange change = new IoLimitChange();
    if (change.shouldCommit()) {
      change.store = store;
      change.l0Bytes = l0Bytes;
      change.allBytes = allBytes;
      change.pieceBytes = pieceBytes;
      change.reason = reason;
      change.commit();
    }
  }

  /** A transaction is, or was, open for long. */
  public void onLongTransaction(long id, long nanos) {
    tell(StoreListener::onLongTransaction, new StoreListener.LongTransaction(id, nanos));
  }

  /** Something that users took was not closed. */
  public void onLeaked(String what, Throwable origin) {
    tell(StoreListener::onLeaked, new StoreListener.Leak(what, origin));
  }

  /** Ends a flush that began with {@code span}. */
  public void onFlushed(FlushSpan span, StoreListener.Flush event) {
    if (span.shouldCommit()) {
      span.store = store;
      span.tree = event.tree();
      span.bytesWritten = event.bytesWritten();
      span.kind = event.kind().name();
      span.bytesFreed = event.bytesFreed();
      span.commit();
    }
    tell(StoreListener::onFlushed, event);
  }

  /** Ends a merge that began with {@code span}. */
  public void onMerged(MergeSpan span, StoreListener.Merge event) {
    if (span.shouldCommit()) {
      span.store = store;
      span.tree = event.tree();
      span.kind = event.kind().name();
      span.inputs = event.inputs();
      span.outputs = event.outputs();
      span.bytesRead = event.bytesRead();
      span.bytesWritten = event.bytesWritten();
      span.commit();
    }
    tell(StoreListener::onMerged, event);
  }

  /** Ends a stall that began with {@code span}. */
  public void onStalled(StallSpan span, StoreListener.Stall event) {
    if (span.shouldCommit()) {
      span.store = store;
      span.reason = event.reason().name();
      span.commit();
    }
    tell(StoreListener::onStalled, event);
  }

  /** Ends a sync of the log that began with {@code span}. */
  public void onSynced(SyncSpan span, StoreListener.Sync event) {
    if (span.shouldCommit()) {
      span.store = store;
      span.bytes = event.bytes();
      span.commit();
    }
    tell(StoreListener::onSynced, event);
  }

  /** The memory tuner has decided; {@code span} began when it began to. */
  public void onTuned(TuningSpan span, StoreListener.Tuning event) {
    if (span.shouldCommit()) {
      span.store = store;
      span.cycle = event.cycle();
      span.operations = event.operations();
      span.fromBytes = event.fromBytes();
      span.toBytes = event.toBytes();
      span.writeCost = event.writeCost();
      span.readCost = event.readCost();
      span.cost = event.cost();
      span.predictedCost = event.predictedCost();
      span.expectedCost = event.expectedCost();
      span.method = event.method();
      span.reason = event.reason();
      span.commit();
    }
    tell(StoreListener::onTuned, event);
  }

  /** What a tree's levels are to hold was decided. */
  public void onLeveled(StoreListener.Levels event) {
    LevelPlanning planning = new LevelPlanning();
    if (planning.shouldCommit()) {
      planning.store = store;
      planning.tree = event.tree();
      planning.cycle = event.cycle();
      planning.plannedBytes = event.plannedBytes().toString();
      planning.modelledCost = event.modelledCost();
      planning.expectedCost = event.expectedCost();
      planning.foundCost = event.foundCost();
      planning.action = event.action();
      planning.reason = event.reason();
      planning.commit();
    }
    tell(StoreListener::onLeveled, event);
  }

  /** A tree was made, or has a new name. */
  public void onTreeCreated(StoreListener.TreeCreated event) {
    tell(StoreListener::onTreeCreated, event);
  }

  /** A tree was dropped, or has no longer that name. */
  public void onTreeDropped(StoreListener.TreeDropped event) {
    tell(StoreListener::onTreeDropped, event);
  }

  /** How many runs a tree's levels are to have was decided. */
  public void onShaped(StoreListener.Shape event) {
    ShapeChange change = new ShapeChange();
    if (change.shouldCommit()) {
      change.store = store;
      change.tree = event.tree();
      change.window = event.window();
      change.from = event.from();
      change.to = event.to();
      change.modelledCost = event.modelledCost();
      change.expectedCost = event.expectedCost();
      change.foundCost = event.foundCost();
      change.price = event.price();
      change.action = event.action();
      change.reason = event.reason();
      change.commit();
    }
    tell(StoreListener::onShaped, event);
  }

  /** A merge operator has failed in a flush or merge. */
  public void onOperatorFailed(StoreListener.OperatorFailure event) {
    tell(StoreListener::onOperatorFailed, event);
  }

  /** The store takes no more writes. */
  public void onFailed(StoreListener.Failure event) {
    tell(StoreListener::onFailed, event);
  }

  private <E> void tell(BiConsumer<StoreListener, E> call, E event) {
    if (listeners.isEmpty()) {
      return;
    }
    boolean within = telling.get();
    telling.set(true);
    try {
      tellAll(call, event);
    } finally {
      telling.set(within);
    }
  }

  private <E> void tellAll(BiConsumer<StoreListener, E> call, E event) {
    for (StoreListener listener : listeners) {
      try {
        call.accept(listener, event);
      } catch (Throwable e) {
        logFailure(listener, event, UserCode.failure(e));
      }
    }
  }

  private static void logFailure(StoreListener listener, Object event, Throwable failure) {
    SystemLog.tell(
        Level.WARNING,
        Observers.class,
        () ->
            "listener "
                + listener.getClass().getName()
                + " failed at "
                + event
                + ": "
                + UserCode.shown(failure),
        null);
    SystemLog.tell(Level.DEBUG, Observers.class, "where it failed", failure);
  }
}
