package io.isobardb.tpcc.store;

import static java.util.Objects.requireNonNull;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.error.TransactionAbortedException;
import io.isobardb.tpcc.schema.Table;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Transactions of Isobar, one after the other. */
final class IsobarTransaction implements TpccTransaction {
  private final IsobarStore store;
  private final Map<Isolation, TransactionOptions> options = new EnumMap<>(Isolation.class);
  private @Nullable Transaction transaction;
  private long bytesPut;

  IsobarTransaction(IsobarStore store, Locking locking) {
    this.store = store;
    for (Isolation isolation : Isolation.values()) {
      options.put(
          isolation,
          TransactionOptions.builder()
              .isolation(io.isobardb.lsm.Isolation.valueOf(isolation.name()))
              .locking(io.isobardb.lsm.Locking.valueOf(locking.name()))
              .lockTimeout(Duration.ofMillis(StoreSpec.LOCK_TIMEOUT_MILLIS))
              .build());
    }
  }

  @Override
  public void begin(Isolation isolation) {
    if (transaction != null) {
      throw new IllegalStateException("a transaction is open: commit or roll it back first");
    }
    transaction = store.store().begin(requireNonNull(options.get(isolation)));
  }

  private Transaction current() {
    Transaction current = transaction;
    if (current == null) {
      throw new IllegalStateException("no transaction is open: begin one");
    }
    return current;
  }

  private static ConflictException conflict(TransactionAbortedException e) {
    return new ConflictException("isobar: " + e.getMessage(), e);
  }

  @Override
  public byte @Nullable [] get(Table table, byte[] key) {
    try {
      return current().get(store.tree(table), key);
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
  }

  @Override
  public byte @Nullable [] getForUpdate(Table table, byte[] key) {
    try {
      return current().getForUpdate(store.tree(table), key);
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
  }

  @Override
  public void put(Table table, byte[] key, byte[] value) {
    bytesPut += key.length + value.length;
    try {
      current().put(store.tree(table), key, value);
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
  }

  @Override
  public void delete(Table table, byte[] key) {
    bytesPut += key.length;
    try {
      current().delete(store.tree(table), key);
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    try (Cursor cursor =
        current().cursor(store.tree(table), CursorOptions.all().from(from).to(to))) {
      IsobarStore.show(cursor, visitor);
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
  }

  @Override
  public void commit() {
    try {
      current().commit();
    } catch (TransactionAbortedException e) {
      throw conflict(e);
    }
    transaction = null;
  }

  @Override
  public void rollback() {
    Transaction open = transaction;
    if (open != null) {
      transaction = null;
      open.rollback();
    }
  }

  @Override
  public long bytesPut() {
    return bytesPut;
  }

  @Override
  public void close() {
    rollback();
  }
}
