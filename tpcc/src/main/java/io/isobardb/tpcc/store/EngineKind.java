package io.isobardb.tpcc.store;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The engines known here. */
public enum EngineKind {
  /** Isobar's transactions. */
  ISOBAR(null),
  /** RocksDB's TransactionDB or OptimisticTransactionDB, with the log as it is by default. */
  ROCKSDB(RocksLog.SYSTEM),
  /** The same with its log synced in the background. */
  ROCKSDB_SYNC100MS(RocksLog.SYSTEM_SYNCED),
  /** The same with its log buffered in the process, and synced in the background. */
  ROCKSDB_BUFFERED(RocksLog.BUFFERED);

  private final @Nullable RocksLog log;

  EngineKind(@Nullable RocksLog log) {
    this.log = log;
  }

  /** Opens or creates the store that {@code spec} describes. */
  public static TpccStore openStore(StoreSpec spec) {
    RocksLog log = spec.engine().log;
    return log == null
        ? IsobarStore.open(spec)
        : RocksStore.open(spec, log.with(spec.syncCommits()));
  }

  /** Refuses, with what to do instead, an isolation the engine does not have. */
  public void check(Isolation isolation) {
    if (log != null && isolation == Isolation.SERIALIZABLE) {
      throw new IllegalArgumentException(
          "rocksdb does not exclude phantoms, so it has no serializable transactions;"
              + " use snapshot, under which this load is serializable");
    }
  }

  /**
   * Refuses, with what to do instead, an engine that differs from another one in unsynced commits
   * alone, if commits are synced.
   */
  public void check(boolean syncCommits) {
    if (syncCommits && (this == ROCKSDB_SYNC100MS || this == ROCKSDB_BUFFERED)) {
      throw new IllegalArgumentException(RocksLog.sameIfSynced(label()));
    }
  }

  /** What an acknowledged commit survives. */
  public Survival survival(boolean syncCommits) {
    if (log != null) {
      return log.with(syncCommits).survival();
    }
    return syncCommits ? Survival.OF_SYNCED : Survival.OF_ISOBAR_ASYNC;
  }

  /** The name on the command line and in reports. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The engine of that name; the error lists the names there are. */
  public static EngineKind of(String label) {
    for (EngineKind kind : values()) {
      if (kind.label().equalsIgnoreCase(label.strip())) {
        return kind;
      }
    }
    throw new IllegalArgumentException("no engine named '" + label + "'; there are " + labels());
  }

  /** All names, joined by commas. */
  public static String labels() {
    return Arrays.stream(values()).map(EngineKind::label).collect(Collectors.joining(", "));
  }
}
