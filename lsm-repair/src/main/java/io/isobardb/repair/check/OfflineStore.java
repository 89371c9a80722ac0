package io.isobardb.repair.check;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.EntryCursor;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.entry.MergingCursor;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.recovery.ReadMemory;
import io.isobardb.lsm.recovery.StoreProperties;
import io.isobardb.lsm.recovery.TreeText;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.RunCursor;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.lsm.wal.LogScan;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.pool.PagePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The files of a store that is not open, to be looked at. Nothing is made, changed or deleted, and
 * no right to write is needed. Until {@link #close} the lock is held for reading, which keeps
 * others from opening the store; where that can't be had, {@link #unlockedBecause} says why.
 *
 * <p>Thread rule: one thread.
 */
public final class OfflineStore implements AutoCloseable {
  private final Storage storage;
  private final Recovered recovered;
  private final Map<String, KeyOrder> orders;
  private final ReadMemory memory;
  private final TableSpace space;
  private final @Nullable String unlockedBecause;

  /** The log's range deletes by tree, once somebody has asked. */
  private @Nullable Map<Integer, List<RangeDelete>> logRanges;

  private OfflineStore(
      Storage storage,
      @Nullable String unlockedBecause,
      Recovered recovered,
      Map<String, KeyOrder> orders,
      ReadMemory memory) {
    this.storage = storage;
    this.unlockedBecause = unlockedBecause;
    this.recovered = recovered;
    this.orders = orders;
    this.memory = memory;
    Manifest manifest = recovered.manifest();
    UUID storeId = manifest.storeId();
    this.space = memory.space(storage, IoMode.BUFFERED, storeId, this::label);
  }

  /**
   * Takes the lock and reads the manifest.
   *
   * @param storage the store's directory; closed with the inspector, or when this fails
   * @param memoryBytes what may be used for reading, at least 4 MiB
   * @param orders the key orders that trees may have, by name
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws CorruptionException if the manifest is damaged
   * @throws io.isobardb.lsm.error.StoreLockedException if the store is open
   * @throws io.isobardb.memory.pool.OutOfBudgetException if {@code memoryBytes} are too few
   */
  public static OfflineStore open(Storage storage, long memoryBytes, Map<String, KeyOrder> orders)
      throws IOException {
    try {
      if (!Manifest.exists(storage)) {
        throw new FormatException(
            storage.path() + " is not a store: it has no file CURRENT; give a store's directory");
      }
      String unlockedBecause = storage.lockToRead();
      Recovered recovered = readManifest(storage);
      PagePool pool =
          new PagePool(memoryBytes, StoreProperties.pageSize(recovered.properties(), 4096));
      return new OfflineStore(
          storage,
          unlockedBecause,
          recovered,
          orders,
          ReadMemory.of(pool, memoryBytes / 2, 0, CacheNeighbours.NONE));
    } catch (CorruptionException e) {
      storage.close();
      throw e.in(storage.path());
    } catch (Throwable e) {
      storage.close();
      throw e;
    }
  }

  private static Recovered readManifest(Storage storage) throws IOException {
    PagePool small = new PagePool(1 << 20, 4096);
    try {
      Recovered recovered = Manifest.open(storage, small, Manifest.DEFAULT_ROLL_BYTES);
      recovered.manifest().close();
      return recovered;
    } finally {
      small.close();
    }
  }

  private TableSpace.TreeLabel label(int treeId) {
    for (Recovered.Tree tree : recovered.trees()) {
      if (tree.definition().id() == treeId) {
        return tree.definition().label();
      }
    }
    return TableSpace.unknownTree(treeId);
  }

  /** What the manifest says. Its {@code manifest} is closed: it answers, but takes no edits. */
  public Recovered recovered() {
    return recovered;
  }

  /**
   * Why nobody could be kept from opening the store meanwhile, in words; null if all are. If
   * somebody does, what is found may be wrong.
   */
  public @Nullable String unlockedBecause() {
    return unlockedBecause;
  }

  /** The store's ID, which all its files carry. */
  public UUID storeId() {
    return new UUID(space.storeIdHigh(), space.storeIdLow());
  }

  /** The size of the store's pages. */
  public int pageSize() {
    return space.pageSize();
  }

  /** Where the store is. */
  public String path() {
    return storage.path();
  }

  /** The LSN from which on the log is needed. */
  public long logStartLsn() {
    return Math.max(recovered.counters().logStartLsn(), Lsn.FIRST);
  }

  private LogExtent logExtent() {
    return StoreProperties.logExtent(recovered);
  }

  /** A tree's key order, or null if it is not among those given. */
  public @Nullable KeyOrder order(Recovered.Tree tree) {
    return orders.get(TreeText.orderName(tree.definition()));
  }

  /**
   * Looks at everything there is.
   *
   * @param progress is told what is being done
   */
  public CheckReport check(CheckProgress progress) throws IOException {
    return new StoreCheck(this, progress).run();
  }

  Storage storage() {
    return storage;
  }

  /** Receives entries of SSTables. */
  @FunctionalInterface
  public interface EntryVisitor {
    /**
     * An entry.
     *
     * @param at stands on it
     * @param run which run holds it; 0 is the newest
     * @return whether to go on
     */
    boolean entry(EntryCursor at, int run);
  }

  /**
   * Visits all versions of all keys in the tree's SSTables that lie in a range: by key, and of one
   * key from the newest version to the oldest.
   *
   * @param from the first key, or null for no limit
   * @param to the key behind the last one, or null for no limit
   * @throws FormatException if the tree's key order is not known
   */
  public void entries(
      Recovered.Tree tree, byte @Nullable [] from, byte @Nullable [] to, EntryVisitor visitor) {
    KeyOrder order = order(tree);
    if (order == null) {
      throw new FormatException(
          "tree '"
              + tree.definition().name()
              + "' has the key order '"
              + TreeText.orderName(tree.definition())
              + "', which is not known here; pass it with StoreOptions.Builder.keyOrder, or on the"
              + " command line with --key-order");
    }
    Version version = recovered.version(tree, order);
    List<SSTable> opened = new ArrayList<>();
    try (EntryCursor cursor = cursor(version, order, opened)) {
      boolean more = from == null ? cursor.first() : cursor.seek(from, 0, from.length, Lsn.MAX);
      BooleanSupplier inRange =
          () ->
              to == null
                  || order.compare(cursor.key(), 0, cursor.keyLength(), to, 0, to.length) < 0;
      while (more && inRange.getAsBoolean()) {
        more = visitor.entry(cursor, ((MergingCursor) cursor).source()) && cursor.next();
      }
    } finally {
      opened.forEach(SSTable::release);
    }
  }

  private MergingCursor cursor(Version version, KeyOrder order, List<SSTable> opened) {
    List<Run> runs =
        Catalog.diskRuns(
            version,
            meta -> {
              SSTable table = table(order, meta);
              opened.add(table);
              return table;
            });
    EntryCursor[] cursors = new EntryCursor[runs.size()];
    Arrays.setAll(
        cursors,
        i -> new RunCursor(order, runs.get(i), table -> table.cursor(Access.MERGE, Lsn.MAX)));
    return new MergingCursor(order, cursors);
  }

  /** An SSTable of the store; the caller releases it. */
  SSTable table(KeyOrder order, SSTableMeta meta) {
    return SSTable.onDisk(space, order, meta);
  }

  /**
   * Visits all operations that the log holds, in their order: those that opening the store would
   * replay, and some that are in SSTables already.
   *
   * @throws CorruptionException if the log is damaged
   */
  public LogScan log(BatchFormat.OperationVisitor visitor) throws IOException {
    try {
      return LogScan.run(
          storage, memory.pool(), storeId(), logExtent(), new BatchFormat.Reader(visitor));
    } catch (CorruptionException e) {
      throw e.in(storage.path());
    }
  }

  /**
   * The range deletes of a tree that the log holds, in their order. The log is read once for all
   * trees.
   *
   * @throws CorruptionException if the log is damaged
   */
  public List<RangeDelete> logRanges(int treeId) throws IOException {
    Map<Integer, List<RangeDelete>> ranges = logRanges;
    if (ranges == null) {
      Map<Integer, List<RangeDelete>> found = new HashMap<>();
      log(
          (lsn, tree, write) -> {
            if (write.isRange()) {
              found.computeIfAbsent(tree, id -> new ArrayList<>()).add(write.at(lsn).range());
            }
          });
      ranges = found;
      logRanges = ranges;
    }
    return List.copyOf(ranges.getOrDefault(treeId, List.of()));
  }

  /** Gives memory and lock back. */
  @Override
  public void close() throws IOException {
    try {
      memory.close();
    } finally {
      storage.close();
    }
  }
}
