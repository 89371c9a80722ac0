package io.isobardb.lsm.recovery;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Committer;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Fullness;
import io.isobardb.lsm.commit.WriteRoom;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.event.StallSpan;
import io.isobardb.lsm.event.SyncSpan;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.schedule.Environment;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.wal.Log;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.lsm.wal.LogListener;
import io.isobardb.lsm.wal.LogOptions;
import io.isobardb.lsm.wal.LogScan;
import io.isobardb.lsm.wal.LogSite;
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
  /** Pages may be half empty. */
  private static final int PAGES_PER_WRITTEN = 2;

  private final Engine engine;
  private final PagePool pool;
  private final PartOptions options;
  private final Committer committer;
  private final Merger merger;
  private final Recovered recovered;
  private final BatchFormat.Reader reader = new BatchFormat.Reader(this::replay);

  /** The most that the write memory can have, in bytes. */
  private final long mostWriteBytes;

  /** Operations with lower LSNs are in SSTables, by tree. */
  private final Map<Integer, Long> flushedLsns = new HashMap<>();

  /** Range deletes up to this LSN came to the manifest, where some may have gone since. */
  private final Map<Integer, Long> rangesLsns = new HashMap<>();

  /**
   * @param found what {@code engine} and the other parts were made of; its trees are in the catalog
   * @param mostWriteBytes the most that the write memory can have
   */
  Recovery(
      Bootstrap found,
      PartOptions options,
      Engine engine,
      Committer committer,
      Merger merger,
      long mostWriteBytes) {
    this.mostWriteBytes = mostWriteBytes;
    this.engine = engine;
    this.pool = found.memory().pool();
    this.options = options;
    this.committer = committer;
    this.merger = merger;
    this.recovered = found.recovered();
    for (Recovered.Tree tree : recovered.trees()) {
      flushedLsns.put(tree.definition().id(), tree.flushedLsn());
      rangesLsns.put(tree.definition().id(), tree.ranges().lsn());
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
    LogOptions logOptions = options.log();
    LogExtent extent = StoreProperties.logExtent(recovered);
    // All that may refuse the store comes before anything is changed.
    LogSite site = new LogSite(environment, pool, manifest.storeId(), new LogReports(engine));
    Log.check(site, logOptions, extent);
    for (Rollback rollback : rollbacks) {
      rollback.check();
    }
    if (storage.discardsChanges()) {
      // What does not fit lies on the heap, so as much as can be is to fit.
      engine.gate().setLimitBytes(mostWriteBytes);
    }
    Log.deleteSpares(storage);
    try {
      if (!StoreProperties.hasPageSize(recovered.properties())) {
        manifest.append(List.of(StoreProperties.notePageSize(pool.pageSize()).build()));
      }
      manifest.settle();
    } catch (DiskFullException e) {
      throw new DiskFullException(
          "the disk is full, and opening a store writes its manifest anew; nothing is lost: make"
              + " room, and open the store again, or open it to be read only: "
              + e.getMessage(),
          e);
    }
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
    try {
      engine.log().open(site, logOptions, extent, this::replay);
    } catch (TooLargeException e) {
      long largest = largest(extent);
      throw new IsobarException(
          "the log of the store in "
              + storage.path()
              + " has a write that takes "
              + largest
              + " bytes of memory, and of the budget of "
              + options.memoryBudget()
              + " bytes writes can have "
              + mostReplayed()
              + "; nothing is lost: open the store with a memoryBudget of "
              + budgetFor(largest)
              + " bytes",
          e);
    } catch (DiskFullException e) {
      throw storage.discardsChanges() ? tooLongToRead(extent, e) : e;
    }
  }

  /** Tells the store what its log does. */
  private record LogReports(Engine engine) implements LogListener {
    @Override
    public void beforeSync() throws IOException {
      engine.catalog().settle();
    }

    @Override
    public void onSynced(SyncSpan span, StoreListener.Sync sync) {
      engine.observers().onSynced(span, sync);
    }

    @Override
    public StallSpan beginStall(StallReason reason) {
      return engine.gate().beginStall(reason);
    }

    @Override
    public void endStall(StallSpan span) {
      engine.gate().endStall(span);
    }

    @Override
    public void countRefusal() {
      engine.gate().countRefusal();
    }

    @Override
    public void onFailed(Throwable cause) {
      engine.failure().fail(cause);
    }
  }

  /** What the log has takes more than write memory, and the heap that may be used for the rest. */
  private IsobarException tooLongToRead(LogExtent extent, DiskFullException cause)
      throws IOException {
    long[] needed = {0};
    scan(
        extent,
        (lsn, tree, write) -> {
          if (lsn >= flushedLsns.getOrDefault(tree, Long.MAX_VALUE)) {
            TreeHandle of = engine.catalog().tree(tree);
            needed[0] +=
                Math.max(
                    PAGES_PER_WRITTEN * write.roomBytes(),
                    WriteRoom.mostWithFences(of, write, pool.pageSize()));
          }
        });
    return new IsobarException(
        "the log of the store in "
            + engine.environment().storage().path()
            + " takes up to "
            + needed[0]
            + " bytes of memory, which the budget of "
            + options.memoryBudget()
            + " bytes has no room for; to be read only it needs a memoryBudget of "
            + budgetToRead(needed[0])
            + " bytes at most, and a heap of twice that. Or open it once to be written, and flush",
        cause);
  }

  /**
   * Of what a budget has more, seven tenths at least are for writes; and as much is for the heap.
   */
  private long budgetToRead(long bytes) {
    long budget = options.memoryBudget();
    long more = Math.max(budget, (bytes - mostReplayed() - budget) / 5 * 3);
    return (budget + more >> 20) + 2 << 20;
  }

  /** Replay found an operation that does not fit into the write memory. */
  private static final class TooLargeException extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private Fullness fullness() {
    return options.backpressure().memory();
  }

  private long mostReplayed() {
    return fullness().flushFrom(mostWriteBytes);
  }

  /**
   * A budget with room for an operation: of what it has more, four fifths at least are for that.
   */
  private long budgetFor(long bytes) {
    long more = fullness().limitFor(bytes - mostReplayed()) / 4 * 5;
    return (options.memoryBudget() + more >> 20) + 2 << 20;
  }

  /** What the largest operation in the log takes. */
  private long largest(LogExtent extent) throws IOException {
    long[] largest = {0};
    scan(extent, (lsn, tree, write) -> largest[0] = Math.max(largest[0], write.roomBytes()));
    return largest[0];
  }

  private void scan(LogExtent extent, BatchFormat.OperationVisitor visitor) throws IOException {
    // The store's own pool is full.
    try (PagePool scratch = new PagePool(1 << 20, 4096)) {
      LogScan.run(
          engine.environment().storage(),
          scratch,
          recovered.manifest().storeId(),
          extent,
          new BatchFormat.Reader(visitor));
    }
  }

  private List<Rollback> rollbacks() {
    List<Rollback> rollbacks = new ArrayList<>();
    for (Recovered.Tree recoveredTree : recovered.trees()) {
      TreeHandle tree = engine.catalog().tree(recoveredTree.definition().id());
      if (tree != null && !tree.settings().logged()) {
        long checkpoint = engine.snapshots().checkpoint();
        rollbacks.add(new Rollback(engine, tree, checkpoint, recoveredTree.ranges().deletes()));
      }
    }
    return rollbacks;
  }

  /** Gives the write memory all that it can have, for what was written with more. */
  private void makeRoom(long bytes) {
    if (bytes > engine.gate().limitBytes() / 2) {
      if (bytes > mostReplayed()) {
        throw new TooLargeException();
      }
      engine.gate().setLimitBytes(mostWriteBytes);
    }
  }

  private void replay(long lsn, byte kind, Memory payload, int offset, int length, int rest) {
    engine.log().onReplaying(lsn);
    reader.record(lsn, kind, payload, offset, length, rest);
    if (rest == 0) {
      engine.log().onReplayed(lsn + Lsn.ALIGNMENT);
    }
  }

  private void replay(long lsn, int treeId, Write write) {
    TreeHandle tree = engine.catalog().tree(treeId);
    if (tree != null
        && lsn >= flushedLsns.getOrDefault(treeId, 0L)
        && !(write.isRange() && lsn <= rangesLsns.getOrDefault(treeId, 0L))) {
      makeRoom(write.roomBytes());
      try {
        committer.replay(tree, write.at(lsn));
      } catch (DiskFullException e) {
        throw new DiskFullException(
            "the disk is full, and the log holds more than the write memory, so that some of it has"
                + " to be flushed before the store is open; nothing is lost: make room, or open it"
                + " with a larger memoryBudget: "
                + e.getMessage(),
            e);
      }
    }
  }
}
