package io.isobardb.lsm.simulation;

/** What of the unsynced survives a simulated power loss. */
public enum CrashMode {
  /** Nothing: file contents as of their last sync, names as of the last directory sync. */
  ONLY_SYNCED,
  /** Everything that was written, created, renamed and deleted. */
  ALL,
  /**
   * What was done before some moment; of the write at that moment, a part. The order of operations
   * is kept, as by a journaling file system.
   */
  PREFIX,
  /**
   * Anything a file system may do: any subset of 512-byte sectors, each in any of its unsynced
   * versions; a file that has grown or not, with zeros or stale bytes where nothing was written;
   * any prefix or subset of creations, renames and deletions.
   */
  RANDOM
}
