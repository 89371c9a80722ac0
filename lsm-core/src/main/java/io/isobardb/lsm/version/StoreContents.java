package io.isobardb.lsm.version;

import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All that the manifest says, as a model in memory: edits go in, and the same comes out as a list
 * of edits that make a snapshot. One thread at a time.
 *
 * <p>Keys' orders are not known here; runs are checked when a {@link Version} is made.
 */
final class StoreContents {
  /** One tree. */
  private static final class Tree {
    TreeDefinition definition;
    final Map<Long, VersionEdit.Added> tables;
    int levels = 1;
    long flushedLsn;
    List<RangeDelete> rangeDeletes = new ArrayList<>();
    long rangesLsn;

    Tree(TreeDefinition definition) {
      this.definition = definition;
      this.tables = new TreeMap<>();
    }

    Tree(Tree other) {
      this.definition = other.definition;
      this.tables = new TreeMap<>(other.tables);
      this.levels = other.levels;
      this.flushedLsn = other.flushedLsn;
      this.rangeDeletes = new ArrayList<>(other.rangeDeletes);
      this.rangesLsn = other.rangesLsn;
    }
  }

  private final Map<Integer, Tree> trees;
  private final Map<String, Integer> ids;
  private final Map<String, String> properties;
  private long nextFileNumber = 1;
  private int nextTreeId = 1;
  private long checkpointLsn;
  private long logStartLsn;

  StoreContents() {
    trees = new TreeMap<>();
    ids = new TreeMap<>();
    properties = new TreeMap<>();
  }

  private StoreContents(StoreContents other) {
    trees = new TreeMap<>(other.trees);
    ids = new TreeMap<>(other.ids);
    properties = new TreeMap<>(other.properties);
    nextFileNumber = other.nextFileNumber;
    nextTreeId = other.nextTreeId;
    checkpointLsn = other.checkpointLsn;
    logStartLsn = other.logStartLsn;
  }

  /**
   * The contents after these edits; this one stays as it is.
   *
   * @throws IllegalArgumentException if an edit does not fit
   */
  StoreContents after(List<VersionEdit> edits) {
    StoreContents next = new StoreContents(this);
    for (VersionEdit edit : edits) {
      Tree tree = trees.get(edit.treeId());
      if (tree != null) {
        next.trees.put(edit.treeId(), new Tree(tree));
      }
    }
    for (VersionEdit edit : edits) {
      next.apply(edit);
    }
    return next;
  }

  /**
   * Changes the contents.
   *
   * @throws IllegalArgumentException if the edit does not fit; the contents are then undefined
   */
  void apply(VersionEdit edit) {
    if (edit.treeId() == VersionEdit.STORE) {
      applyToStore(edit);
      return;
    }
    apply(edit, edit.created());
  }

  /**
   * As {@link #apply}, for an edit that was read from a file. A release that did not check names
   * wrote {@code ?} for each lone surrogate, so several trees can have one name there: those that
   * come later get their ID appended.
   *
   * @throws IllegalArgumentException if the edit does not fit; the contents are then undefined
   */
  void applyStored(VersionEdit edit) {
    TreeDefinition created = edit.created();
    if (created != null && created.name().contains("?") && ids.containsKey(created.name())) {
      String distinct = created.name() + "#" + created.id();
      apply(edit, new TreeDefinition(created.id(), distinct, created.options()));
    } else {
      apply(edit);
    }
  }

  private void apply(VersionEdit edit, @Nullable TreeDefinition created) {
    if (created != null) {
      if (trees.containsKey(created.id())) {
        throw new IllegalArgumentException("tree ID " + created.id() + " exists");
      }
      if (ids.putIfAbsent(created.name(), created.id()) != null) {
        throw new IllegalArgumentException("tree " + created.name() + " exists");
      }
      trees.put(created.id(), new Tree(created));
      nextTreeId = Math.max(nextTreeId, created.id() + 1);
    }
    Tree tree = trees.get(edit.treeId());
    if (tree == null) {
      throw new IllegalArgumentException("there is no tree " + edit.treeId());
    }
    String renamed = edit.renamed();
    if (renamed != null) {
      rename(tree, renamed);
    }
    applyToTables(edit, tree);
    tree.flushedLsn = Math.max(tree.flushedLsn, edit.flushedLsn());
    if (edit.rangesReset()) {
      tree.rangeDeletes.clear();
    }
    tree.rangeDeletes.addAll(edit.rangeDeletes());
    tree.rangesLsn = Math.max(tree.rangesLsn, edit.rangesLsn());
    if (edit.dropped()) {
      trees.remove(edit.treeId());
      ids.remove(tree.definition.name());
    }
  }

  private void rename(Tree tree, String name) {
    TreeDefinition old = tree.definition;
    if (ids.putIfAbsent(name, old.id()) != null) {
      throw new IllegalArgumentException("tree " + name + " exists");
    }
    ids.remove(old.name());
    tree.definition = old.named(name);
  }

  private void applyToTables(VersionEdit edit, Tree tree) {
    for (long file : edit.removed()) {
      if (tree.tables.remove(file) == null) {
        throw new IllegalArgumentException("no " + SSTableMeta.fileName(file) + " to remove");
      }
    }
    for (VersionEdit.Moved moved : edit.moved()) {
      VersionEdit.Added old = tree.tables.get(moved.fileNumber());
      if (old == null) {
        throw new IllegalArgumentException("nothing to move: " + moved);
      }
      tree.tables.put(moved.fileNumber(), new VersionEdit.Added(moved.to(), old.meta()));
    }
    for (VersionEdit.Added added : edit.added()) {
      if (added.meta().treeId() != edit.treeId()) {
        throw new IllegalArgumentException(
            added.meta().fileName() + " is of tree " + added.meta().treeId());
      }
      if (tree.tables.putIfAbsent(added.meta().fileNumber(), added) != null) {
        throw new IllegalArgumentException(added.meta().fileName() + " is there already");
      }
      nextFileNumber = Math.max(nextFileNumber, added.meta().fileNumber() + 1);
    }
    int levels = edit.levels() == VersionEdit.UNCHANGED ? tree.levels : edit.levels();
    if (levels < tree.levels || !edit.added().isEmpty() || !edit.moved().isEmpty()) {
      checkHeights(tree, levels, edit);
    }
    tree.levels = levels;
  }

  private static void checkHeights(Tree tree, int levels, VersionEdit edit) {
    boolean dropsLevels = levels < tree.levels;
    Collection<VersionEdit.Added> tables = dropsLevels ? tree.tables.values() : edit.added();
    for (VersionEdit.Added added : tables) {
      checkHeight(added.place(), levels);
    }
    edit.moved().forEach(moved -> checkHeight(moved.to(), levels));
  }

  private static void checkHeight(Place place, int levels) {
    if (!place.inL0() && place.height() >= levels) {
      throw new IllegalArgumentException("of " + levels + " levels there is no " + place);
    }
  }

  private void applyToStore(VersionEdit edit) {
    nextFileNumber = Math.max(nextFileNumber, edit.nextFileNumber());
    nextTreeId = Math.max(nextTreeId, edit.nextTreeId());
    logStartLsn = Math.max(logStartLsn, edit.logStartLsn());
    checkpointLsn = Math.max(checkpointLsn, edit.checkpointLsn());
    properties.putAll(edit.properties());
    properties.values().removeIf(String::isEmpty);
  }

  /** Edits that make these contents from nothing. */
  List<VersionEdit> snapshot() {
    List<VersionEdit> edits = new ArrayList<>(trees.size() + 1);
    VersionEdit.Builder store =
        VersionEdit.store()
            .nextFileNumber(nextFileNumber)
            .nextTreeId(nextTreeId)
            .checkpointLsn(checkpointLsn)
            .logStartLsn(logStartLsn);
    properties.forEach(store::property);
    edits.add(store.build());
    for (Tree tree : trees.values()) {
      VersionEdit.Builder edit =
          VersionEdit.of(tree.definition.id())
              .create(tree.definition)
              .levels(tree.levels)
              .flushedLsn(tree.flushedLsn);
      if (tree.rangesLsn > 0) {
        edit.rangesLsn(tree.rangesLsn);
      }
      tree.rangeDeletes.forEach(edit::deleteRange);
      tree.tables.values().forEach(added -> edit.add(added.place(), added.meta()));
      edits.add(edit.build());
    }
    return edits;
  }

  /**
   * All SSTables.
   *
   * @throws IllegalArgumentException if two trees have the same file: one would delete it
   */
  List<SSTableMeta> tables() {
    Map<Long, SSTableMeta> tables = new TreeMap<>();
    for (Tree tree : trees.values()) {
      for (VersionEdit.Added added : tree.tables.values()) {
        if (tables.put(added.meta().fileNumber(), added.meta()) != null) {
          throw new IllegalArgumentException(added.meta().fileName() + " is of two trees");
        }
      }
    }
    return List.copyOf(tables.values());
  }

  /** The numbers of all SSTables' files. */
  List<Long> fileNumbers() {
    List<Long> numbers = new ArrayList<>();
    for (Tree tree : trees.values()) {
      numbers.addAll(tree.tables.keySet());
    }
    return numbers;
  }

  /** The contents for the caller of {@link Manifest#open}. */
  Recovered recovered(Manifest manifest, long droppedBytes, long syncedLsn) {
    List<Recovered.Tree> all = new ArrayList<>(trees.size());
    for (Tree tree : trees.values()) {
      all.add(
          new Recovered.Tree(
              tree.definition,
              Math.max(tree.flushedLsn, logStartLsn),
              tree.levels,
              List.copyOf(tree.tables.values()),
              new Recovered.Ranges(List.copyOf(tree.rangeDeletes), tree.rangesLsn)));
    }
    return new Recovered(
        manifest,
        List.copyOf(all),
        new Recovered.Counters(nextFileNumber, nextTreeId, checkpointLsn, logStartLsn, syncedLsn),
        Map.copyOf(properties),
        droppedBytes);
  }
}
