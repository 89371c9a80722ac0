package io.isobardb.lsm;

import io.isobardb.lsm.commit.Moment;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.handle.LeakWatch;
import io.isobardb.lsm.handle.Session;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A store as it was at one moment, over all its trees.
 *
 * <pre>{@code
 * try (Snapshot snapshot = store.snapshot()) {
 *   byte[] order = orders.get(key, snapshot);
 *   byte[] customer = customers.get(order, snapshot); // as it was when the order was read
 * }
 * }</pre>
 *
 * <p>What had not expired when it was taken is there while it is open. Costs nothing to take. While
 * it is open, merges keep the versions it sees; close it.
 *
 * <p>Thread rule: may be used by many threads at once; {@link #close} by any, more than once. A
 * read that is under way when the snapshot is closed still sees what the snapshot saw; {@code
 * close} does not wait for it. A read that begins later throws {@code StoreClosedException}.
 */
public final class Snapshot implements AutoCloseable {
  private final Session session;
  private final Snapshots registry;
  private final Moment moment;
  private final LeakWatch.@Nullable Origin origin;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Takes one, within an operation. */
  static Snapshot take(Session session) {
    Snapshot snapshot = new Snapshot(session);
    session.tellIfSnapshotIsLost(snapshot, snapshot.origin);
    return snapshot;
  }

  private Snapshot(Session session) {
    this.session = session;
    this.registry = session.engine().snapshots();
    this.moment = registry.moment(registry.register());
    this.origin = session.snapshotTaken();
  }

  /** What it reads at: between {@link #enter} and {@link #exit}. */
  Moment moment() {
    return moment;
  }

  /**
   * Begins a read: its LSN stays registered until {@link #exit}, even if the snapshot is closed
   * meanwhile. Takes no lock and writes to no counter that readers share.
   *
   * @return what to hand to {@link #exit}
   * @throws IllegalArgumentException if it belongs to another store
   * @throws StoreClosedException if it is closed
   */
  int enter(Session of) {
    if (of != session) {
      throw new IllegalArgumentException("the snapshot was taken from another store");
    }
    int read = registry.beginRead();
    if (closed.get()) {
      registry.endRead(read);
      throw new StoreClosedException("the snapshot is closed");
    }
    return read;
  }

  /** Ends the read that {@link #enter} began. */
  void exit(int read) {
    registry.endRead(read);
  }

  /** Registers one more reader at its LSN, and gives its moment. */
  Moment retain(Session of) {
    int read = enter(of);
    try {
      registry.retain(moment.lsn());
      return moment;
    } finally {
      exit(read);
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      session.snapshotClosed(moment.lsn(), origin);
    }
  }
}
