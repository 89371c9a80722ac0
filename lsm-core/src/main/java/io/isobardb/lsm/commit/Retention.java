package io.isobardb.lsm.commit;

import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.wal.Log;

/**
 * What flushes and merges of a tree have to keep, for all who read it, now or after a crash.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Retention {
  private final Catalog catalog;
  private final Log log;
  private final Snapshots snapshots;

  public Retention(Catalog catalog, Log log, Snapshots snapshots) {
    this.catalog = catalog;
    this.log = log;
    this.snapshots = snapshots;
  }

  /** The LSNs at which somebody reads the tree, or will after a crash, ascending. */
  public long[] snapshots(TreeHandle tree) {
    return tree.settings().logged() ? snapshots.live() : snapshots.liveAndCheckpoint();
  }

  /**
   * Entries of the tree up to this LSN may lose it, if nothing older is left: all readers, given
   * {@link #snapshots}, read later, and so does recovery.
   */
  public long indifferentLsn(TreeHandle tree, long[] live) {
    long lsn = live.length == 0 ? log.visible() : live[0];
    return tree.settings().logged() ? lsn : Math.min(lsn, snapshots.checkpoint());
  }

  /** As {@link #indifferentLsn(TreeHandle, long[])}, given who reads now. */
  public long indifferentLsn(TreeHandle tree) {
    return indifferentLsn(tree, snapshots(tree));
  }

  /**
   * What a merge or flush of a tree keeps. Range deletes count once no crash can take them back:
   * what they hide may go for good.
   */
  public VersionFilter filter(TreeHandle tree) {
    long settled = catalog.settledLsn();
    long[] live = snapshots(tree);
    RangeDeletes deletes = tree.states().current().ranges().list();
    return new VersionFilter(tree.order(), live, deletes, settled, expiredBy(tree));
  }

  /**
   * Merges may drop what has expired by this time: nobody who reads the tree, now or later, sees it
   * any more. 0 if nothing may be dropped. So it is while the log is replayed, since operands that
   * lie further on in it may still count a value that has expired.
   */
  public long expiredBy(TreeHandle tree) {
    return tree.expires() && log.isOpen() ? snapshots.settledMillis() : 0;
  }
}
