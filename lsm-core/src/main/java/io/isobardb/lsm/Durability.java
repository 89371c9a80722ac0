package io.isobardb.lsm;

/** When a write has come back, what a crash of the machine may still take. */
public enum Durability {
  /** Nothing: the write is on the device. Writers that come together share a sync. */
  SYNC,
  /**
   * What was written in the last moments, at most {@link StoreOptions#asyncSyncInterval}; what
   * remains is a prefix of all writes. A crash of the process alone may take as much.
   */
  ASYNC
}
