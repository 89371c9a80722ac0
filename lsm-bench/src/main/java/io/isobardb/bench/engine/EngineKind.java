package io.isobardb.bench.engine;

import java.util.List;
import java.util.Locale;

/** The engines known here. */
public enum EngineKind {
  /** Isobar, in this process. */
  ISOBAR {
    @Override
    public Engine open(EngineOptions options) {
      return IsobarEngine.open(options);
    }
  },
  /** RocksDB through its own Java interface. */
  ROCKSDB {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, false);
    }
  },
  /** The same, made to wait with writes while its write buffers exceed what they may hold. */
  ROCKSDB_STALL {
    @Override
    public Engine open(EngineOptions options) {
      return RocksEngine.open(options, true);
    }
  },
  /** H2's MVStore: a copy-on-write B-tree on the Java heap. */
  MVSTORE {
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
  LMDB {
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

  /** Opens or creates the engine's store. */
  public abstract Engine open(EngineOptions options);

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

  /** The engine of that name; the error lists the names there are. */
  public static EngineKind of(String label) {
    for (EngineKind kind : values()) {
      if (kind.label().equalsIgnoreCase(label.strip())) {
        return kind;
      }
    }
    StringBuilder names = new StringBuilder();
    for (EngineKind kind : values()) {
      names.append(names.length() == 0 ? "" : ", ").append(kind.label());
    }
    throw new IllegalArgumentException("no engine named '" + label + "'; there are " + names);
  }
}
