package io.isobardb.repair.salvage;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.recovery.ReadMemory;
import io.isobardb.lsm.recovery.StoreProperties;
import io.isobardb.lsm.recovery.TreeText;
import io.isobardb.lsm.sstable.Codecs;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.sstable.TableSpace;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Manifest;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.VersionEdit;
import io.isobardb.lsm.wal.LogExtent;
import io.isobardb.memory.cache.CacheNeighbours;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.repair.format.LogSalvage;
import io.isobardb.repair.format.ManifestRemains;
import io.isobardb.repair.format.TableSalvage;
import io.isobardb.repair.format.UnreadableAsZeros;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Makes a new store of what can be read of a damaged one.
 *
 * <p>Each file is read for itself: of SSTables all data pages that are intact, of the log all
 * records. If the manifest can be read, it says which files count, and which trees there are; if
 * not, all files do, and the trees are those that manifests and SSTables still name. Of each key
 * the version with the highest LSN is taken; if that one can't be read, the key is lost. The new
 * store holds one version of each key, in SSTables of one level, and has an ID of its own.
 *
 * <p>Without a manifest, what was deleted long ago may come back from a file that nobody has
 * deleted yet, and trees that were dropped from the log: nobody knows better.
 *
 * <p>Thread rule: one thread, once.
 */
public final class RepairJob {
  /** The file that is named in the report if the manifest can't be read. */
  public static final String MANIFEST = "the manifest";

  private static final int LARGEST_PAGE = 65536;

  private final UnreadableAsZeros damaged;
  private final Storage target;
  private final Settings settings;
  private final CheckProgress progress;
  private final @Nullable Recovered recovered;
  private final ManifestRemains remains;
  private final List<RepairReport.Loss> losses = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final Map<Integer, SalvagedTree> trees = new TreeMap<>();
  private final Set<Integer> unreadable = new HashSet<>();

  /** Trees of which an SSTable is missing, or can't be read as a whole. */
  private final Set<Integer> incomplete = new HashSet<>();

  /** About the memory that all trees have of the log. */
  private long logBytes;

  /**
   * How to go about it.
   *
   * @param memoryBytes what may be used off the heap, at least 4 MiB
   * @param heapBytes what the log's contents may take of the heap; beyond that they are written to
   *     the new store's directory for the time being, at the end of a record
   * @param orders the key orders that trees may have, by name
   * @param newStoreId the ID of the store to be made
   */
  public record Settings(
      long memoryBytes, long heapBytes, Map<String, KeyOrder> orders, UUID newStoreId) {}

  private RepairJob(
      UnreadableAsZeros damaged,
      Storage target,
      Settings settings,
      CheckProgress progress,
      @Nullable Recovered recovered,
      ManifestRemains remains) {
    this.damaged = damaged;
    this.target = target;
    this.settings = settings;
    this.progress = progress;
    this.recovered = recovered;
    this.remains = remains;
  }

  /**
   * Repairs a store.
   *
   * @param directory of the damaged store, whose lock is taken for reading; nothing there is
   *     changed
   * @param target an empty directory; after a failure it holds at most the lock's file
   * @throws FormatException if nothing there can be recognised as a store, or {@code target} is not
   *     empty
   * @throws io.isobardb.lsm.error.StoreLockedException if the store is open
   */
  public static RepairReport run(
      Storage directory, Storage target, Settings settings, CheckProgress progress)
      throws IOException {
    UnreadableAsZeros damaged = new UnreadableAsZeros(directory);
    if (!target.list().isEmpty()) {
      throw new FormatException(target.path() + " is not empty; give a directory that is");
    }
    String unlocked = damaged.lockToRead();
    PagePool small = new PagePool(2 << 20, 4096);
    try {
      Recovered recovered = null;
      String problem = "";
      try {
        recovered = Manifest.open(damaged, small, Manifest.DEFAULT_ROLL_BYTES);
        recovered.manifest().close();
      } catch (IsobarException e) {
        problem = e.getMessage();
      }
      RepairJob repair =
          new RepairJob(
              damaged, target, settings, progress, recovered, ManifestRemains.read(damaged, small));
      if (unlocked != null) {
        repair.notes.add("if a process writes to the store now, the result is wrong: " + unlocked);
      }
      if (recovered == null) {
        repair.lose(
            MANIFEST,
            -1,
            null,
            "it can't be read, so that all files count that are there, none is missed, and what was"
                + " deleted may be back: "
                + problem);
      }
      TableSalvage.Origin origin = repair.origin(small);
      target.lock();
      return repair.runWhole(origin);
    } finally {
      small.close();
    }
  }

  /** The store's ID and the size of its pages, as most of what can be read says. */
  private TableSalvage.Origin origin(PagePool pool) throws IOException {
    Map<TableSalvage.Origin, Integer> votes = new HashMap<>();
    Block scratch = pool.blocks().allocate(LARGEST_PAGE, Purpose.MERGE);
    try {
      for (String name : damaged.list()) {
        TableSalvage.Origin origin =
            tableNumber(name) < 0 ? null : TableSalvage.origin(damaged, name, scratch.memory());
        if (origin != null) {
          votes.merge(origin, 1, Integer::sum);
        }
      }
    } finally {
      pool.release(scratch);
    }
    TableSalvage.Origin most =
        votes.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse(null);
    UUID id = recovered == null ? remains.storeId() : recovered.manifest().storeId();
    if (id == null) {
      id = most != null ? most.storeId() : LogSalvage.storeId(damaged, pool);
    }
    if (id == null) {
      throw new FormatException(
          damaged.path() + " holds nothing that can be recognised as part of a store");
    }
    int pageSize =
        recovered != null
            ? StoreProperties.pageSize(recovered.properties(), 4096)
            : StoreProperties.pageSize(remains.properties(), most != null ? most.pageSize() : 4096);
    return new TableSalvage.Origin(id, pageSize);
  }

  private static long tableNumber(String name) {
    String digits = name.endsWith(".sst") ? name.substring(0, name.length() - 4) : "";
    boolean number =
        !digits.isEmpty()
            && digits.length() < 19
            && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    long value = number ? Long.parseLong(digits) : -1;
    return value >= 0 && SSTableMeta.fileName(value).equals(name) ? value : -1;
  }

  /** Leaves a store behind, or nothing. */
  private RepairReport runWhole(TableSalvage.Origin origin) throws IOException {
    boolean done = false;
    try {
      RepairReport report = run(origin);
      done = true;
      return report;
    } finally {
      if (!done) {
        for (String name : target.list()) {
          if (Manifest.isOwn(name)) {
            target.delete(name);
          }
        }
      }
    }
  }

  private RepairReport run(TableSalvage.Origin origin) throws IOException {
    PagePool pool = new PagePool(settings.memoryBytes(), origin.pageSize());
    try (ReadMemory memory =
        ReadMemory.of(pool, settings.memoryBytes() / 8, 0, CacheNeighbours.NONE)) {
      TableSpace from =
          memory.space(damaged, IoMode.BUFFERED, origin.storeId(), TableSpace::unknownTree);
      TableSpace to = memory.space(target, IoMode.BUFFERED, settings.newStoreId(), this::label);
      try (RepairOutput output = new RepairOutput(to, origin.pageSize())) {
        if (recovered != null) {
          recovered.trees().forEach(this::treeWithRanges);
        } else {
          remains.trees().values().forEach(this::tree);
          remains.rangeDeletes().forEach(this::addRanges);
        }
        readTables(from);
        readLog(from, origin.storeId(), output);
        return write(output);
      }
    }
  }

  private TableSpace.TreeLabel label(int treeId) {
    SalvagedTree tree = trees.get(treeId);
    return tree == null ? TableSpace.unknownTree(treeId) : tree.definition().label();
  }

  private void addRanges(int treeId, List<RangeDelete> deletes) {
    SalvagedTree tree = trees.get(treeId);
    if (tree != null) {
      deletes.forEach(tree::add);
    }
  }

  // ---- trees

  /** The tree of a definition; null if its key order is not known. */
  private @Nullable SalvagedTree tree(TreeDefinition wanted) {
    SalvagedTree known = trees.get(wanted.id());
    if (known != null || unreadable.contains(wanted.id())) {
      return known;
    }
    TreeDefinition definition = wanted;
    for (int i = 2; isTaken(definition.name()); i++) {
      definition = wanted.named(wanted.name() + "-" + i);
    }
    KeyOrder order = settings.orders().get(TreeText.orderName(definition));
    if (order == null) {
      unreadable.add(wanted.id());
      lose(
          "the tree",
          -1,
          definition.name(),
          "its key order '" + TreeText.orderName(definition) + "' is not known here");
      return null;
    }
    SalvagedTree tree = new SalvagedTree(definition, order, maxLsn(definition.id()));
    trees.put(definition.id(), tree);
    return tree;
  }

  private void treeWithRanges(Recovered.Tree wanted) {
    SalvagedTree tree = tree(wanted.definition());
    if (tree != null) {
      tree.rangesAreExact();
      wanted.ranges().deletes().forEach(tree::add);
    }
  }

  private boolean isTaken(String name) {
    return trees.values().stream().anyMatch(tree -> tree.definition().name().equals(name));
  }

  /** What an unlogged tree holds beyond the last checkpoint, opening the store takes back. */
  private long maxLsn(int treeId) {
    if (recovered != null) {
      for (Recovered.Tree tree : recovered.trees()) {
        if (tree.definition().id() == treeId
            && !TreeText.parse(tree.definition(), settings.orders()).logged()) {
          return recovered.counters().checkpointLsn();
        }
      }
    }
    return Lsn.MAX;
  }

  private static TreeDefinition nameless(int id, String name) {
    TreeHandle.Settings defaults =
        new TreeHandle.Settings(KeyOrder.BYTES, true, Compression.NONE, 10, null);
    return new TreeDefinition(id, name, TreeText.format(defaults));
  }

  private @Nullable String name(int treeId) {
    SalvagedTree tree = trees.get(treeId);
    return tree == null ? null : tree.definition().name();
  }

  // ---- SSTables

  private void readTables(TableSpace from) throws IOException {
    Map<Long, SSTableMeta> live = new TreeMap<>();
    if (recovered != null) {
      for (Recovered.Tree tree : recovered.trees()) {
        tree.tables().forEach(added -> live.put(added.meta().fileNumber(), added.meta()));
      }
    }
    Set<Long> there = new HashSet<>();
    damaged.list().forEach(name -> there.add(tableNumber(name)));
    there.remove(-1L);
    List<Long> chosen = new ArrayList<>(live.keySet());
    chosen.retainAll(there);
    if (recovered == null || chosen.size() < live.size()) {
      // Files that are not named may be what files that are missing went into.
      chosen = new ArrayList<>(there);
    }
    live.forEach(
        (number, meta) -> {
          if (!there.contains(number)) {
            lose(meta, damaged.unopened().getOrDefault(meta.fileName(), "missing"));
          }
        });
    chosen.sort(null);
    List<TableSalvage> tables = new ArrayList<>();
    for (long number : chosen) {
      progress.at(SSTableMeta.fileName(number), tables.size(), chosen.size());
      SSTableMeta known = recovered != null ? live.get(number) : remains.tables().get(number);
      tables.add(TableSalvage.scan(from, number, known));
    }
    Set<Long> found = new HashSet<>();
    tables.forEach(table -> found.add(table.isForeign() ? -1 : table.fileNumber()));
    live.forEach(
        (number, meta) -> {
          if (there.contains(number) && !found.contains(number)) {
            lose(meta, "is another SSTable");
          }
        });
    if (recovered == null) {
      // The newest first: a tree may have been renamed.
      for (int i = tables.size() - 1; i >= 0; i--) {
        define(tables.get(i));
      }
    }
    tables.forEach(this::readTable);
  }

  /** Makes a tree of what an SSTable says of it. */
  private void define(TableSalvage table) {
    TreeDefinition definition = TreeDefinition.decode(table.fileName(), table.description());
    if (definition != null && definition.id() == table.treeId() && !table.isForeign()) {
      tree(definition);
    }
  }

  private void readTable(TableSalvage table) {
    if (table.isForeign()) {
      lose(table.fileName(), table.sizeBytes(), null, "belongs to another store");
      return;
    }
    int id = table.treeId();
    SalvagedTree tree = id <= 0 ? null : trees.get(id);
    if (table.entries() > 0 && tree == null && !unreadable.contains(id)) {
      tree = nameless(table);
      if (tree == null) {
        return;
      }
    }
    String name = tree == null ? null : tree.definition().name();
    table.gaps().forEach(gap -> lose(table, name, gap));
    boolean fewer = table.entries() < table.expectedEntries();
    if (table.gaps().isEmpty() && (fewer || (table.expectedEntries() < 0 && table.endsEarly()))) {
      TableSalvage.Gap end =
          new TableSalvage.Gap(table.sizeBytes(), table.sizeBytes(), table.lastKey(), null);
      lose(table, name, end);
    }
    if (tree != null) {
      tree.add(table);
    }
  }

  /** A tree for a table of which nothing tells what its tree was called. */
  private @Nullable SalvagedTree nameless(TableSalvage table) {
    int id = table.treeId();
    if (recovered != null && id > 0) {
      notes.add(table.fileName() + " is of tree " + id + ", which there is no more");
      return null;
    }
    if (table.hasCustomOrder()) {
      lose(table.fileName(), table.sizeBytes(), null, "a key order that nothing names");
      return null;
    }
    if (id > 0) {
      return tree(nameless(id, "recovered-tree-" + id));
    }
    int fresh = 1 + Math.max(1 << 20, trees.keySet().stream().max(Integer::compare).orElse(0));
    String name = "recovered-" + table.fileName().replace(".sst", "");
    return tree(nameless(fresh, name));
  }

  /** An SSTable of the manifest is not there. */
  private void lose(SSTableMeta meta, String what) {
    incomplete.add(meta.treeId());
    losses.add(
        new RepairReport.Loss(
            meta.fileName(), 0, -1, name(meta.treeId()), meta.minKey(), meta.maxKey(), what));
  }

  private void lose(TableSalvage table, @Nullable String tree, TableSalvage.Gap gap) {
    incomplete.add(table.treeId());
    losses.add(
        new RepairReport.Loss(
            table.fileName(),
            gap.from(),
            gap.to(),
            tree,
            gap.after(),
            gap.before(),
            gap.from() == gap.to() ? "the file ends here" : "pages that can't be read"));
  }

  /** What is lost of an SSTable is told as any other damage of it. */
  private void onUnreadable(String file, long from, long to) {
    if (tableNumber(file) < 0) {
      losses.add(
          new RepairReport.Loss(file, from, to, null, null, null, "the device can't read it"));
    }
  }

  private void onUnopened(String file, String why) {
    if (recovered == null || tableNumber(file) < 0) {
      losses.add(new RepairReport.Loss(file, 0, -1, null, null, null, why));
    }
  }

  private void lose(String file, long bytes, @Nullable String tree, String what) {
    losses.add(new RepairReport.Loss(file, 0, bytes, tree, null, null, what));
  }

  // ---- the log

  private void readLog(TableSpace from, UUID storeId, RepairOutput output) throws IOException {
    progress.at("the log", 0, 1);
    Map<Integer, Long> flushed = new HashMap<>();
    Map<Integer, Long> ranges = new HashMap<>();
    LogExtent extent = new LogExtent(0, 0);
    if (recovered != null) {
      Recovered.Counters counters = recovered.counters();
      extent = new LogExtent(Math.max(counters.logStartLsn(), Lsn.FIRST), counters.syncedLsn());
      for (Recovered.Tree tree : recovered.trees()) {
        int id = tree.definition().id();
        // What can't be read of an SSTable may still be in the log.
        if (!incomplete.contains(id)) {
          flushed.put(id, tree.flushedLsn());
          ranges.put(id, tree.ranges().lsn());
        }
      }
    }
    BatchFormat.Reader reader =
        new BatchFormat.Reader(
            (lsn, treeId, write) -> {
              boolean inManifest = write.isRange() && lsn <= ranges.getOrDefault(treeId, 0L);
              if (lsn >= flushed.getOrDefault(treeId, 0L) && !inManifest) {
                replay(lsn, treeId, write);
              }
            });
    LogSalvage log =
        LogSalvage.run(
            damaged,
            from.pool(),
            storeId,
            extent,
            (lsn, kind, payload, offset, length, rest) -> {
              reader.record(lsn, kind, payload, offset, length, rest);
              // What a record writes to one key has one LSN, and stays together.
              if (rest == 0 && logBytes > settings.heapBytes()) {
                output.spill(trees.values());
                logBytes = 0;
              }
            });
    for (LogSalvage.Lost lost : log.lost()) {
      losses.add(
          new RepairReport.Loss(
              lost.file(), lost.from(), lost.to(), null, null, null, "records that can't be read"));
    }
    log.headers().forEach(finding -> notes.add(finding.toString()));
  }

  private void replay(long lsn, int treeId, Write write) {
    SalvagedTree tree = trees.get(treeId);
    if (tree == null && recovered == null && !unreadable.contains(treeId)) {
      tree = tree(nameless(treeId, "recovered-tree-" + treeId));
    }
    if (tree != null && write.isRange()) {
      tree.add(write.at(lsn).range());
    } else if (tree != null) {
      int key = write.keyOffset();
      int value = write.valueOffset();
      long before = tree.logBytes();
      tree.add(
          Arrays.copyOfRange(write.key(), key, key + write.keyLength()),
          lsn,
          write.kind(),
          Arrays.copyOfRange(write.value(), value, value + write.valueLength()),
          write.expiry());
      logBytes += tree.logBytes() - before;
    }
  }

  // ---- the new store

  private RepairReport write(RepairOutput output) throws IOException {
    List<RepairReport.SavedTree> saved = new ArrayList<>();
    List<VersionEdit> edits = new ArrayList<>();
    Map<String, String> properties =
        recovered != null ? recovered.properties() : remains.properties();
    long done = 0;
    for (SalvagedTree tree : trees.values()) {
      String name = tree.definition().name();
      progress.at("tree '" + name + "'", done++, trees.size());
      TreeHandle.Settings options = TreeText.parse(tree.definition(), settings.orders());
      Compression changed =
          StoreProperties.adjustments(properties, tree.definition().id()).compression();
      Compression compression = changed == null ? options.compression() : changed;
      Codecs.require(compression.last(), "tree '" + name + "'");
      List<SSTableMeta> tables =
          output.write(
              tree,
              compression.last(),
              options.filterBitsPerKey(),
              (file, key) ->
                  losses.add(
                      new RepairReport.Loss(
                          file, 0, -1, name, key, key, "a value that can't be read")));
      for (TableSalvage table : tree.tables()) {
        table.missed().forEach(gap -> lose(table, name, gap));
      }
      edits.add(output.edit(tree.definition(), tables));
      saved.add(
          new RepairReport.SavedTree(name, tables.stream().mapToLong(SSTableMeta::entries).sum()));
    }
    output.commit(edits, settings.newStoreId(), properties);
    damaged.visit(this::onUnreadable);
    damaged.unopened().forEach(this::onUnopened);
    return new RepairReport(saved, List.copyOf(losses), List.copyOf(notes));
  }
}
