package io.isobardb.lsm.dataset;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Isolation;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.TransactionOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.TreeOptions;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How indexes come and go while records are written.
 *
 * <p>An index comes like this, and a crash at any point leaves what can be gone on with:
 *
 * <ol>
 *   <li>It is in the catalog as {@code BUILDING}, and has a tree.
 *   <li>It is in the layout: transactions that begin to write from now on maintain it.
 *   <li>Those that have begun before have ended ({@link Writers#awaitOthers}): from now on all do.
 *   <li>If it is eager, what does not fit its record goes ({@link IndexRepair}): one that began
 *       before may have overwritten a record whose entry another had made already.
 *   <li>The primary tree is gone through, some records at a time: each is locked, and its entries
 *       are added. How far that is is part of the same transaction.
 *   <li>It is {@code READY}, in the catalog first and in the layout then.
 * </ol>
 *
 * <p>While the dataset is opened nobody writes to it. So a build that begins then, or begins anew,
 * is a bulk load ({@link IndexLoad}).
 *
 * <p>It goes the other way round: it is {@code DROPPING} in the catalog, durably; then out of the
 * layout; then those that maintain it have ended; then its tree goes, and its place in the catalog.
 *
 * <p>Thread rule: all methods may be called by any thread; one change at a time.
 */
final class IndexChanges {
  private static final int SLICE = 64;

  private static final TransactionOptions SYNCED =
      TransactionOptions.builder()
          .isolation(Isolation.READ_COMMITTED)
          .durability(Durability.SYNC)
          .build();

  private final Store store;
  private final String dataset;
  private final Tree primary;
  private final DatasetOptions options;
  private final IndexCatalog catalog;
  private final Writers writers;
  private final RecordWriter writer;
  private final IndexRepair repair;

  /** The change under way, or null. */
  private final AtomicReference<@Nullable String> changing = new AtomicReference<>();

  IndexChanges(
      Store store,
      Tree primary,
      DatasetOptions options,
      IndexCatalog catalog,
      Writers writers,
      RecordWriter writer) {
    this.store = store;
    this.dataset = primary.name();
    this.primary = primary;
    this.options = options;
    this.catalog = catalog;
    this.writers = writers;
    this.writer = writer;
    this.repair = new IndexRepair(store, primary, writer);
  }

  /**
   * Compares the definitions with what is stored, and brings all indexes to the end of what was
   * begun: nobody writes to the dataset yet. Or makes them those stored, if the options say so.
   *
   * @throws IllegalArgumentException if the definitions are not those stored
   */
  void open() {
    if (catalog.isNew()) {
      create();
    }
    if (options.updateIndexes()) {
      update(catalog.indexes());
    } else {
      compare(catalog.indexes());
    }
    Map<String, Index> definitions = new LinkedHashMap<>();
    options.indexes().forEach(index -> definitions.put(index.name(), index));
    List<SecondaryIndex> indexes = new ArrayList<>();
    List<IndexCatalog.Stored> unwanted = new ArrayList<>();
    for (IndexCatalog.Stored index : catalog.indexes().values()) {
      Index definition = definitions.get(index.name());
      if (index.state() == IndexState.DROPPING) {
        finishDrop(index);
      } else if (definition == null) {
        unwanted.add(index);
      } else {
        indexes.add(open(index, definition));
      }
    }
    writers.publish(new Layout(indexes));
    for (SecondaryIndex index : indexes) {
      if (index.isReady()) {
        index.repairAtMerges(primary);
      } else if (catalog.progress(index.name()) == null) {
        finish(
            index,
            () ->
                new IndexLoad(store, primary, index, IndexLoad.PIECE_BYTES)
                    .run(options.progress()));
      } else {
        finish(index, () -> fill(index, options.progress()));
      }
    }
    // Last, so that nothing is gone if an index can't be built.
    unwanted.forEach(this::dropUnwanted);
  }

  private void dropUnwanted(IndexCatalog.Stored index) {
    boolean wasReady = index.state() == IndexState.READY;
    System.getLogger(IndexChanges.class.getName())
        .log(
            Level.INFO,
            "dropping index '"
                + index.name()
                + "' of '"
                + dataset
                + (wasReady ? "', which is not among those given" : "', which was never ready"));
    drop(index);
  }

  /** Writes the first catalog. There may be records already, so the indexes are to be built. */
  private void create() {
    run(
        IndexRepair.LATEST,
        transaction -> {
          catalog.create(transaction);
          options.indexes().forEach(index -> build(transaction, index));
        });
  }

  /** Notes that an index is to be built. */
  private void build(Transaction transaction, Index index) {
    int number = catalog.nextNumber(transaction);
    catalog.put(transaction, IndexCatalog.Stored.of(index, number, IndexState.BUILDING));
  }

  /** Has those indexes built that are missing or stored otherwise; drops what these had. */
  private void update(Map<String, IndexCatalog.Stored> stored) {
    for (Index index : options.indexes()) {
      IndexCatalog.Stored known = stored.get(index.name());
      if (known != null && known.state() == IndexState.DROPPING) {
        finishDrop(known);
        known = null;
      } else if (known != null && !known.isOf(index)) {
        drop(known);
        known = null;
      }
      if (known == null) {
        run(IndexRepair.LATEST, transaction -> build(transaction, index));
      }
    }
  }

  private void compare(Map<String, IndexCatalog.Stored> stored) {
    List<String> differences = new ArrayList<>();
    for (Index index : options.indexes()) {
      IndexCatalog.Stored known = stored.get(index.name());
      if (known == null || known.state() == IndexState.DROPPING) {
        differences.add(
            "there is no index '"
                + index.name()
                + "': open the dataset with DatasetOptions.updateIndexes to build it, or without it"
                + " and call createIndex");
      } else if (!known.isOf(index)) {
        differences.add(
            "index '"
                + index.name()
                + "' is stored as "
                + known.described()
                + ", and defined as "
                + index.described()
                + ": open the dataset with DatasetOptions.updateIndexes to build it anew, or give the"
                + " definition it was made with");
      }
    }
    for (IndexCatalog.Stored known : stored.values()) {
      boolean given =
          options.indexes().stream().anyMatch(index -> index.name().equals(known.name()));
      if (!given && known.state() == IndexState.READY) {
        differences.add(
            "there is an index '"
                + known.name()
                + "' that is not among the definitions: without it, its entries would not be kept"
                + " in step; open the dataset with it, or with DatasetOptions.updateIndexes to drop"
                + " it");
      }
    }
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "dataset '"
              + dataset
              + "' was made with other definitions: "
              + String.join("; ", differences));
    }
  }

  /** An index as a crash has left it, with a tree; that is empty if the build has to begin anew. */
  private SecondaryIndex open(IndexCatalog.Stored stored, Index definition) {
    String tree = catalog.treeName(stored);
    boolean ready = stored.state() == IndexState.READY;
    boolean begun = ready || catalog.progress(stored.name()) != null;
    if (begun && store.treeNames().contains(tree)) {
      return new SecondaryIndex(definition, store.tree(tree), stored);
    }
    if (ready) {
      System.getLogger(IndexChanges.class.getName())
          .log(
              Level.WARNING,
              "index '" + stored.name() + "' of '" + dataset + "' has no tree, and is built");
    }
    IndexCatalog.Stored anew = stored.with(IndexState.BUILDING);
    run(
        IndexRepair.LATEST,
        transaction -> {
          catalog.put(transaction, anew);
          catalog.removeProgress(transaction, anew.name());
        });
    return new SecondaryIndex(definition, createTree(anew), anew);
  }

  private Tree createTree(IndexCatalog.Stored stored) {
    String tree = catalog.treeName(stored);
    if (store.treeNames().contains(tree)) {
      // A crash took what the catalog said of it.
      store.dropTree(tree);
    }
    TreeOptions like = primary.options();
    TreeOptions.Builder options =
        TreeOptions.builder()
            .logged(like.logged())
            .compression(like.compression())
            .filterBitsPerKey(like.filterBitsPerKey())
            .maxSpace(like.maxSpace());
    if (!like.runs().isLeveled()) {
      // Runs that are given, be it the default, are no longer the store's choice.
      options.runs(like.runs());
    }
    return store.createTree(tree, options.build());
  }

  /** Creates an index and builds it; or goes on with a build that was broken off. */
  void create(Index definition, BuildProgress progress) {
    begin("creating index '" + definition.name() + "'");
    try {
      IndexCatalog.Stored stored = catalog.indexes().get(definition.name());
      if (stored != null && stored.state() == IndexState.DROPPING) {
        finishDrop(stored);
        stored = null;
      }
      SecondaryIndex index = writers.current().find(definition.name());
      if (stored != null && (stored.state() == IndexState.READY || !stored.isOf(definition))) {
        throw new IllegalArgumentException(
            "dataset '"
                + dataset
                + "' has an index '"
                + stored.name()
                + "' already ("
                + stored.described()
                + ", "
                + stored.state()
                + "): drop it first");
      }
      if (index == null) {
        index = add(definition, stored);
      }
      SecondaryIndex added = index;
      finish(
          added,
          () -> {
            writers.awaitOthers(
                options.changeTimeout(),
                "creating index '" + added.name() + "' of '" + dataset + "'");
            fill(added, progress);
          });
    } finally {
      changing.set(null);
    }
  }

  /** Makes an index known to writers. */
  private SecondaryIndex add(Index definition, IndexCatalog.@Nullable Stored stored) {
    IndexCatalog.Stored building = stored;
    if (building == null) {
      building =
          store.inTransaction(
              IndexRepair.LATEST,
              transaction -> {
                IndexCatalog.Stored fresh =
                    IndexCatalog.Stored.of(
                        definition, catalog.nextNumber(transaction), IndexState.BUILDING);
                catalog.put(transaction, fresh);
                return fresh;
              });
    }
    SecondaryIndex index = new SecondaryIndex(definition, createTree(building), building);
    writers.publish(writers.current().replace(definition.name(), index));
    return index;
  }

  /** Has an index filled; drops it if its definition does not fit the records. */
  private void finish(SecondaryIndex index, Runnable filling) {
    try {
      filling.run();
    } catch (DuplicateKeyException | ExtractorException e) {
      try {
        drop(index.stored());
      } catch (RuntimeException more) {
        e.addSuppressed(more);
      }
      throw e;
    }
    IndexCatalog.Stored ready = index.stored().with(IndexState.READY);
    run(
        IndexRepair.LATEST,
        transaction -> {
          catalog.put(transaction, ready);
          catalog.removeProgress(transaction, ready.name());
        });
    SecondaryIndex built = index.with(ready);
    writers.publish(writers.current().replace(index.name(), built));
    built.repairAtMerges(primary);
  }

  private void fill(SecondaryIndex index, BuildProgress progress) {
    IndexCatalog.Progress at = catalog.progress(index.name());
    if (at == null && index.isEager()) {
      byte[] from = null;
      do {
        from = repair.repair(index, from, Long.MAX_VALUE).next();
      } while (from != null);
    }
    while (true) {
      List<byte[]> keys = keysAfter(at == null ? null : at.lastKey());
      if (keys.isEmpty()) {
        return;
      }
      long before = at == null ? 0 : at.records();
      IndexCatalog.Progress now =
          new IndexCatalog.Progress(before + keys.size(), keys.get(keys.size() - 1));
      run(
          IndexRepair.BACKGROUND,
          transaction -> {
            keys.forEach(key -> writer.index(transaction, index, key));
            catalog.putProgress(transaction, index.name(), now);
          });
      at = now;
      progress.at(index.name(), now.records());
    }
  }

  private List<byte[]> keysAfter(byte @Nullable [] last) {
    CursorOptions all = CursorOptions.all();
    List<byte[]> keys = new ArrayList<>();
    try (Cursor cursor = primary.cursor(last == null ? all : all.from(last))) {
      boolean more = cursor.first();
      if (more && last != null && Arrays.equals(cursor.key(), last)) {
        more = cursor.next();
      }
      for (; more && keys.size() < SLICE; more = cursor.next()) {
        keys.add(cursor.key());
      }
    }
    return keys;
  }

  void drop(String name) {
    begin("dropping index '" + name + "'");
    try {
      IndexCatalog.Stored stored = catalog.indexes().get(name);
      if (stored == null) {
        throw new IllegalArgumentException("dataset '" + dataset + "' has no index '" + name + "'");
      }
      if (stored.state() == IndexState.DROPPING) {
        finishDrop(stored);
      } else {
        drop(stored);
      }
    } finally {
      changing.set(null);
    }
  }

  private void drop(IndexCatalog.Stored stored) {
    IndexCatalog.Stored dropping = stored.with(IndexState.DROPPING);
    run(SYNCED, transaction -> catalog.put(transaction, dropping));
    if (!primary.isLogged()) {
      store.checkpoint();
    }
    finishDrop(dropping);
  }

  private void finishDrop(IndexCatalog.Stored stored) {
    writers.publish(writers.current().replace(stored.name(), null));
    writers.awaitOthers(
        options.changeTimeout(), "dropping index '" + stored.name() + "' of '" + dataset + "'");
    String tree = catalog.treeName(stored);
    if (store.treeNames().contains(tree)) {
      store.dropTree(tree);
    }
    run(IndexRepair.LATEST, transaction -> catalog.remove(transaction, stored.name()));
  }

  private void begin(String change) {
    if (!changing.compareAndSet(null, change)) {
      throw new IllegalStateException(
          change
              + " of '"
              + dataset
              + "' has to wait: another change is under way, "
              + changing.get()
              + "; try again when it is done");
    }
  }

  private void run(TransactionOptions how, Consumer<Transaction> what) {
    store.runInTransaction(how, what::accept);
  }

  IndexRepair repair() {
    return repair;
  }
}
