package io.isobardb.lsm.recovery;

import io.isobardb.lsm.StoreInspector;
import io.isobardb.lsm.entry.Expiry;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.StoredCounters;
import io.isobardb.lsm.inspect.StoredEntry;
import io.isobardb.lsm.inspect.StoredRange;
import io.isobardb.lsm.inspect.StoredTree;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.Version;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What users see of an {@link OfflineStore}.
 *
 * <p>Thread rule: one thread.
 */
public final class FileInspector implements StoreInspector {
  private final OfflineStore store;

  public FileInspector(OfflineStore store) {
    this.store = store;
  }

  @Override
  public String path() {
    return store.path();
  }

  @Override
  public UUID storeId() {
    return store.storeId();
  }

  @Override
  public int pageSize() {
    return store.pageSize();
  }

  @Override
  public @Nullable String unlockedBecause() {
    return store.unlockedBecause();
  }

  @Override
  public StoredCounters counters() {
    Recovered.Counters counters = store.recovered().counters();
    return new StoredCounters(
        store.recovered().manifest().fileName(),
        counters.logStartLsn(),
        counters.checkpointLsn(),
        counters.nextFileNumber(),
        counters.nextTreeId());
  }

  @Override
  public CheckReport check(CheckProgress progress) throws IOException {
    return store.check(Objects.requireNonNull(progress, "progress"));
  }

  @Override
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
    return new StoredTree.Run(name, tables.elements().stream().map(FileInspector::table).toList());
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
        new StoredTree.Format(
            meta.indexHeight(), meta.filterBlocks(), meta.codec() == 0 ? "NONE" : "LZ4"));
  }

  private Recovered.Tree recovered(StoredTree tree) {
    return store.recovered().trees().stream()
        .filter(one -> one.definition().id() == tree.id())
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("tree '" + tree.name() + "' is of another store"));
  }

  @Override
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
                    at.kind() == Kind.DELETE,
                    Kind.isOperand(at.kind()),
                    at.valueLength(),
                    Expiry.instant(at.leaf().expiry()),
                    runs.get(run).name())));
  }

  @Override
  public List<StoredRange> rangeDeletes(StoredTree tree) throws IOException {
    Objects.requireNonNull(tree, "tree");
    Recovered.Ranges stored = recovered(tree).ranges();
    List<StoredRange> ranges = new ArrayList<>();
    stored.deletes().forEach(range -> ranges.add(range(range, "manifest")));
    store.log(
        (lsn, treeId, write) -> {
          if (treeId == tree.id() && write.isRange() && lsn > stored.lsn()) {
            ranges.add(range(write.at(lsn).range(), "log"));
          }
        });
    return List.copyOf(ranges);
  }

  private static StoredRange range(RangeDelete range, String where) {
    return new StoredRange(range.from(), range.to(), range.lsn(), where);
  }

  @Override
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
