package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Records in a primary tree, and any number of secondary indexes that are kept in step with them.
 *
 * <pre>{@code
 * Index byCity = Index.builder("city").key((key, person) -> List.of(cityOf(person))).build();
 * Dataset people = Dataset.open(store, "people", DatasetOptions.builder().index(byCity).build());
 * people.put(id, person);
 * List<IndexEntry> londoners = people.find("city", "London".getBytes(UTF_8));
 * }</pre>
 *
 * <p>Whatever writes to a dataset's trees goes through the dataset. A write without a transaction
 * is one of its own, which is tried again when others get in its way. Arrays given are not kept;
 * arrays returned are the caller's.
 *
 * <p>There is one {@code Dataset} per name and open store, which all threads share. It needs no
 * closing.
 *
 * <p>Thread rule: all methods may be called by any thread; those with a transaction by that one's.
 *
 * <p>Errors: {@link IllegalArgumentException} for an index that does not exist and for keys and
 * records beyond their limits, {@link IllegalStateException} for an index that is being built, and
 * those of {@link Tree} and {@link Transaction}. A read by an index that is dropped meanwhile
 * throws {@code TreeDroppedException}, which names the index's tree.
 */
public final class Dataset {
  private static final int MAX_NAME = 100;

  /** The names of the datasets that are open over a store. */
  private static final class OpenDatasets {
    final Set<String> names = ConcurrentHashMap.newKeySet();
  }

  private final Store store;
  private final String name;
  private final Tree primary;
  private final IndexCatalog catalog;
  private final Writers writers = new Writers();
  private final RecordWriter writer;
  private final IndexReader reader;
  private final IndexChanges changes;

  /** Where the repair of an index goes on. */
  private final Map<String, byte[]> repairedTo = new ConcurrentHashMap<>();

  private Dataset(Store store, String name, DatasetOptions options) {
    this.store = store;
    this.name = name;
    checkNoOperator(name, options.primary());
    this.primary = store.openTree(name, options.primary());
    checkNoOperator(name, primary.options());
    TreeOptions catalogOptions = TreeOptions.builder().logged(primary.isLogged()).build();
    this.catalog = new IndexCatalog(name, store.openTree(name + "/catalog", catalogOptions));
    this.writer = new RecordWriter(name, primary);
    this.reader = new IndexReader(primary);
    this.changes = new IndexChanges(store, primary, options, catalog, writers, writer);
  }

  private static void checkNoOperator(String name, TreeOptions options) {
    if (options.mergeOperator() != null) {
      throw new IllegalArgumentException(
          "tree '"
              + name
              + "' has a merge operator, and a dataset has to see each value that it indexes: use a"
              + " tree without one");
    }
  }

  /**
   * Opens a dataset, or makes it. A tree of the name that is there already becomes its primary
   * tree, and the indexes are built before this returns; so are those whose build a crash has
   * broken off. A build that begins here is a bulk load, which takes about 16 MB of the heap, or as
   * much as the entries of the index if they are less.
   *
   * @param store an open store
   * @param name 1 to 100 letters, digits, {@code -}, {@code _} and {@code .}; also the name of the
   *     primary tree
   * @param options with the definitions of all indexes that the dataset has
   * @return the dataset
   * @throws IllegalArgumentException if it was made with other definitions, save with {@link
   *     DatasetOptions#updateIndexes}; or if an option that was set for the primary tree is stored
   *     otherwise
   * @throws IllegalStateException if it is open already
   * @throws DuplicateKeyException if a unique index can't be built
   */
  public static Dataset open(Store store, String name, DatasetOptions options) {
    Objects.requireNonNull(store, "store");
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(options, "options");
    if (!name.matches("[A-Za-z0-9._-]{1," + MAX_NAME + "}")) {
      throw new IllegalArgumentException(
          "a dataset's name must be 1 to "
              + MAX_NAME
              + " letters, digits, '-', '_' and '.', not '"
              + name
              + "'");
    }
    OpenDatasets open = store.companion(OpenDatasets.class, OpenDatasets::new);
    if (!open.names.add(name)) {
      throw new IllegalStateException(
          "dataset '" + name + "' is open already: share that one, as all threads may use it");
    }
    try {
      Dataset dataset = new Dataset(store, name, options);
      dataset.changes.open();
      return dataset;
    } catch (RuntimeException | Error e) {
      open.names.remove(name);
      throw e;
    }
  }

  /** {@return the name that it was opened by} */
  public String name() {
    return name;
  }

  /** {@return the store it is in} */
  public Store store() {
    return store;
  }

  // ---- records

  /**
   * {@return the record of a key, or null if there is none}
   *
   * @param key the primary key
   */
  public byte @Nullable [] get(byte[] key) {
    return primary.get(key);
  }

  /**
   * {@return the record of a key as of a snapshot, or null if there was none}
   *
   * @param snapshot the moment
   * @param key the primary key
   */
  public byte @Nullable [] get(Snapshot snapshot, byte[] key) {
    return primary.get(key, snapshot);
  }

  /**
   * {@return the record of a key as a transaction sees it, or null if there is none}
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   */
  public byte @Nullable [] get(Transaction transaction, byte[] key) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(key, "key");
    return transaction.get(primary, key);
  }

  /**
   * As {@link Transaction#getForUpdate}.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @return the value, or null if there is none
   */
  public byte @Nullable [] getForUpdate(Transaction transaction, byte[] key) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(key, "key");
    return transaction.getForUpdate(primary, key);
  }

  /**
   * {@return a cursor over the records, by primary key}
   *
   * @param options how it is made
   */
  public Cursor cursor(CursorOptions options) {
    return primary.cursor(options);
  }

  /**
   * {@return a cursor over the records as a transaction sees them, by primary key}
   *
   * @param transaction the transaction that it is part of
   * @param options how it is made
   */
  public Cursor cursor(Transaction transaction, CursorOptions options) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(options, "options");
    return transaction.cursor(primary, options);
  }

  /**
   * Sets a record.
   *
   * @param key the primary key
   * @param value the record
   * @throws DuplicateKeyException if a unique index leads from one of its index keys to another
   *     record; nothing is written
   * @throws ExtractorException if an index can't be told its keys; nothing is written
   */
  public void put(byte[] key, byte[] value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    run(transaction -> put(transaction, key, value));
  }

  /**
   * Sets a record within a transaction; errors as with {@link #put(byte[], byte[])}, after which
   * the transaction can go on.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @param value the record
   */
  public void put(Transaction transaction, byte[] key, byte[] value) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    checkStore(transaction);
    write(transaction, new RecordBatch.Operation(key, value, null));
  }

  /**
   * Sets a record until an instant, whatever the time to live of its tree is. From then on it is
   * absent, and so are its index entries; see {@link Tree#put(byte[], byte[], Instant)}. Errors as
   * with {@link #put(byte[], byte[])}.
   *
   * @param key the primary key
   * @param value the record
   * @param expires from when on it is absent
   */
  public void put(byte[] key, byte[] value, Instant expires) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(expires, "expires");
    run(transaction -> put(transaction, key, value, expires));
  }

  /**
   * As {@link #put(byte[], byte[], Instant)}, within a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   * @param value the record
   * @param expires from when on it is absent
   */
  public void put(Transaction transaction, byte[] key, byte[] value, Instant expires) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    Objects.requireNonNull(expires, "expires");
    checkStore(transaction);
    write(transaction, new RecordBatch.Operation(key, value, expires));
  }

  /**
   * Removes a record, whether it is there or not.
   *
   * @param key the primary key
   */
  public void delete(byte[] key) {
    Objects.requireNonNull(key, "key");
    run(transaction -> delete(transaction, key));
  }

  /**
   * Removes a record within a transaction, whether it is there or not.
   *
   * @param transaction the transaction that it is part of
   * @param key the primary key
   */
  public void delete(Transaction transaction, byte[] key) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(key, "key");
    checkStore(transaction);
    write(transaction, new RecordBatch.Operation(key, null, null));
  }

  /**
   * Removes all records of a range of primary keys. Without indexes, or if all use validation, that
   * is one small write, as {@link io.isobardb.lsm.Tree#deleteRange(byte[], byte[])}. With an eager
   * or unique index the range is locked, and the records are read and removed one by one, in one
   * transaction. If that fails, nothing is removed.
   *
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound
   * @throws IllegalArgumentException if {@code from} is behind {@code to}
   */
  public void deleteRange(byte @Nullable [] from, byte @Nullable [] to) {
    run(transaction -> deleteRange(transaction, from, to));
  }

  /**
   * As {@link #deleteRange(byte[], byte[])}, within a transaction.
   *
   * @param transaction the transaction that it is part of
   * @param from the first key
   * @param to where it ends
   */
  public void deleteRange(Transaction transaction, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(transaction, "transaction");
    checkStore(transaction);
    transaction.exclusively(
        () -> writer.deleteRange(transaction, writers.layoutOf(transaction), from, to));
  }

  /**
   * Writes a batch: all of it or nothing. Errors as with {@link #put(byte[], byte[])}.
   *
   * @param batch gets the write
   */
  public void write(RecordBatch batch) {
    Objects.requireNonNull(batch, "batch");
    run(transaction -> writeAll(transaction, batch));
  }

  /**
   * Writes a batch within a transaction: all of it, or nothing if it throws.
   *
   * @param transaction the transaction that it is part of
   * @param batch gets the write
   */
  public void write(Transaction transaction, RecordBatch batch) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(batch, "batch");
    checkStore(transaction);
    var before = transaction.savepoint();
    try {
      writeAll(transaction, batch);
    } catch (RuntimeException | Error e) {
      if (transaction.isOpen()) {
        transaction.rollbackTo(before);
      }
      throw e;
    }
  }

  private void writeAll(Transaction transaction, RecordBatch batch) {
    for (RecordBatch.Operation operation : batch.operations()) {
      write(transaction, operation);
    }
  }

  /** Sets or removes a record. What is to be maintained is found out in the same turn. */
  private void write(Transaction transaction, RecordBatch.Operation operation) {
    transaction.exclusively(
        () -> writer.write(transaction, writers.layoutOf(transaction), operation));
  }

  /** Else a dataset of one store would note a transaction of another as its writer. */
  private void checkStore(Transaction transaction) {
    if (transaction.store() != store) {
      throw new IllegalArgumentException(
          "dataset '" + name + "' belongs to another store than the transaction");
    }
  }

  private void run(Consumer<Transaction> what) {
    store.runInTransaction(IndexRepair.LATEST, what::accept);
  }

  // ---- reading by an index

  /**
   * {@return the records with an index key, by primary key, all as of one moment}
   *
   * @param index the name of the index
   * @param indexKey the index key
   */
  public List<IndexEntry> find(String index, byte[] indexKey) {
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(indexKey, "indexKey");
    SecondaryIndex found = ready(index);
    try (Snapshot snapshot = store.snapshot()) {
      return reader.find(View.of(snapshot), kept(found), indexKey);
    }
  }

  /**
   * {@return the records with an index key as of a snapshot, by primary key}
   *
   * @param snapshot the moment
   * @param index the name of the index
   * @param indexKey the index key
   */
  public List<IndexEntry> find(Snapshot snapshot, String index, byte[] indexKey) {
    Objects.requireNonNull(snapshot, "snapshot");
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(indexKey, "indexKey");
    View view = View.of(snapshot);
    return reader.find(view, ready(index, view), indexKey);
  }

  /**
   * {@return the records with an index key as a transaction sees them, by primary key}
   *
   * @param transaction the transaction that it is part of
   * @param index the name of the index
   * @param indexKey the index key
   */
  public List<IndexEntry> find(Transaction transaction, String index, byte[] indexKey) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(indexKey, "indexKey");
    View view = View.of(transaction);
    SecondaryIndex found = ready(index, view);
    List<IndexEntry> entries = reader.find(view, found, indexKey);
    // At READ_COMMITTED its reads have moments of their own, up to the last one.
    kept(found);
    return entries;
  }

  /**
   * {@return a cursor over the records in the order of an index, as they are now}
   *
   * @param index the name of the index
   * @param range which keys
   */
  public IndexCursor cursor(String index, IndexRange range) {
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(range, "range");
    SecondaryIndex found = ready(index);
    Snapshot snapshot = store.snapshot();
    try {
      return new IndexCursor(View.of(snapshot), snapshot, kept(found), primary, range);
    } catch (RuntimeException | Error e) {
      snapshot.close();
      throw e;
    }
  }

  /**
   * {@return a cursor over the records in the order of an index as of a snapshot, which must
   * outlive it}
   *
   * @param snapshot the moment
   * @param index the name of the index
   * @param range which keys
   */
  public IndexCursor cursor(Snapshot snapshot, String index, IndexRange range) {
    Objects.requireNonNull(snapshot, "snapshot");
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(range, "range");
    View view = View.of(snapshot);
    return new IndexCursor(view, null, ready(index, view), primary, range);
  }

  /**
   * {@return a cursor over the records in the order of an index as a transaction sees them}
   *
   * @param transaction the transaction that it is part of
   * @param index the name of the index
   * @param range which keys
   */
  public IndexCursor cursor(Transaction transaction, String index, IndexRange range) {
    Objects.requireNonNull(transaction, "transaction");
    Objects.requireNonNull(index, "index");
    Objects.requireNonNull(range, "range");
    View view = View.of(transaction);
    SecondaryIndex found = ready(index, view);
    IndexCursor cursor = new IndexCursor(view, null, found, primary, range);
    if (!isKept(found)) {
      cursor.close();
      throw dropped(found);
    }
    return cursor;
  }

  private SecondaryIndex known(String index) {
    Layout layout = writers.current();
    SecondaryIndex found = layout.find(index);
    if (found == null) {
      throw new IllegalArgumentException(
          "dataset '"
              + name
              + "' has no index '"
              + index
              + "'; it has "
              + layout.indexes().stream()
                  .map(SecondaryIndex::name)
                  .collect(Collectors.joining(", ", "[", "]")));
    }
    return found;
  }

  private SecondaryIndex ready(String index) {
    SecondaryIndex found = known(index);
    if (!found.isReady()) {
      throw new IllegalStateException(
          "index '" + index + "' of dataset '" + name + "' is still being built: see indexes()");
    }
    return found;
  }

  private SecondaryIndex ready(String index, View view) {
    SecondaryIndex found = ready(index);
    if (!catalog.shows(view, found.stored())) {
      throw new IllegalStateException(
          "index '"
              + index
              + "' of dataset '"
              + name
              + "' was not ready yet when the snapshot was taken, or the transaction first read");
    }
    return found;
  }

  /**
   * Whether an index that was found is still maintained. Ask after the moment at which it is read:
   * a drop tells writers before any of them leaves the index out, so that moment shows it whole.
   */
  private boolean isKept(SecondaryIndex found) {
    return writers.current().find(found.name()) == found;
  }

  /**
   * An index that {@link #isKept}.
   *
   * @throws IllegalArgumentException if it is not
   */
  private SecondaryIndex kept(SecondaryIndex found) {
    if (!isKept(found)) {
      throw dropped(found);
    }
    return found;
  }

  private IllegalArgumentException dropped(SecondaryIndex index) {
    return new IllegalArgumentException(
        "index '" + index.name() + "' of dataset '" + name + "' was dropped during the call");
  }

  // ---- the indexes themselves

  /** {@return the indexes there are, and how far they are} */
  public List<IndexStatus> indexes() {
    return writers.current().indexes().stream()
        .map(
            index -> {
              Index definition = index.definition();
              IndexCatalog.Progress progress =
                  index.isReady() ? null : catalog.progress(index.name());
              return new IndexStatus(
                  index.name(),
                  definition.unique(),
                  definition.maintenance(),
                  definition.version(),
                  index.stored().state(),
                  progress == null ? 0 : progress.records(),
                  index.staleSeen(),
                  index.staleDropped(),
                  index.tree().name());
            })
        .toList();
  }

  /**
   * As {@link #createIndex(Index, BuildProgress)}, telling nobody.
   *
   * @param definition the index
   */
  public void createIndex(Index definition) {
    createIndex(definition, BuildProgress.NONE);
  }

  /**
   * Creates an index and builds it while records are written; it can be read when this returns.
   *
   * <p>First waits until the transactions have ended that have written to the dataset before. If
   * the build breaks off, by a full disk or by what {@code progress} throws, call this again and it
   * goes on. After a crash it goes on when the dataset is opened with the index among its
   * definitions; opened without, the index is dropped.
   *
   * @param definition the index
   * @param progress is told how far it has come
   * @throws IllegalArgumentException if there is an index of this name
   * @throws IllegalStateException if another change is under way, or if transactions stay open for
   *     longer than the options' {@code changeTimeout}
   * @throws DuplicateKeyException if it is unique and the records don't allow that; it is dropped
   * @throws ExtractorException if the extractor fails on a record; it is dropped
   */
  public void createIndex(Index definition, BuildProgress progress) {
    Objects.requireNonNull(definition, "definition");
    Objects.requireNonNull(progress, "progress");
    changes.create(definition, progress);
  }

  /**
   * Drops an index; cursors over it are closed. Waits for transactions as {@link #createIndex}
   * does; if those stay open for too long, call this again.
   *
   * @param index the name of the index
   * @throws IllegalArgumentException if there is no such index
   * @throws IllegalStateException as with {@link #createIndex}
   */
  public void dropIndex(String index) {
    Objects.requireNonNull(index, "index");
    changes.drop(index);
    repairedTo.remove(index);
  }

  /**
   * Removes all stale entries of an index with {@link Maintenance#VALIDATION}, while records are
   * written. It is up to the caller when, and on which thread.
   *
   * @param index the name of the index
   * @return what was looked at and removed
   * @throws IllegalArgumentException if the index is eager: it has none
   */
  public RepairResult repair(String index) {
    Objects.requireNonNull(index, "index");
    repairedTo.remove(index);
    return repair(index, Long.MAX_VALUE);
  }

  /**
   * Looks at some entries of an index and removes those that are stale. The next call goes on where
   * this one ends, and begins anew once the end was reached.
   *
   * @param index the name of the index
   * @param entries how many to look at, at least 1
   * @return what was looked at and removed
   * @throws IllegalArgumentException if the index is eager: it has none
   */
  public RepairResult repair(String index, long entries) {
    Objects.requireNonNull(index, "index");
    SecondaryIndex found = ready(index);
    if (found.isEager()) {
      throw new IllegalArgumentException(
          "index '" + index + "' is eager: there is nothing stale in it to repair");
    }
    if (entries < 1) {
      throw new IllegalArgumentException("entries must be at least 1, not " + entries);
    }
    long seen = 0;
    long removed = 0;
    byte[] next = repairedTo.get(index);
    do {
      IndexRepair.Slice slice = changes.repair().repair(found, next, entries - seen);
      seen += slice.entries();
      removed += slice.removed();
      next = slice.next();
    } while (next != null && seen < entries);
    if (next == null) {
      repairedTo.remove(index);
    } else {
      repairedTo.put(index, next);
    }
    return new RepairResult(seen, removed, next == null);
  }

  /**
   * Compares all indexes that are ready with the records, both ways, as of one moment; reads all of
   * them, and keeps merges from dropping what it sees meanwhile. Takes about 16 MB of the heap. An
   * index that is dropped during the check is not in the result.
   *
   * @return what was found
   */
  public DatasetCheck check() {
    List<SecondaryIndex> ready =
        writers.current().indexes().stream().filter(SecondaryIndex::isReady).toList();
    try (Snapshot snapshot = store.snapshot()) {
      List<SecondaryIndex> whole = ready.stream().filter(this::isKept).toList();
      return new DatasetChecker(View.of(snapshot), primary, whole, IndexLoad.PIECE_BYTES).run();
    }
  }

  @Override
  public String toString() {
    return "dataset " + name;
  }
}
