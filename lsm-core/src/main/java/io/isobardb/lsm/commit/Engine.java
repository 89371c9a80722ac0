package io.isobardb.lsm.commit;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.VersionFilter;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.Epochs;

/**
 * The parts of an open store that flushes, merges and reads have in common.
 *
 * @param catalog the trees and the manifest
 * @param log the log; knows what is visible
 * @param snapshots who reads at older LSNs
 * @param gate admits writes
 * @param environment clock, scheduler, storage
 * @param failure set once the store takes no more writes
 * @param space whether the disk is full
 * @param observers who is told what is done
 * @param operations entered by every call that closing the store must wait for, save short reads
 * @param latencies how long calls take
 */
public record Engine(
    Catalog catalog,
    LogHandle log,
    Snapshots snapshots,
    WriteGate gate,
    Environment environment,
    FailureLatch failure,
    DiskSpace space,
    Observers observers,
    Epochs operations,
    Latencies latencies) {

  /** A cursor over all of a table, for a flush or a merge. */
  public EntryCursor mergeCursor(Table table) {
    return table.cursor(Access.MERGE, log.visible());
  }

  /** A cursor over all of a table, for a client. */
  public EntryCursor queryCursor(Table table) {
    return table.cursor(Access.QUERY, log.visible());
  }

  /** What is written to a tree from now on may expire. Called before it is visible. */
  public void expires(TreeHandle tree) {
    if (!tree.expires()) {
      snapshots.time().use();
      tree.setExpires();
    }
  }

  /** A handle on an SSTable file that was just written; it is opened when it is first read. */
  public SSTable open(SSTableMeta meta, TreeHandle tree) {
    return SSTable.written(catalog.space(), tree.order(), meta);
  }

  /** Deletes an SSTable file of a tree that the manifest does not name. */
  public void delete(SSTableMeta meta, TreeHandle tree) {
    SSTable table = open(meta, tree);
    table.markObsolete();
    table.release();
  }

  /** The LSNs at which somebody reads the tree, or will after a crash, ascending. */
  public long[] liveSnapshots(TreeHandle tree) {
    return tree.settings().logged() ? snapshots.live() : snapshots.liveAndCheckpoint();
  }

  /**
   * Entries of the tree up to this LSN may lose it, if nothing older is left: all readers, given
   * {@link #liveSnapshots}, read later, and so does recovery.
   */
  public long indifferentLsn(TreeHandle tree, long[] live) {
    long lsn = live.length == 0 ? log.visible() : live[0];
    return tree.settings().logged() ? lsn : Math.min(lsn, snapshots.checkpoint());
  }

  /**
   * What a merge or flush of a tree keeps. Range deletes count once no crash can take them back:
   * what they hide may go for good.
   */
  public VersionFilter filter(TreeHandle tree) {
    long settled = catalog.settledLsn();
    long[] live = liveSnapshots(tree);
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

  public long nanos() {
    return environment.clock().nanos();
  }
}
