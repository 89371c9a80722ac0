package io.isobardb.tpcc.store;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.tpcc.schema.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Isobar through its public API, one tree per table. */
public final class IsobarStore implements TpccStore {
  private final Store store;
  private final Locking locking;
  private final List<Tree> trees = new ArrayList<>();

  /** The tables in {@code store}, made if they are missing; closed with this. */
  public IsobarStore(Store store, Locking locking) {
    this.store = store;
    this.locking = locking;
    for (Table table : Table.values()) {
      trees.add(store.openTree(table.treeName()));
    }
  }

  /** A store as {@code spec} says, with Isobar's defaults for all else. */
  static TpccStore open(StoreSpec spec) {
    Store store =
        Store.open(
            spec.dir(),
            StoreOptions.builder()
                .memoryBudget(spec.memoryBytes())
                .ioMode(spec.directIo() ? IoMode.DIRECT : IoMode.BUFFERED)
                .durability(spec.syncCommits() ? Durability.SYNC : Durability.ASYNC)
                .asyncSyncInterval(Duration.ofMillis(StoreSpec.LOG_SYNC_MILLIS))
                .build());
    return new IsobarStore(store, spec.locking());
  }

  Store store() {
    return store;
  }

  Tree tree(Table table) {
    return trees.get(table.ordinal());
  }

  @Override
  public TpccTransaction newTransaction() {
    return new IsobarTransaction(this, locking);
  }

  @Override
  public void load(List<Put> rows) {
    WriteBatch batch = store.newBatch();
    for (Put row : rows) {
      batch.put(tree(row.table()), row.key(), row.value());
    }
    store.write(batch, Durability.ASYNC);
  }

  @Override
  public byte @Nullable [] get(Table table, byte[] key) {
    return tree(table).get(key);
  }

  @Override
  public void scan(Table table, byte[] from, byte[] to, EntryVisitor visitor) {
    try (Cursor cursor = tree(table).cursor(CursorOptions.all().from(from).to(to))) {
      show(cursor, visitor);
    }
  }

  static void show(Cursor cursor, EntryVisitor visitor) {
    boolean more = cursor.first();
    while (more && visitor.entry(cursor.key(), cursor.value())) {
      more = cursor.next();
    }
  }

  @Override
  public void sync() {
    store.sync();
  }

  @Override
  public void settle() {
    store.awaitQuiet();
  }

  @Override
  public String configuration() {
    return "isobar: " + store.options();
  }

  @Override
  public void close() {
    store.close();
  }
}
