package io.isobardb.lsm;

import io.isobardb.lsm.error.StoreClosedException;
import org.jspecify.annotations.Nullable;

/**
 * A store as it was at one moment, over all its trees.
 *
 * <p>Costs nothing to take. While it is open, merges keep the versions it sees; close it.
 *
 * <p>Thread rule: may be used by many threads at once; {@link #close} by any, more than once.
 */
public final class Snapshot implements AutoCloseable {
  private final Store store;
  private final long lsn;
  private final LeakWatch.@Nullable Origin origin;
  private boolean closed;

  Snapshot(Store store, long lsn, LeakWatch.@Nullable Origin origin) {
    this.store = store;
    this.lsn = lsn;
    this.origin = origin;
  }

  /**
   * What it reads at.
   *
   * @throws IllegalArgumentException if it belongs to another store
   * @throws StoreClosedException if it is closed
   */
  synchronized long lsn(Store of) {
    if (of != store) {
      throw new IllegalArgumentException("the snapshot was taken from another store");
    }
    if (closed) {
      throw new StoreClosedException("the snapshot is closed");
    }
    return lsn;
  }

  /** Registers one more reader at its LSN. */
  synchronized long retain(Store of) {
    long at = lsn(of);
    store.engine().snapshots().retain(at);
    return at;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      store.releaseSnapshot(lsn, origin);
    }
  }
}
