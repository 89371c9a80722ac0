package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.store.ConflictException;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.TpccTransaction;
import io.isobardb.tpcc.work.Kind;
import io.isobardb.tpcc.work.Work;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Tries a transaction until it is through, at most {@link #MOST} times, with random and growing
 * pauses. One thread's.
 */
final class Attempts {
  /** How often a transaction is tried before it is given up. */
  static final int MOST = 100;

  private static final int FIRST_PAUSE_NANOS = 20_000;
  private static final int LONGEST_PAUSE_NANOS = 5_000_000;

  private final TpccTransaction transaction;
  private final Isolation isolation;
  private final Values values;
  private long retries;

  Attempts(TpccTransaction transaction, Isolation isolation, Values values) {
    this.transaction = transaction;
    this.isolation = isolation;
    this.values = values;
  }

  /** How often {@link #run} has tried again since it was asked the last time. */
  long takeRetries() {
    long taken = retries;
    retries = 0;
    return taken;
  }

  /** The output, or null if it was tried too often. */
  <R> @Nullable R run(Kind kind, Work<R> work) {
    Isolation level = kind == Kind.STOCK_LEVEL ? Isolation.READ_COMMITTED : isolation;
    int pause = FIRST_PAUSE_NANOS;
    for (int attempt = 1; attempt <= MOST; attempt++) {
      transaction.begin(level);
      try {
        return work.run(transaction);
      } catch (ConflictException e) {
        transaction.rollback();
        if (attempt == MOST) {
          break;
        }
        retries++;
        LockSupport.parkNanos(values.uniform(0, pause));
        pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
      } catch (RuntimeException | Error e) {
        transaction.rollback();
        throw e;
      }
    }
    return null;
  }
}
