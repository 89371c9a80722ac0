package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.IoMode;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.lsm.wal.LogHandler;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes a store from what its manifest says to where it stood: unlogged trees back to the last
 * checkpoint, logged ones on to the end of the log. All that may refuse the store comes before
 * anything is changed, and every step can be repeated after a crash.
 *
 * <p>Thread rule: {@link #run} once, by one thread; flushes and merges go on meanwhile.
 */
final class Recovery {
  private final Engine engine;
  private final PagePool pool;
  private final OpenOptions options;
  private final Committer committer;
  private final Merger merger;
  private final Recovered recovered;
  private final BatchFormat.Reader reader = new BatchFormat.Reader();

  /** Operations with lower LSNs are in SSTables, by tree. */
  private final Map<Integer, Long> flushedLsns = new HashMap<>();

  /**
   * @param found what {@code engine} and the other parts were made of; its trees are in the catalog
   */
  Recovery(
      Bootstrap found, OpenOptions options, Engine engine, Committer committer, Merger merger) {
    this.engine = engine;
    this.pool = found.memory().pool();
    this.options = options;
    this.committer = committer;
    this.merger = merger;
    this.recovered = found.recovered();
    for (Recovered.Tree tree : recovered.trees()) {
      flushedLsns.put(tree.definition().id(), tree.flushedLsn());
    }
  }

  /**
   * Recovers. The log is open when this returns.
   *
   * @throws CorruptionException if something is damaged that must not be
   */
  void run() throws IOException {
    Environment environment = engine.environment();
    Storage storage = environment.storage();
    Manifest manifest = recovered.manifest();
    List<String> names = storage.list();
    for (String name : manifest.liveFiles()) {
      if (!names.contains(name)) {
        throw new CorruptionException(
            name, 0, "the file is missing from " + storage.path(), recovered.treeOf(name));
      }
    }
    List<Rollback> rollbacks = rollbacks();
    LogOptions logOptions = logOptions();
    LogExtent extent =
        new LogExtent(
            Math.max(recovered.counters().logStartLsn(), Lsn.FIRST),
            recovered.counters().syncedLsn());
    // All that may refuse the store comes before anything is changed.
    Log.check(environment, pool, logOptions, manifest.storeId(), extent);
    for (Rollback rollback : rollbacks) {
      rollback.check();
    }
    if (!StoreProperties.hasPageSize(recovered.properties())) {
      manifest.append(List.of(StoreProperties.notePageSize(pool.pageSize()).build()));
    }
    manifest.settle();
    for (String name : manifest.orphans(names)) {
      storage.delete(name);
    }
    for (Rollback rollback : rollbacks) {
      rollback.run();
    }
    // A replay may have to flush, and a tree whose L0 is full is not flushed until that is merged.
    for (TreeHandle tree : engine.catalog().trees()) {
      merger.request(tree);
    }
    engine
        .log()
        .opened(Log.open(environment, pool, logOptions, manifest.storeId(), extent, this::replay));
  }

  private List<Rollback> rollbacks() {
    List<Rollback> rollbacks = new ArrayList<>();
    for (TreeHandle tree : engine.catalog().trees()) {
      if (!tree.settings().logged()) {
        rollbacks.add(new Rollback(engine, tree, engine.snapshots().checkpoint()));
      }
    }
    return rollbacks;
  }

  private LogOptions logOptions() {
    return new LogOptions(
        options.segmentBytes(),
        options.ringBytes(),
        options.ioMode() == IoMode.DIRECT,
        options.asyncSyncNanos(),
        2);
  }

  private void replay(long lsn, byte kind, Memory payload, int offset, int length, int rest) {
    engine.log().replaying(lsn);
    if (kind == LogHandler.BATCH) {
      reader.read(
          lsn,
          payload,
          offset,
          length,
          rest,
          (operation, treeId, bytes, keyOffset, keyLength, valueOffset, valueLength) -> {
            TreeHandle tree = engine.catalog().tree(treeId);
            if (tree != null && lsn >= flushedLsns.getOrDefault(treeId, 0L)) {
              committer.replay(
                  tree, operation, lsn, bytes, keyOffset, keyLength, valueOffset, valueLength);
            }
          });
    }
    if (rest == 0) {
      engine.log().replayed(lsn + Lsn.ALIGNMENT);
    }
  }
}
