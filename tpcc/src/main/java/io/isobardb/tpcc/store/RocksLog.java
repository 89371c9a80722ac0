package io.isobardb.tpcc.store;

/** How RocksDB keeps its write-ahead log, and what a write survives with it. */
public enum RocksLog {
  /** Each write is synced before it returns; writers that come together share a sync. */
  SYNC_EACH_WRITE("each write synced", Survival.OF_SYNCED),

  /**
   * RocksDB's default: each write is handed to the operating system, and RocksDB never syncs the
   * log by itself.
   */
  SYSTEM(
      "each write handed to the system, never synced", new Survival(Loss.NOTHING, Loss.UNSYNCED)),

  /** The default, and a thread that syncs the log. */
  SYSTEM_SYNCED(
      "each write handed to the system, synced every " + StoreSpec.LOG_SYNC_MILLIS + " ms",
      new Survival(Loss.NOTHING, Loss.LAST_INTERVAL)),

  /**
   * The log is buffered in the process ({@code manual_wal_flush}); a thread writes and syncs it
   * ({@code FlushWAL(true)}). This saves a system call per write.
   */
  BUFFERED(
      "log buffered in the process, written and synced every "
          + StoreSpec.LOG_SYNC_MILLIS
          + " ms (manual_wal_flush)",
      new Survival(Loss.LAST_INTERVAL, Loss.LAST_INTERVAL));

  private final String words;
  private final Survival survival;

  RocksLog(String words, Survival survival) {
    this.words = words;
    this.survival = survival;
  }

  /** For the description of settings. */
  public String words() {
    return words;
  }

  /** What an acknowledged write survives. */
  public Survival survival() {
    return survival;
  }

  /** Whether a {@link BackgroundSync} has to call {@code flushWal(true)}. */
  public boolean syncsInBackground() {
    return this == SYSTEM_SYNCED || this == BUFFERED;
  }

  /** This, or {@link #SYNC_EACH_WRITE} if each write is to be synced. */
  public RocksLog with(boolean syncWrites) {
    return syncWrites ? SYNC_EACH_WRITE : this;
  }

  /** Why an engine that is RocksDB with another log is refused if each write is to be synced. */
  public static String sameIfSynced(String engine) {
    return engine + " differs from rocksdb in unsynced writes only; with synced writes use rocksdb";
  }
}
