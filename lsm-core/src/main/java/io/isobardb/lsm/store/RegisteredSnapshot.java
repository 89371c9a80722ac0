package io.isobardb.lsm.store;

import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.entry.Moment;
import io.isobardb.lsm.error.StoreClosedException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot: its LSN is registered with the store, so that merges keep what it sees.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class RegisteredSnapshot implements Snapshot {
  private final OpenStore store;
  private final Snapshots registry;
  private final Moment moment;
  private final LeakWatch.@Nullable Origin origin;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Takes one. */
  static RegisteredSnapshot take(OpenStore store) {
    int slot = store.operations().enter();
    try {
      RegisteredSnapshot snapshot = new RegisteredSnapshot(store);
      store.leaks().watch(snapshot, snapshot.origin);
      return snapshot;
    } finally {
      store.operations().exit(slot);
    }
  }

  private RegisteredSnapshot(OpenStore store) {
    this.store = store;
    this.registry = store.engine().snapshots();
    this.moment = registry.moment(registry.register());
    store.lifetime().snapshots().incrementAndGet();
    this.origin = store.leaks().taken("a snapshot", "");
  }

  /**
   * A snapshot as the engine knows it.
   *
   * @throws IllegalArgumentException if none of the engine's stores has given it
   */
  static RegisteredSnapshot of(Snapshot snapshot) {
    if (Objects.requireNonNull(snapshot, "snapshot") instanceof RegisteredSnapshot registered) {
      return registered;
    }
    throw new IllegalArgumentException("the snapshot was taken from another store");
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
  int enter(OpenStore of) {
    if (of != store) {
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
  Moment retain(OpenStore of) {
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
    StackRoom.checkForLess();
    if (closed.compareAndSet(false, true)) {
      registry.releaseAfterReads(moment.lsn());
      store.lifetime().snapshots().decrementAndGet();
      store.leaks().onClosed(origin);
    }
  }
}
