package io.isobardb.lsm.handle;

import io.isobardb.lsm.commit.Snapshots;
import java.util.ArrayList;
import java.util.List;

/**
 * The LSNs that a transaction reads at. The first one is that of its snapshot, unless each read has
 * a moment of its own.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class OwnSnapshots {
  private static final long NONE = -1;

  private final Snapshots snapshots;
  private final List<Long> registered = new ArrayList<>();
  private long first = NONE;

  public OwnSnapshots(Snapshots snapshots) {
    this.snapshots = snapshots;
  }

  /** The snapshot's LSN; it is taken by the first call. */
  public long first() {
    if (first == NONE) {
      first = register();
    }
    return first;
  }

  /** Registers what is visible now, until {@link #releaseAll}. */
  public long register() {
    long at = snapshots.register();
    registered.add(at);
    return at;
  }

  /** Registers what is visible now for somebody who releases it himself. */
  public long registerForOther() {
    return snapshots.register();
  }

  /** As {@link #first()}, for somebody who releases it himself. */
  public long retainFirst() {
    long at = first();
    snapshots.retain(at);
    return at;
  }

  /**
   * Since when what others wrote is a conflict: {@link Transactions#ANY_TIME} if never, because
   * there is no snapshot, or reads have moments of their own.
   */
  public long since(boolean latest) {
    return latest || first == NONE ? Transactions.ANY_TIME : first;
  }

  /** Ends all registrations. */
  public void releaseAll() {
    registered.forEach(snapshots::release);
    registered.clear();
  }
}
