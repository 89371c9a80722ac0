package io.isobardb.tpcc.store;

import io.isobardb.tpcc.schema.Table;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.HyperClockCache;
import org.rocksdb.OptimisticTransactionDB;
import org.rocksdb.OptimisticTransactionOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Transaction;
import org.rocksdb.TransactionDB;
import org.rocksdb.TransactionDBOptions;
import org.rocksdb.TransactionOptions;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteBufferManager;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with transactions, one column family per table, under one memory limit: one block cache
 * of the whole budget, to which write buffers, filters and indexes are charged.
 */
final class RocksStore implements TpccStore {
  private static final long MIB = 1 << 20;

  private final StoreSpec spec;
  private final RocksDB db;
  private final Starter starter;
  private final List<ColumnFamilyHandle> families = new ArrayList<>();
  private final WriteOptions commitOptions;
  private final WriteOptions loadOptions;
  private final @Nullable BackgroundSync syncer;
  private final Deque<AutoCloseable> natives = new ArrayDeque<>();
  private final String configuration;

  /** Begins a transaction, in the place of {@code old} if there is one. */
  interface Starter {
    Transaction begin(@Nullable Transaction old);
  }

  private RocksStore(StoreSpec spec, RocksLog log) throws RocksDBException {
    this.spec = spec;
    RocksSettings settings = RocksSettings.of(spec.memoryBytes(), spec.directIo(), log);
    Cache cache = own(new HyperClockCache(spec.memoryBytes(), 0, -1, false));
    WriteBufferManager writeBuffers = own(new WriteBufferManager(settings.writeBytes(), cache));
    ColumnFamilyOptions familyOptions = own(familyOptions(settings));
    familyOptions.setTableFormatConfig(settings.tableConfig(cache, own(new BloomFilter(10))));
    DBOptions dbOptions = own(settings.dbOptions(writeBuffers));
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (Table table : Table.values()) {
      byte[] name =
          table == Table.META
              ? RocksDB.DEFAULT_COLUMN_FAMILY
              : table.treeName().getBytes(StandardCharsets.US_ASCII);
      descriptors.add(new ColumnFamilyDescriptor(name, familyOptions));
    }
    commitOptions = own(settings.writeOptions());
    loadOptions = own(new WriteOptions());
    String dir = spec.dir().toString();
    if (spec.locking() == Locking.PESSIMISTIC) {
      TransactionDBOptions lockOptions = own(new TransactionDBOptions());
      lockOptions.setTransactionLockTimeout(StoreSpec.LOCK_TIMEOUT_MILLIS);
      TransactionDB locking =
          TransactionDB.open(dbOptions, lockOptions, dir, descriptors, families);
      TransactionOptions options = own(new TransactionOptions().setDeadlockDetect(true));
      db = locking;
      starter =
          old ->
              old == null
                  ? locking.beginTransaction(commitOptions, options)
                  : locking.beginTransaction(commitOptions, options, old);
    } else {
      OptimisticTransactionDB validating =
          OptimisticTransactionDB.open(dbOptions, dir, descriptors, families);
      OptimisticTransactionOptions options = own(new OptimisticTransactionOptions());
      db = validating;
      starter =
          old ->
              old == null
                  ? validating.beginTransaction(commitOptions, options)
                  : validating.beginTransaction(commitOptions, options, old);
    }
    syncer = log.syncsInBackground() ? new BackgroundSync("rocksdb", this::sync) : null;
    configuration =
        String.format(
            "%s: %s; one HyperClock cache of %d MB that write buffers (%d MB), filters and"
                + " indexes are charged to; memtables of %d MB; 4 KB blocks, no compression; Bloom"
                + " filters of 10 bits; dynamic level bytes; 2 background jobs; direct I/O %s; %s",
            spec.engine().label(),
            spec.locking() == Locking.PESSIMISTIC ? "TransactionDB" : "OptimisticTransactionDB",
            spec.memoryBytes() / MIB,
            settings.writeBytes() / MIB,
            settings.bufferBytes() / MIB,
            spec.directIo() ? "on" : "off",
            log.words());
  }

  static TpccStore open(StoreSpec spec, RocksLog log) {
    RocksDB.loadLibrary();
    try {
      return new RocksStore(spec, log);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: cannot open " + spec.dir(), e);
    }
  }

  private ColumnFamilyOptions familyOptions(RocksSettings settings) {
    // Pessimistic transactions need no flushed memtables to find conflicts: kept, as they are by
    // default, they would take the place of those written to. There is no setter.
    Properties kept = new Properties();
    kept.setProperty(
        "max_write_buffer_size_to_maintain",
        String.valueOf(spec.locking() == Locking.PESSIMISTIC ? 1 : settings.bufferBytes()));
    return settings.set(ColumnFamilyOptions.getColumnFamilyOptionsFromProps(kept));
  }

  private <T extends AutoCloseable> T own(T handle) {
    natives.push(handle);
    return handle;
  }

  RocksDB db() {
    return db;
  }

  ColumnFamilyHandle family(Table table) {
    return families.get(table.ordinal());
  }

  @Override
  public TpccTransaction newTransaction() {
    return new RocksTransaction(this, starter);
  }

  @Override
  public void load(List<Put> rows) {
    try (WriteBatch batch = new WriteBatch()) {
      for (Put row : rows) {
        batch.put(family(row.table()), row.key(), row.value());
      }
      db.write(loadOptions, batch);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: load", e);
    }
  }

  @Override
  public byte @Nullable [] get(Table table, byte[] key) {
    try {
      return db.get(family(table), key);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: get from " + table, e);
    }
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    try (Slice bound = new Slice(to);
        ReadOptions options = new ReadOptions().setIterateUpperBound(bound);
        RocksIterator iterator = db.newIterator(family(table), options)) {
      show(iterator, from, visitor);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: scan of " + table, e);
    }
  }

  static void show(RocksIterator iterator, byte[] from, EntryVisitor visitor)
      throws RocksDBException {
    for (iterator.seek(from); iterator.isValid(); iterator.next()) {
      if (!visitor.entry(iterator.key(), iterator.value())) {
        return;
      }
    }
    iterator.status();
  }

  @Override
  public void sync() {
    try {
      db.flushWal(true);
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: log sync failed", e);
    }
  }

  @Override
  public void settle() {
    try {
      for (int quiet = 0; quiet < 3; ) {
        LockSupport.parkNanos(10_000_000);
        long running =
            db.getLongProperty("rocksdb.num-running-compactions")
                + db.getLongProperty("rocksdb.num-running-flushes");
        for (ColumnFamilyHandle family : families) {
          running +=
              db.getLongProperty(family, "rocksdb.compaction-pending")
                  + db.getLongProperty(family, "rocksdb.mem-table-flush-pending");
        }
        quiet = running == 0 ? quiet + 1 : 0;
      }
    } catch (RocksDBException e) {
      throw new IllegalStateException("rocksdb: property", e);
    }
  }

  @Override
  public String configuration() {
    return configuration;
  }

  @Override
  public void close() {
    try {
      if (syncer != null) {
        syncer.close();
      }
      sync();
      families.forEach(ColumnFamilyHandle::close);
      db.closeE();
      while (!natives.isEmpty()) {
        natives.pop().close();
      }
    } catch (Exception e) {
      throw new IllegalStateException("rocksdb: close failed", e);
    }
  }
}
