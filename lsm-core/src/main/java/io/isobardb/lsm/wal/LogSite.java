package io.isobardb.lsm.wal;

import io.isobardb.lsm.schedule.Environment;
import io.isobardb.memory.pool.PagePool;
import java.util.UUID;

/**
 * Where a log is.
 *
 * @param environment its files, clock and threads
 * @param pool lends its buffers
 * @param storeId what its files carry
 * @param listener told what the log does
 */
public record LogSite(Environment environment, PagePool pool, UUID storeId, LogListener listener) {}
