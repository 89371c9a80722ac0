package io.isobardb.bench.engine;

import io.isobardb.cli.console.ByteSize;
import io.isobardb.tpcc.store.BackgroundSync;
import io.isobardb.tpcc.store.RocksLog;
import io.isobardb.tpcc.store.RocksSettings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactionStyle;
import org.rocksdb.DBOptions;
import org.rocksdb.HyperClockCache;
import org.rocksdb.MemoryUsageType;
import org.rocksdb.MemoryUtil;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * RocksDB at its best settings for point reads, writes and scans of small entries under one memory
 * limit.
 *
 * <p>One block cache of the whole budget; the write buffers, filters and indexes are charged to it,
 * so that its capacity is what RocksDB holds in total.
 */
final class RocksEngine implements Engine {
  private static final long MIB = 1 << 20;
  private static final int ARENA_SHARE = 8;
  private static final long MIN_ARENA = 4096;

  /** Looks at what runs and is due, to wait until nothing is. */
  private static final long LOOK_NANOS = 10_000_000;

  private static final int QUIET_LOOKS = 3;

  /** Universal compaction may say for ever that something is due, and begin nothing. */
  private static final int IDLE_LOOKS = 200;

  /** Scans of so many entries are told to read ahead from the first block on. */
  private static final int LONG_SCAN = 1000;

  private static final long READAHEAD_BYTES = 256 << 10;

  private final EngineOptions options;
  private final RocksDB db;
  private final List<ColumnFamilyHandle> trees;
  private final Cache cache;
  private final WriteOptions writeOptions;
  private final @Nullable BackgroundSync sync;
  private final Deque<AutoCloseable> natives;
  private final String configuration;

  private RocksEngine(
      EngineOptions options,
      String label,
      RocksLog log,
      boolean stalls,
      RocksLimits limits,
      boolean universal)
      throws RocksDBException {
    this.options = options;
    natives = new ArrayDeque<>();
    RocksSettings settings =
        limits.of(RocksSettings.of(options.memoryBytes(), options.directIo(), log));
    // The clock cache has no lock on hits; 0 lets it size its table by itself.
    cache = own(new HyperClockCache(options.memoryBytes(), 0, -1, false));
    WriteBufferManager writeBuffers =
        own(new WriteBufferManager(settings.writeBytes(), cache, stalls));
    ColumnFamilyOptions treeOptions = own(settings.set(new ColumnFamilyOptions()));
    // What a write buffer takes at a time: with many trees, all of them together must have a part.
    long arena = settings.writeBytes() / ARENA_SHARE / options.trees() & -MIN_ARENA;
    long usual = settings.bufferBytes() / ARENA_SHARE;
    treeOptions.setArenaBlockSize(Math.max(MIN_ARENA, Math.min(usual, arena)));
    if (universal) {
      // Its own choices of sizes, widths and space are what its makers found best.
      treeOptions.setCompactionStyle(CompactionStyle.UNIVERSAL);
    }
    DBOptions dbOptions = own(settings.dbOptions(writeBuffers));
    if (limits.hasLimiter()) {
      dbOptions.setRateLimiter(own(limits.limiter()));
    }
    // 10 bits a key: 1 % false positives.
    treeOptions.setTableFormatConfig(settings.tableConfig(cache, own(new BloomFilter(10))));

    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    descriptors.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, treeOptions));
    for (int i = 1; i < options.trees(); i++) {
      byte[] name = ("tree" + i).getBytes(StandardCharsets.UTF_8);
      descriptors.add(new ColumnFamilyDescriptor(name, treeOptions));
    }
    trees = new ArrayList<>();
    db = RocksDB.open(dbOptions, options.dir().toString(), descriptors, trees);
    writeOptions = own(settings.writeOptions());
    sync = log.syncsInBackground() ? new BackgroundSync(label, this::syncLog) : null;
    configuration =
        String.format(
            "%s: one HyperClock cache of %d MB that write buffers (%s%s), filters and indexes are charged to; memtables of %s;"
                + " 4 KB blocks with hash index, no compression; full Bloom filters of 10 bits; %s; 2 background jobs;"
                + " direct I/O %s; %s%s",
            label,
            options.memoryBytes() / MIB,
            ByteSize.format(settings.writeBytes()),
            stalls ? ", beyond which writes wait" : "",
            ByteSize.format(settings.bufferBytes()),
            universal ? "universal compaction" : "dynamic level bytes",
            options.directIo() ? "on" : "off",
            log.words(),
            limits.words());
  }

  /**
   * Opens or creates the database.
   *
   * @param label what to call it
   * @param unsynced how the log is kept if writes are not synced
   * @param stalls whether writes wait while the write buffers are beyond their limit, instead of
   *     taking more
   */
  static Engine open(EngineOptions options, String label, RocksLog unsynced, boolean stalls) {
    return open(options, label, unsynced, stalls, RocksLimits.NONE);
  }

  /** With universal compaction, and its log synced in the background. */
  static Engine openUniversal(EngineOptions options, String label) {
    return open(options, label, RocksLog.SYSTEM_SYNCED, false, RocksLimits.NONE, true);
  }

  /** The same with limits. */
  static Engine open(
      EngineOptions options, String label, RocksLog unsynced, boolean stalls, RocksLimits limits) {
    return open(options, label, unsynced, stalls, limits, false);
  }

  private static Engine open(
      EngineOptions options,
      String label,
      RocksLog unsynced,
      boolean stalls,
      RocksLimits limits,
      boolean universal) {
    RocksDB.loadLibrary();
    try {
      RocksLog log = unsynced.with(options.syncWrites());
      return new RocksEngine(options, label, log, stalls, limits, universal);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: cannot open " + options.dir(), e);
    }
  }

  private <T extends AutoCloseable> T own(T handle) {
    natives.push(handle);
    return handle;
  }

  private void syncLog() {
    try {
      db.flushWal(true);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: log sync failed", e);
    }
  }

  @Override
  public Session openSession() {
    return new RocksSession();
  }

  @Override
  public void settle() {
    try {
      int idle = 0;
      for (int quiet = 0; quiet < QUIET_LOOKS && idle < IDLE_LOOKS; ) {
        LockSupport.parkNanos(LOOK_NANOS);
        long running =
            db.getLongProperty("rocksdb.num-running-compactions")
                + db.getLongProperty("rocksdb.num-running-flushes");
        long pending = 0;
        for (ColumnFamilyHandle tree : trees) {
          pending +=
              db.getLongProperty(tree, "rocksdb.compaction-pending")
                  + db.getLongProperty(tree, "rocksdb.mem-table-flush-pending");
        }
        idle = running == 0 ? idle + 1 : 0;
        quiet = running + pending == 0 ? quiet + 1 : 0;
      }
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: property", e);
    }
  }

  @Override
  public long spaceBytes() {
    return Directories.allocatedBytes(options.dir());
  }

  @Override
  public long memoryBytes() {
    Map<MemoryUsageType, Long> usage =
        MemoryUtil.getApproximateMemoryUsageByType(List.of(db), Set.of(cache));
    // Memtables are charged to the cache up to the buffer manager's limit; table readers keep what
    // is outside of it.
    return usage.getOrDefault(MemoryUsageType.kCacheTotal, 0L)
        + usage.getOrDefault(MemoryUsageType.kTableReadersTotal, 0L);
  }

  @Override
  public String configuration() {
    return configuration;
  }

  @Override
  public Map<String, Object> stats() {
    Map<String, Object> stats = new LinkedHashMap<>();
    Map<MemoryUsageType, Long> usage =
        MemoryUtil.getApproximateMemoryUsageByType(List.of(db), Set.of(cache));
    stats.put("cacheBytes", usage.getOrDefault(MemoryUsageType.kCacheTotal, 0L));
    stats.put("memtableBytes", usage.getOrDefault(MemoryUsageType.kMemTableTotal, 0L));
    stats.put("tableReaderBytes", usage.getOrDefault(MemoryUsageType.kTableReadersTotal, 0L));
    stats.put("spaceBytes", spaceBytes());
    return stats;
  }

  @Override
  public void close() {
    try {
      if (sync != null) {
        sync.close();
      }
      syncLog();
      trees.forEach(ColumnFamilyHandle::close);
      db.closeE();
      while (!natives.isEmpty()) {
        natives.pop().close();
      }
    } catch (Exception e) {
      throw new IllegalStateException("rocksdb: close failed", e);
    }
  }

  private final class RocksSession implements Session {
    private final ReadOptions readOptions = new ReadOptions();

    /** Its own read-ahead begins with 8 KB and doubles. */
    private final ReadOptions longReads = new ReadOptions().setReadaheadSize(READAHEAD_BYTES);

    private final WriteOptions synced = new WriteOptions().setSync(true);
    private final ByteBuffer keyBuffer = ByteBuffer.allocateDirect(512);
    private ByteBuffer valueBuffer = ByteBuffer.allocateDirect(4096);
    private byte[] scanKey = new byte[64];
    private byte[] scanValue = new byte[1024];

    @Override
    public void put(int tree, byte[] key, byte[] value) {
      try {
        db.put(trees.get(tree), writeOptions, key, value);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: put", e);
      }
    }

    @Override
    public void putAll(int tree, byte[][] keys, byte[][] values) {
      try (WriteBatch batch = new WriteBatch()) {
        for (int i = 0; i < keys.length; i++) {
          batch.put(trees.get(tree), keys[i], values[i]);
        }
        db.write(synced, batch);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: batch", e);
      }
    }

    @Override
    public int get(int tree, byte[] key, byte[] into) {
      try {
        return db.get(trees.get(tree), readOptions, key, 0, key.length, into, 0, into.length);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: get", e);
      }
    }

    @Override
    public int look(int tree, byte[] key) {
      try {
        keyBuffer.clear().put(key).flip();
        int length = db.get(trees.get(tree), readOptions, keyBuffer, valueBuffer.clear());
        if (length > valueBuffer.capacity()) {
          // It got a part of the value, and the next one is to get all.
          valueBuffer = ByteBuffer.allocateDirect(2 * length);
        }
        return length == RocksDB.NOT_FOUND
            ? ABSENT
            : Session.seen(length, length > 0 ? valueBuffer.get(0) : 0);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: get", e);
      }
    }

    @Override
    public void delete(int tree, byte[] key) {
      try {
        db.delete(trees.get(tree), writeOptions, key);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: delete", e);
      }
    }

    @Override
    public int scan(int tree, byte[] from, int limit, Visitor visitor) {
      return visit(tree, from, limit < LONG_SCAN ? readOptions : longReads, limit, null, visitor);
    }

    @Override
    public int scanPrefix(int tree, byte[] prefix, Visitor visitor) {
      return visit(tree, prefix, readOptions, Integer.MAX_VALUE, prefix, visitor);
    }

    private int visit(
        int tree,
        byte[] from,
        ReadOptions reads,
        int limit,
        byte @Nullable [] prefix,
        Visitor visitor) {
      int count = 0;
      try (RocksIterator iterator = db.newIterator(trees.get(tree), reads)) {
        for (iterator.seek(from); count < limit && iterator.isValid(); iterator.next()) {
          int keyLength = iterator.key(scanKey, 0, scanKey.length);
          if (keyLength > scanKey.length) {
            scanKey = new byte[2 * keyLength];
            iterator.key(scanKey, 0, scanKey.length);
          }
          if (prefix != null && !Session.beginsWith(scanKey, keyLength, prefix)) {
            break;
          }
          int valueLength = iterator.value(scanValue, 0, scanValue.length);
          if (valueLength > scanValue.length) {
            scanValue = new byte[2 * valueLength];
            iterator.value(scanValue, 0, scanValue.length);
          }
          visitor.entry(scanKey, keyLength, scanValue, valueLength);
          count++;
        }
        iterator.status();
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: scan", e);
      }
      return count;
    }

    // Its async_io does nothing here: the published build has no io_uring.
    @Override
    public List<byte @Nullable []> multiGet(int tree, List<byte[]> keys) {
      try {
        ColumnFamilyHandle handle = trees.get(tree);
        return db.multiGetAsList(readOptions, Collections.nCopies(keys.size(), handle), keys);
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: multiGet", e);
      }
    }

    @Override
    public void close() {
      synced.close();
      readOptions.close();
      longReads.close();
    }
  }
}
