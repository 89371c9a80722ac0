package io.isobardb.tpcc.store;

import java.nio.file.Path;

/**
 * What an engine is opened with.
 *
 * @param engine which one
 * @param dir its directory; it exists
 * @param memoryBytes write buffers and caches together
 * @param syncCommits whether a commit is on the device when it returns; otherwise {@link #survival}
 *     tells what may be lost
 * @param locking when conflicts are found
 * @param directIo whether data files bypass the page cache
 */
public record StoreSpec(
    EngineKind engine,
    Path dir,
    long memoryBytes,
    boolean syncCommits,
    Locking locking,
    boolean directIo) {

  /** The pause between background syncs of the log, in engines that have them. */
  public static final int LOG_SYNC_MILLIS = 100;

  /** How long a transaction waits for a lock before it is told of a conflict, in every engine. */
  public static final int LOCK_TIMEOUT_MILLIS = 1000;

  /** Checks the limits. */
  public StoreSpec {
    if (memoryBytes < 8 << 20) {
      throw new IllegalArgumentException("memory is below 8 MB: " + memoryBytes + " bytes");
    }
    engine.check(syncCommits);
  }

  /** What an acknowledged commit survives. */
  public Survival survival() {
    return engine.survival(syncCommits);
  }
}
