package io.isobardb.tpcc.store;

import io.isobardb.tpcc.schema.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Transaction;

/**
 * Transactions of RocksDB, in one native object that is used again and again.
 *
 * <p>The snapshot is taken at the first read; by RocksDB itself, after the lock, if that is a read
 * for update. Reads for update see the latest version, which validation makes the snapshot's.
 */
final class RocksTransaction implements TpccTransaction {
  private final RocksStore store;
  private final RocksStore.Starter starter;
  private final ReadOptions latest = new ReadOptions();
  private final ReadOptions snapshot = new ReadOptions();
  private final ReadOptions range = new ReadOptions();
  private @Nullable Transaction transaction;
  private boolean open;
  private boolean snapshotReads;
  private boolean snapshotTaken;
  private long bytesPut;

  RocksTransaction(RocksStore store, RocksStore.Starter starter) {
    this.store = store;
    this.starter = starter;
  }

  @Override
  public void begin(Isolation isolation) {
    if (open) {
      throw new IllegalStateException("a transaction is open: commit or roll it back first");
    }
    transaction = starter.begin(transaction);
    open = true;
    snapshotReads = isolation == Isolation.SNAPSHOT;
    snapshotTaken = false;
  }

  private Transaction current() {
    Transaction current = transaction;
    if (!open || current == null) {
      throw new IllegalStateException("no transaction is open: begin one");
    }
    return current;
  }

  private ReadOptions readOptions() {
    if (!snapshotReads) {
      return latest;
    }
    if (!snapshotTaken) {
      current().setSnapshot();
      rememberSnapshot();
    }
    return snapshot;
  }

  private void rememberSnapshot() {
    snapshot.setSnapshot(current().getSnapshot());
    snapshotTaken = true;
  }

  @Override
  public byte @Nullable [] get(Table table, byte[] key) {
    try {
      return current().get(readOptions(), store.family(table), key);
    } catch (RocksDBException e) {
      throw failed("get from", table, e);
    }
  }

  @Override
  public byte @Nullable [] getForUpdate(Table table, byte[] key) {
    boolean first = snapshotReads && !snapshotTaken;
    if (first) {
      current().setSnapshotOnNextOperation();
    }
    try {
      byte[] value = current().getForUpdate(latest, store.family(table), key, true);
      if (first) {
        rememberSnapshot();
      }
      return value;
    } catch (RocksDBException e) {
      throw failed("get for update from", table, e);
    }
  }

  @Override
  public void put(Table table, byte[] key, byte[] value) {
    bytesPut += key.length + value.length;
    try {
      current().put(store.family(table), key, value);
    } catch (RocksDBException e) {
      throw failed("put into", table, e);
    }
  }

  @Override
  public void delete(Table table, byte[] key) {
    bytesPut += key.length;
    try {
      current().delete(store.family(table), key);
    } catch (RocksDBException e) {
      throw failed("delete from", table, e);
    }
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    readOptions();
    range.setSnapshot(snapshotReads ? current().getSnapshot() : null);
    try (Slice bound = new Slice(to)) {
      range.setIterateUpperBound(bound);
      try (RocksIterator iterator = current().getIterator(range, store.family(table))) {
        RocksStore.show(iterator, from, visitor);
      }
    } catch (RocksDBException e) {
      throw failed("scan of", table, e);
    }
  }

  @Override
  public void commit() {
    try {
      current().commit();
      open = false;
    } catch (RocksDBException e) {
      throw failed("commit", null, e);
    }
  }

  @Override
  public void rollback() {
    if (open) {
      open = false;
      try {
        if (transaction != null) {
          transaction.rollback();
        }
      } catch (RocksDBException e) {
        throw new IllegalStateException("rocksdb: rollback", e);
      }
    }
  }

  private static RuntimeException failed(
      String what, @Nullable Table table, RocksDBException cause) {
    String message = "rocksdb: " + what + (table == null ? "" : " " + table);
    if (cause.getStatus() != null) {
      switch (cause.getStatus().getCode()) {
        case Busy, TimedOut, TryAgain, Expired, Aborted -> {
          return new ConflictException(message + ": " + cause.getMessage(), cause);
        }
        default -> {}
      }
    }
    return new IllegalStateException(message, cause);
  }

  @Override
  public long bytesPut() {
    return bytesPut;
  }

  @Override
  public void close() {
    rollback();
    if (transaction != null) {
      transaction.close();
      transaction = null;
    }
    latest.close();
    snapshot.close();
    range.close();
  }
}
