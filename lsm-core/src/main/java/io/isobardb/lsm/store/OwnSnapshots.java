package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Snapshots;
import io.isobardb.lsm.entry.Moment;
import org.jspecify.annotations.Nullable;

/**
 * The moments that a transaction reads at. The first one is that of its snapshot, unless each read
 * has a moment of its own. It stays registered until the transaction ends.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class OwnSnapshots {
  private final Snapshots snapshots;
  private @Nullable Moment first;

  public OwnSnapshots(Snapshots snapshots) {
    this.snapshots = snapshots;
  }

  /** The snapshot's moment; it is taken by the first call. */
  public Moment first() {
    Moment at = first;
    if (at == null) {
      at = registerForOther();
      first = at;
    }
    return at;
  }

  /** Registers what is visible now. The caller releases it. */
  public Moment registerForOther() {
    return snapshots.moment(snapshots.register());
  }

  /** As {@link #first()}; the caller releases it. */
  public Moment retainFirst() {
    Moment at = first();
    snapshots.retain(at.lsn());
    return at;
  }

  /**
   * Since when what others wrote is a conflict: {@link Transactions#ANY_TIME} if never, because
   * there is no snapshot, or reads have moments of their own.
   */
  public long since(boolean latest) {
    Moment at = first;
    return latest || at == null ? Transactions.ANY_TIME : at.lsn();
  }

  /** Ends a registration of {@link #registerForOther}. */
  public void releaseOf(Moment at) {
    snapshots.release(at.lsn());
  }

  /** Ends the registration of the first moment. */
  public void releaseFirst() {
    Moment at = first;
    if (at != null) {
      first = null;
      snapshots.release(at.lsn());
    }
  }
}
