package io.isobardb.lsm.commit;

import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.event.FailureLatch;
import io.isobardb.lsm.event.Observers;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.wal.Log;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.pool.Epochs;

/**
 * The parts of an open store that flushes, merges and reads have in common.
 *
 * @param catalog the trees and the manifest
 * @param log the log; knows what is visible
 * @param snapshots who reads at older LSNs
 * @param retention what flushes and merges have to keep
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
    Log log,
    Snapshots snapshots,
    Retention retention,
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

  /** The clock that does not leap, in nanoseconds. */
  public long nanos() {
    return environment.clock().nanos();
  }
}
