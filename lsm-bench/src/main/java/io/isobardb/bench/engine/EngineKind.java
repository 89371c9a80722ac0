package io.isobardb.bench.engine;

import io.isobardb.cli.console.UsageException;
import io.isobardb.tpcc.store.Loss;
import io.isobardb.tpcc.store.RocksLog;
import io.isobardb.tpcc.store.Survival;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The engines known here, some of them with several settings. */
public enum EngineKind {
  /** Isobar, in this process. */
  ISOBAR(Survival.OF_ISOBAR_ASYNC) {
    @Override
    public Engine open(EngineOptions options) {
      return IsobarEngine.open(options);
    }
  },
  /** The same with one run on each level, whatever the options say. */
  ISOBAR_LEVELED(Survival.OF_ISOBAR_ASYNC) {
    @Override
    public Engine open(EngineOptions options) {
      return IsobarEngine.openLeveled(options);
    }
  },
  /** RocksDB through its own Java interface, with the log as it is by default. */
  ROCKSDB(RocksLog.SYSTEM.survival()) {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, label(), RocksLog.SYSTEM, false);
    }
  },
  /** The same with its log synced in the background. */
  ROCKSDB_SYNC100MS(RocksLog.SYSTEM_SYNCED.survival()) {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, label(), RocksLog.SYSTEM_SYNCED, false);
    }
  },
  /** The same with universal compaction. */
  ROCKSDB_UNIVERSAL(RocksLog.SYSTEM_SYNCED.survival()) {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.openUniversal(options, label());
    }
  },
  /** {@link #ROCKSDB} with its log buffered in the process, and synced in the background. */
  ROCKSDB_BUFFERED(RocksLog.BUFFERED.survival()) {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, label(), RocksLog.BUFFERED, false);
    }
  },
  /**
   * {@link #ROCKSDB_SYNC100MS}, made to wait with writes while its write buffers exceed what they
   * may hold.
   */
  ROCKSDB_STALL(RocksLog.SYSTEM_SYNCED.survival()) {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, label(), RocksLog.SYSTEM_SYNCED, true);
    }
  },
  /** H2's MVStore: a copy-on-write B-tree on the Java heap. */
  MVSTORE(new Survival(Loss.LAST_INTERVAL, Loss.UNSYNCED)) {
    @Override
    public Engine open(EngineOptions options) {
      return MvStoreEngine.open(options);
    }

    @Override
    public long heapBytes(long memoryBytes) {
      // Its cache is on the heap: room for the cache, for what is not yet saved, and for the
      // collector to work in.
      return 3 * memoryBytes + SMALL_HEAP_BYTES;
    }
  },
  /** LMDB through LMDBJava: a memory-mapped copy-on-write B+-tree. */
  LMDB(new Survival(Loss.NOTHING, Loss.STORE)) {
    @Override
    public Engine open(EngineOptions options) {
      return LmdbEngine.open(options);
    }

    @Override
    public List<String> jvmFlags() {
      return List.of(
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    }
  };

  private static final long SMALL_HEAP_BYTES = 512L << 20;

  private final Survival ofUnsynced;

  EngineKind(Survival ofUnsynced) {
    this.ofUnsynced = ofUnsynced;
  }

  /** RocksDB with its log synced in the background, held to something. */
  public static Engine limitedRocksDb(EngineOptions options, RocksLimits limits) {
    return RocksEngine.open(
        options, ROCKSDB_SYNC100MS.label(), RocksLog.SYSTEM_SYNCED, false, limits);
  }

  /** Opens or creates the engine's store. */
  public abstract Engine open(EngineOptions options);

  /** Whether this is RocksDB with any settings. */
  public boolean isRocksDb() {
    return name().startsWith(ROCKSDB.name());
  }

  /** What an acknowledged write survives. */
  public Survival survival(boolean syncWrites) {
    return syncWrites ? Survival.OF_SYNCED : ofUnsynced;
  }

  /** The heap a process needs that runs this engine with {@code memoryBytes}. */
  public long heapBytes(long memoryBytes) {
    return SMALL_HEAP_BYTES;
  }

  /** What the engine's process must be started with, besides the heap. */
  public List<String> jvmFlags() {
    return List.of();
  }

  /** The name on the command line and in reports. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Refuses, with what to do instead, an engine that differs from another one in unsynced writes
   * alone, if writes are synced.
   */
  public void check(boolean syncWrites) {
    if (syncWrites
        && (this == ROCKSDB_SYNC100MS || this == ROCKSDB_BUFFERED || this == ROCKSDB_UNIVERSAL)) {
      throw new UsageException(RocksLog.sameIfSynced(label()));
    }
  }

  /** The engine of that name; the error lists the names there are. */
  public static EngineKind of(String label) {
    for (EngineKind kind : values()) {
      if (kind.label().equalsIgnoreCase(label.strip())) {
        return kind;
      }
    }
    throw new UsageException("no engine named '" + label + "'; there are " + labels());
  }

  /** All names, joined by commas. */
  public static String labels() {
    return Arrays.stream(values()).map(EngineKind::label).collect(Collectors.joining(", "));
  }
}
