package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.StoreClosedException;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.transaction.LoadedRange;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.Log;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A bulk load: writes SSTables beside the log and the write memory, and puts them into their trees
 * at one LSN.
 *
 * <p>That LSN is known only at the commit, so the manifest says it, and {@code PageFile} gives it
 * to pages as they are read. The commit takes the LSN and seals the trees there. Until it is done
 * nothing from the LSN on becomes visible: what is older is flushed, the log synced, the SSTables
 * named in the manifest. So the first reader at that LSN or later finds them in place, and nothing
 * older lies above them.
 *
 * <p>Refers to nothing that users hold. Thread rule: one thread at a time; the store's end calls
 * {@link #discard} when no other call is under way.
 */
public final class BulkLoader {
  private final StoreParts parts;
  private final Engine engine;
  private final Operations operations;
  private final Transactions transactions;
  private final Lifetime lifetime;
  private final Map<TreeHandle, TreeLoad> loads = new LinkedHashMap<>();

  /** Why nothing more can be done with it, or null. */
  private volatile @Nullable String ended;

  private BulkLoader(
      StoreParts parts, Operations operations, Transactions transactions, Lifetime lifetime) {
    this.parts = parts;
    this.engine = parts.engine();
    this.operations = operations;
    this.transactions = transactions;
    this.lifetime = lifetime;
  }

  /** Begins a load of some trees. */
  static BulkLoader begin(OpenStore store, List<TreeHandle> trees) {
    StoreParts parts = store.parts();
    Operations operations = store.operations();
    parts.observers().refuseWhileTelling("Store.bulkLoad");
    int slot = operations.enter();
    try {
      trees.forEach(TreeHandle::checkOpen);
      return begin(parts, operations, store.transactions(), store.lifetime(), trees);
    } finally {
      operations.exit(slot);
    }
  }

  private static BulkLoader begin(
      StoreParts parts,
      Operations operations,
      Transactions transactions,
      Lifetime lifetime,
      List<TreeHandle> trees) {
    parts.engine().failure().check();
    Log log = parts.engine().log();
    log.flush();
    BulkLoader loader = new BulkLoader(parts, operations, transactions, lifetime);
    // For repair, which may find the files only: newer than what was there when the load began.
    long lsn = Math.max(0, (log.visible() & -8L));
    TableSpace space =
        parts.engine().catalog().space().by(parts.storage().countedFor(IoPurpose.LOAD));
    for (TreeHandle tree : trees) {
      loader.loads.put(tree, new TreeLoad(parts.engine(), parts.merger(), tree, space, lsn));
    }
    lifetime.loads().add(loader);
    return loader;
  }

  /**
   * Adds an entry; the arrays are not changed afterwards.
   *
   * @param expiry when it expires, or {@link io.isobardb.lsm.expiry.Expiry#NEVER}
   */
  public void add(TreeHandle tree, byte[] key, byte[] value, long expiry) {
    int slot = operations.enter();
    try {
      checkUsable();
      tree.checkOpen();
      TreeLoad load = loads.get(tree);
      if (load == null) {
        throw new IllegalArgumentException(
            "tree '" + tree.name() + "' is not among those that the bulk load was begun with");
      }
      load.check(key);
      write(() -> load.add(key, value, expiry));
    } finally {
      operations.exit(slot);
    }
  }

  private interface Writing {
    void run() throws IOException;
  }

  private void write(Writing action) {
    boolean done = false;
    try {
      action.run();
      done = true;
    } catch (IOException e) {
      throw Operations.failed("writing the files of a bulk load", e);
    } finally {
      if (!done) {
        end("has failed");
      }
    }
  }

  /** Bytes of the SSTables that are whole. */
  public long bytesWritten() {
    return loads.values().stream().mapToLong(TreeLoad::bytes).sum();
  }

  /** Puts all that was added in place. */
  public void commit() {
    parts.observers().refuseWhileTelling("BulkLoad.commit");
    operations.refuseWhileLooking("BulkLoad.commit");
    int slot = operations.enter();
    try {
      checkUsable();
      loads.keySet().forEach(TreeHandle::checkOpen);
      write(
          () -> {
            for (TreeLoad load : loads.values()) {
              load.finish();
            }
            // Most of what is in memory goes now, so that writers wait for little below.
            loadedTrees().forEach(parts.checkpointer()::flush);
          });
    } finally {
      operations.exit(slot);
    }
    if (loadedTrees().isEmpty()) {
      end("was committed");
      return;
    }
    lifetime.lock().lock();
    try {
      commitHolding();
    } finally {
      lifetime.lock().unlock();
    }
  }

  /**
   * Commits, and ends the load, whether that succeeds or not: without the lock the store's end
   * might come in between, which discards what has not ended, and closes the directory.
   */
  private void commitHolding() {
    boolean committed = false;
    try {
      operations.checkOpen();
      commitAlone();
      committed = true;
    } finally {
      end(committed ? "was committed" : "has failed");
    }
  }

  private List<TreeHandle> loadedTrees() {
    return loads.values().stream()
        .filter(load -> !load.files().isEmpty())
        .map(TreeLoad::tree)
        .toList();
  }

  /** The lifetime's lock is held: no tree comes or goes, and there is no other commit. */
  private void commitAlone() {
    List<TreeHandle> trees = loadedTrees();
    boolean committed = false;
    transactions.beginLoad(ranges());
    try {
      operations.awaitBegun();
      // Only now: an operation that has begun may be waiting for memory, and that for a merge.
      trees.forEach(parts.merger()::pause);
      int slot = operations.enter();
      try {
        trees.forEach(TreeHandle::checkOpen);
        if (trees.stream().allMatch(tree -> tree.settings().logged())) {
          install(trees, false);
        } else {
          parts.checkpointer().exclude(() -> install(trees, true));
        }
        committed = true;
      } finally {
        operations.exit(slot);
      }
    } finally {
      transactions.endLoad(committed);
      trees.forEach(parts.merger()::resume);
    }
  }

  private List<LoadedRange> ranges() {
    long order = transactions.locks().nextId();
    List<LoadedRange> ranges = new ArrayList<>();
    for (TreeLoad load : loads.values()) {
      List<SSTableMeta> files = load.files();
      if (!files.isEmpty()) {
        byte[] high = files.get(files.size() - 1).maxKey();
        ranges.add(new LoadedRange(load.tree(), files.get(0).minKey(), high, order));
      }
    }
    return ranges;
  }

  /**
   * @param checkpoint whether unlogged trees stand at this moment after a crash
   */
  private void install(List<TreeHandle> trees, boolean checkpoint) {
    engine.failure().check();
    engine.space().check();
    TreeSet<TreeHandle> sealed = new TreeSet<>(Comparator.comparingInt(TreeHandle::id));
    sealed.addAll(trees);
    if (checkpoint) {
      engine.catalog().trees().stream()
          .filter(tree -> !tree.settings().logged())
          .forEach(sealed::add);
    }
    Log log = engine.log();
    long lsn = parts.sealer().sealTogether(List.copyOf(sealed));
    try {
      parts.checkpointer().flushBelow(List.copyOf(sealed), lsn);
      log.awaitDurable(lsn);
      List<Catalog.TreeChange> changes = new ArrayList<>();
      for (TreeHandle tree : trees) {
        changes.add(change(tree, lsn));
      }
      List<VersionEdit> besides =
          checkpoint ? List.of(VersionEdit.store().checkpointLsn(lsn).build()) : List.of();
      putInPlace(changes, besides);
      if (checkpoint) {
        engine.snapshots().setCheckpoint(lsn);
      }
    } finally {
      log.publishMarker(lsn);
    }
  }

  private void putInPlace(List<Catalog.TreeChange> changes, List<VersionEdit> besides) {
    try {
      engine.catalog().commit(changes, besides);
    } catch (DiskFullException e) {
      throw e;
    } catch (IOException e) {
      onUncertain(e);
      throw Operations.failed("committing a bulk load", e);
    } catch (RuntimeException | Error e) {
      onUncertain(e);
      throw e;
    }
    giveFiles();
  }

  /** Whether the manifest names the files is not known before the store is opened again. */
  private void onUncertain(Throwable cause) {
    giveFiles();
    engine.failure().fail(cause);
  }

  /** The files are no longer the load's. */
  private void giveFiles() {
    loads.values().forEach(load -> load.files().clear());
  }

  private Catalog.TreeChange change(TreeHandle tree, long lsn) {
    TreeLoad load = loads.get(tree);
    if (load == null) {
      throw new IllegalStateException(tree + " is not loaded");
    }
    List<SSTableMeta> files = load.files().stream().map(meta -> meta.at(lsn)).toList();
    List<SSTable> fresh = files.stream().map(meta -> engine.catalog().open(meta, tree)).toList();
    Merger merger = parts.merger();
    return new Catalog.TreeChange(
        tree,
        (version, flushedLsn) -> {
          VersionEdit.Builder edit = VersionEdit.of(tree.id()).flushedLsn(flushedLsn);
          List<Place> places = version.placeLow(files, meta -> merger.leavesAlone(tree, meta));
          for (int i = 0; i < files.size(); i++) {
            edit.add(places.get(i), files.get(i));
          }
          return edit.build();
        },
        fresh,
        List.of());
  }

  private void checkUsable() {
    String how = ended;
    if (how != null) {
      throw new IllegalStateException("the bulk load " + how);
    }
  }

  /** Ends the load; what was not committed is deleted. */
  public void close() {
    if (ended != null) {
      return;
    }
    int slot;
    try {
      slot = operations.enter();
    } catch (StoreClosedException e) {
      // The store's end discards it.
      return;
    }
    try {
      end("is closed");
    } finally {
      operations.exit(slot);
    }
  }

  /** The store is being closed. */
  void discard() {
    if (ended == null) {
      end("was discarded, since the store was closed");
    }
  }

  private void end(String how) {
    ended = how;
    loads.values().forEach(TreeLoad::discard);
    lifetime.loads().remove(this);
  }
}
