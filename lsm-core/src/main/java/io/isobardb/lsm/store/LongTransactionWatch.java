package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.schedule.Service;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells of transactions that are open for long. A thread of its own only from the first transaction
 * on, and awake only while any are open. Beginning one looks at no other.
 *
 * <p>Thread rule: {@link #run} is called by one thread at a time; all else by any.
 */
final class LongTransactionWatch implements Service {
  /** The least time between two looks at all that are open. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Engine engine;
  private final Transactions transactions;
  private volatile @Nullable Handle handle;
  private boolean stopped;

  /** Whether it was told that it could not be started. */
  private boolean toldWhyNot;

  LongTransactionWatch(Engine engine, Transactions transactions) {
    this.engine = engine;
    this.transactions = transactions;
  }

  /** A transaction is about to begin. Begins, unless that was done before. */
  void start() {
    if (handle == null) {
      startFirst();
    }
  }

  private synchronized void startFirst() {
    if (handle == null && !stopped) {
      try {
        handle = engine.environment().scheduler().start(this);
      } catch (OutOfMemoryError e) {
        // The process may have no more threads. The next transaction tries again.
        tellNotStarted(e);
      }
    }
  }

  private void tellNotStarted(OutOfMemoryError cause) {
    if (!toldWhyNot) {
      toldWhyNot = true;
      log("transactions that are open for long are not told of yet", cause);
    }
  }

  /** A transaction was begun. Cheap. */
  void onBegun() {
    wakeWithin(Transactions.LONG_NANOS);
  }

  private void wakeWithin(long nanos) {
    Handle started = handle;
    if (started != null) {
      started.wakeWithin(nanos);
    }
  }

  /** Ends, if it has begun, and never begins again. */
  synchronized void stop() {
    stopped = true;
    Handle started = handle;
    if (started != null) {
      started.stop();
    }
  }

  @Override
  public String name() {
    return "transactions";
  }

  @Override
  public boolean ready() {
    return false;
  }

  @Override
  public void run() {
    long next = transactions.reportLong();
    if (transactions.count() > 0) {
      wakeWithin(Math.max(next, PAUSE_NANOS));
    }
  }

  @Override
  public void onFailed(Throwable cause) {
    log("transactions that are open for long are not told of any more", cause);
  }

  private static void log(String what, Throwable cause) {
    SystemLog.tell(Level.WARNING, LongTransactionWatch.class, what, cause);
  }
}
