package io.isobardb.repair;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.StoredCounters;
import io.isobardb.lsm.inspect.StoredEntry;
import io.isobardb.lsm.inspect.StoredRange;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.store.MemoryLimits;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
import io.isobardb.repair.check.OfflineStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The files of a store that is not open, to be looked at. Nothing is made, changed or deleted, and
 * no right to write is needed. Until {@link #close} the lock is held for reading, which keeps
 * others from opening the store; where that can't be had, {@link #unlockedBecause} says why.
 *
 * <pre>{@code
 * try (StoreInspector inspector = StoreInspector.open(Path.of("data"), StoreOptions.defaults())) {
 *   CheckReport report = inspector.check((file, done, all) -> {});
 *   report.findings().forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>Thread rule: one thread.
 */
public final class StoreInspector implements AutoCloseable {
  private final OfflineStore store;

  private StoreInspector(OfflineStore store) {
    this.store = store;
  }

  /**
   * Takes the store's lock for reading, and reads the manifest.
   *
   * @param directory of the store
   * @param options of which the memory budget and the key orders count
   * @return what looks into the store
   * @throws io.isobardb.lsm.error.StoreLockedException if the store is open
   * @throws FormatException if the directory is not a store, or of a newer format
   * @throws io.isobardb.lsm.error.CorruptionException if the manifest is damaged
   * @throws UncheckedIOException if a file can't be read
   */
  public static StoreInspector open(Path directory, StoreOptions options) {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(options, "options");
    MemoryLimits.checkProcess(options.memoryBudget());
    try {
      return new StoreInspector(
          OfflineStore.open(
              DirectoryStorage.openToRead(directory), options.memoryBudget(), options.keyOrders()));
    } catch (IOException e) {
      throw new UncheckedIOException("the store can't be inspected: " + e.getMessage(), e);
    }
  }

  /** {@return where the store is} */
  public String path() {
    return store.path();
  }

  /** {@return the store's ID, which all its files carry} */
  public UUID storeId() {
    return store.storeId();
  }

  /** {@return the size of the store's pages, in bytes} */
  public int pageSize() {
    return store.pageSize();
  }

  /**
   * {@return why nobody could be kept from opening the store meanwhile, in words; null if all are}
   * If somebody does, what is found may be wrong.
   */
  public @Nullable String unlockedBecause() {
    return store.unlockedBecause();
  }

  /** {@return what the manifest says of the store as a whole} */
  public StoredCounters counters() {
    Recovered.Counters counters = store.recovered().counters();
    return new StoredCounters(
        store.recovered().manifest().fileName(),
        counters.logStartLsn(),
        counters.checkpointLsn(),
        counters.nextFileNumber(),
        counters.nextTreeId());
  }

  /**
   * Looks at everything there is: every page, record, order and reference.
   *
   * @param progress is told what is being done
   * @return what was found
   * @throws FormatException if a codec of SSTables is missing; the message says what to add
   * @throws IOException if a file can't be read
   */
  public CheckReport check(CheckProgress progress) throws IOException {
    return store.check(Objects.requireNonNull(progress, "progress"));
  }

  /** {@return all trees, by ascending ID} */
  public List<StoredTree> trees() {
    return store.recovered().trees().stream().map(this::describe).toList();
  }

  private StoredTree describe(Recovered.Tree tree) {
    List<StoredTree.Run> runs = new ArrayList<>();
    KeyOrder order = store.order(tree);
    if (order == null) {
      tree.tables()
          .forEach(
              added ->
                  runs.add(
                      new StoredTree.Run(added.place().toString(), List.of(table(added.meta())))));
    } else {
      Version version = store.recovered().version(tree, order);
      version.groups().forEach(group -> runs.add(run("L0 group " + group.number(), group.run())));
      version.tiers().forEach(tier -> runs.add(run("tier " + tier.number(), tier.run())));
      for (int i = 1; i <= version.levelCount(); i++) {
        runs.add(run("L" + i, version.level(i)));
      }
    }
    return new StoredTree(
        tree.definition().id(),
        tree.definition().name(),
        tree.definition().options(),
        order,
        tree.flushedLsn(),
        List.copyOf(runs));
  }

  private static StoredTree.Run run(String name, Level<SSTableMeta> tables) {
    return new StoredTree.Run(name, tables.elements().stream().map(StoreInspector::table).toList());
  }

  private static StoredTree.Table table(SSTableMeta meta) {
    return new StoredTree.Table(
        meta.fileName(),
        meta.sizeBytes(),
        meta.pageCount(),
        meta.entries(),
        meta.deletes(),
        new StoredTree.Keys(meta.minKey(), meta.maxKey()),
        new StoredTree.Lsns(meta.minLsn(), meta.maxLsn()),
        new StoredTree.Format(meta.indexHeight(), meta.filterBlocks(), meta.packing().toString()));
  }

  private Recovered.Tree recovered(StoredTree tree) {
    return store.recovered().trees().stream()
        .filter(one -> one.definition().id() == tree.id())
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("tree '" + tree.name() + "' is of another store"));
  }

  /**
   * Visits all versions of all keys in the tree's SSTables that lie in a range: by key, and of one
   * key from the newest version to the oldest.
   *
   * @param tree one of its trees
   * @param from the first key, or null for no limit
   * @param to the key behind the last one, or null for no limit
   * @param visitor gets what is found
   * @throws FormatException if the tree's key order is not known
   */
  public void entries(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, StoredEntry.Visitor visitor) {
    Objects.requireNonNull(tree, "tree");
    Objects.requireNonNull(visitor, "visitor");
    // Runs without any SSTable have no number.
    List<StoredTree.Run> runs =
        tree.runs().stream().filter(run -> !run.tables().isEmpty()).toList();
    store.entries(
        recovered(tree),
        from,
        to,
        (at, run) ->
            visitor.entry(
                new StoredEntry(
                    Arrays.copyOf(at.key(), at.keyLength()),
                    at.lsn(),
                    Kind.isDelete(at.kind()),
                    Kind.isOperand(at.kind()),
                    at.valueLength(),
                    Expiry.instant(at.leaf().expiry()),
                    runs.get(run).name())));
  }

  /**
   * {@return the range deletes of a tree that hide something, or may: those of the manifest, and
   * those of the log that it does not have}
   *
   * @param tree one of its trees
   * @throws IOException if a file can't be read
   * @throws io.isobardb.lsm.error.CorruptionException if the log is damaged
   */
  public List<StoredRange> rangeDeletes(StoredTree tree) throws IOException {
    Objects.requireNonNull(tree, "tree");
    Recovered.Ranges stored = recovered(tree).ranges();
    List<StoredRange> ranges = new ArrayList<>();
    stored.deletes().forEach(range -> ranges.add(range(range, "manifest")));
    for (RangeDelete range : store.logRanges(tree.id())) {
      if (range.lsn() > stored.lsn()) {
        ranges.add(range(range, "log"));
      }
    }
    return List.copyOf(ranges);
  }

  private static StoredRange range(RangeDelete range, String where) {
    return new StoredRange(range.from(), range.to(), range.lsn(), where);
  }

  /**
   * Visits the puts and deletes of a tree that the log holds, in their order: those that opening
   * the store would replay, and some that are in SSTables already.
   *
   * @param tree one of its trees
   * @param from the first key, or null for no limit; where the key order is not known, unsigned
   *     bytes count
   * @param to the key behind the last one, or null for no limit
   * @param visitor gets what is found
   * @throws IOException if a file can't be read
   * @throws io.isobardb.lsm.error.CorruptionException if the log is damaged
   */
  public void log(
      StoredTree tree, byte @Nullable [] from, byte @Nullable [] to, StoredEntry.Visitor visitor)
      throws IOException {
    Objects.requireNonNull(tree, "tree");
    Objects.requireNonNull(visitor, "visitor");
    KeyOrder known = tree.order();
    KeyOrder order = known == null ? KeyOrder.BYTES : known;
    boolean[] ended = {false};
    store.log(
        (lsn, treeId, write) -> {
          if (ended[0] || treeId != tree.id() || write.isRange()) {
            return;
          }
          int at = write.keyOffset();
          byte[] key = Arrays.copyOfRange(write.key(), at, at + write.keyLength());
          if ((from == null || order.compare(key, 0, key.length, from, 0, from.length) >= 0)
              && (to == null || order.compare(key, 0, key.length, to, 0, to.length) < 0)) {
            boolean merge = Kind.isOperand(write.kind());
            StoredEntry entry =
                new StoredEntry(
                    key,
                    lsn,
                    write.isDelete(),
                    merge,
                    write.valueLength(),
                    Expiry.instant(write.expiry()),
                    "log");
            ended[0] = !visitor.entry(entry);
          }
        });
  }

  /** Gives memory and lock back. */
  @Override
  public void close() throws IOException {
    store.close();
  }
}
