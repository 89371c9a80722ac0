package io.isobardb.tpcc.work;

import io.isobardb.tpcc.schema.Table;
import io.isobardb.tpcc.store.EntryVisitor;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.TpccTransaction;

/** A transaction that lets a test act right before the commit, and roll back in its place. */
final class Intercepted implements TpccTransaction {
  private final TpccTransaction inner;
  private final Runnable beforeCommit;
  private final boolean rollBack;

  Intercepted(TpccTransaction inner, Runnable beforeCommit, boolean rollBack) {
    this.inner = inner;
    this.beforeCommit = beforeCommit;
    this.rollBack = rollBack;
  }

  @Override
  public void begin(Isolation isolation) {
    inner.begin(isolation);
  }

  @Override
  public byte[] get(Table table, byte[] key) {
    return inner.get(table, key);
  }

  @Override
  public byte[] getForUpdate(Table table, byte[] key) {
    return inner.getForUpdate(table, key);
  }

  @Override
  public void put(Table table, byte[] key, byte[] value) {
    inner.put(table, key, value);
  }

  @Override
  public void delete(Table table, byte[] key) {
    inner.delete(table, key);
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    inner.scan(table, from, to, visitor);
  }

  @Override
  public void commit() {
    beforeCommit.run();
    if (rollBack) {
      inner.rollback();
    } else {
      inner.commit();
    }
  }

  @Override
  public void rollback() {
    inner.rollback();
  }

  @Override
  public long bytesPut() {
    return inner.bytesPut();
  }

  @Override
  public void close() {
    inner.close();
  }
}
