package io.isobardb.lsm.version;

import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.sstable.SSTableMeta;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All that the manifest says, as a model in memory: edits go in, and the same comes out as a list
 * of edits that make a snapshot. An edit takes a time that depends on what it changes, not on what
 * there is. One thread at a time.
 *
 * <p>Keys' orders are not known here; runs are checked when a {@link Version} is made.
 */
final class StoreContents {
  /** One tree. */
  private static final class Tree {
    TreeDefinition definition;
    final Map<Long, VersionEdit.Added> tables = new TreeMap<>();
    int levels = 1;
    long flushedLsn;

    /** Grows at its end only. */
    List<RangeDelete> rangeDeletes = new ArrayList<>();

    long rangesLsn;

    Tree(TreeDefinition definition) {
      this.definition = definition;
    }

    /** What makes all but the tables what they are now. */
    Runnable fields() {
      TreeDefinition oldDefinition = definition;
      int oldLevels = levels;
      long oldFlushedLsn = flushedLsn;
      List<RangeDelete> oldDeletes = rangeDeletes;
      int oldCount = oldDeletes.size();
      long oldRangesLsn = rangesLsn;
      return () -> {
        definition = oldDefinition;
        levels = oldLevels;
        flushedLsn = oldFlushedLsn;
        rangeDeletes = oldDeletes;
        rangeDeletes.subList(oldCount, rangeDeletes.size()).clear();
        rangesLsn = oldRangesLsn;
      };
    }
  }

  /** Takes edits back, if nothing was changed since. */
  static final class Undo {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    /** The contents are as they were. */
    void run() {
      steps.forEach(Runnable::run);
      steps.clear();
    }

    /** Adds what takes back the latest change. */
    void add(Runnable step) {
      steps.push(step);
    }

    /** Sets the value of a key, null for none; returns the one before. */
    <K, V> @Nullable V set(Map<K, V> map, K key, @Nullable V value) {
      V old = map.get(key);
      add(() -> put(map, key, old));
      put(map, key, value);
      return old;
    }

    private static <K, V> void put(Map<K, V> map, K key, @Nullable V value) {
      if (value == null) {
        map.remove(key);
      } else {
        map.put(key, value);
      }
    }
  }

  private final Map<Integer, Tree> trees = new TreeMap<>();
  private final Map<String, Integer> ids = new TreeMap<>();
  private final Map<String, String> properties = new TreeMap<>();
  private long nextFileNumber = 1;
  private int nextTreeId = 1;
  private long checkpointLsn;
  private long logStartLsn;

  /** Contents that these edits make from nothing. */
  static StoreContents of(List<VersionEdit> edits) {
    StoreContents contents = new StoreContents();
    contents.apply(edits);
    return contents;
  }

  /**
   * Changes the contents.
   *
   * @return takes all of it back
   * @throws IllegalArgumentException if an edit does not fit; nothing is changed then
   */
  Undo apply(List<VersionEdit> edits) {
    Undo undo = new Undo();
    try {
      for (VersionEdit edit : edits) {
        apply(edit, edit.created(), undo);
      }
    } catch (Throwable t) {
      undo.run();
      throw t;
    }
    return undo;
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
      created = new TreeDefinition(created.id(), distinct, created.options());
    }
    apply(edit, created, new Undo());
  }

  private void apply(VersionEdit edit, @Nullable TreeDefinition created, Undo undo) {
    if (edit.treeId() == VersionEdit.STORE) {
      applyToStore(edit, undo);
      return;
    }
    if (created != null) {
      create(created, undo);
    }
    Tree tree = trees.get(edit.treeId());
    if (tree == null) {
      throw new IllegalArgumentException("there is no tree " + edit.treeId());
    }
    undo.add(tree.fields());
    String renamed = edit.renamed();
    if (renamed != null) {
      rename(tree, renamed, undo);
    }
    applyToTables(edit, tree, undo);
    tree.flushedLsn = Math.max(tree.flushedLsn, edit.flushedLsn());
    if (edit.rangesReset()) {
      tree.rangeDeletes = new ArrayList<>();
    }
    tree.rangeDeletes.addAll(edit.rangeDeletes());
    tree.rangesLsn = Math.max(tree.rangesLsn, edit.rangesLsn());
    if (edit.dropped()) {
      undo.set(trees, edit.treeId(), null);
      undo.set(ids, tree.definition.name(), null);
    }
  }

  private void create(TreeDefinition created, Undo undo) {
    if (trees.containsKey(created.id())) {
      throw new IllegalArgumentException("tree ID " + created.id() + " exists");
    }
    name(created, undo);
    undo.set(trees, created.id(), new Tree(created));
    raiseCounters(undo, 0, created.id() + 1);
  }

  private void rename(Tree tree, String name, Undo undo) {
    String old = tree.definition.name();
    tree.definition = tree.definition.named(name);
    name(tree.definition, undo);
    undo.set(ids, old, null);
  }

  private void name(TreeDefinition tree, Undo undo) {
    if (undo.set(ids, tree.name(), tree.id()) != null) {
      throw new IllegalArgumentException("tree " + tree.name() + " exists");
    }
  }

  private void raiseCounters(Undo undo, long files, int treeIds) {
    long oldFileNumber = nextFileNumber;
    int oldTreeId = nextTreeId;
    undo.add(
        () -> {
          nextFileNumber = oldFileNumber;
          nextTreeId = oldTreeId;
        });
    nextFileNumber = Math.max(nextFileNumber, files);
    nextTreeId = Math.max(nextTreeId, treeIds);
  }

  private void applyToTables(VersionEdit edit, Tree tree, Undo undo) {
    for (long file : edit.removed()) {
      if (undo.set(tree.tables, file, null) == null) {
        throw new IllegalArgumentException("no " + SSTableMeta.fileName(file) + " to remove");
      }
    }
    for (VersionEdit.Moved moved : edit.moved()) {
      VersionEdit.Added old = tree.tables.get(moved.fileNumber());
      if (old == null) {
        throw new IllegalArgumentException("nothing to move: " + moved);
      }
      undo.set(tree.tables, moved.fileNumber(), new VersionEdit.Added(moved.to(), old.meta()));
    }
    for (VersionEdit.Added added : edit.added()) {
      SSTableMeta meta = added.meta();
      if (meta.treeId() != edit.treeId()) {
        throw new IllegalArgumentException(meta.fileName() + " is of tree " + meta.treeId());
      }
      if (undo.set(tree.tables, meta.fileNumber(), added) != null) {
        throw new IllegalArgumentException(meta.fileName() + " is there already");
      }
      raiseCounters(undo, meta.fileNumber() + 1, 0);
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
    if (place.isLevel() && place.height() >= levels) {
      throw new IllegalArgumentException("of " + levels + " levels there is no " + place);
    }
  }

  private void applyToStore(VersionEdit edit, Undo undo) {
    long oldLogStart = logStartLsn;
    long oldCheckpoint = checkpointLsn;
    undo.add(
        () -> {
          logStartLsn = oldLogStart;
          checkpointLsn = oldCheckpoint;
        });
    raiseCounters(undo, edit.nextFileNumber(), edit.nextTreeId());
    logStartLsn = Math.max(logStartLsn, edit.logStartLsn());
    checkpointLsn = Math.max(checkpointLsn, edit.checkpointLsn());
    edit.properties()
        .forEach((name, value) -> undo.set(properties, name, value.isEmpty() ? null : value));
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
    return new Recovered(
        manifest,
        trees(),
        new Recovered.Counters(nextFileNumber, nextTreeId, checkpointLsn, logStartLsn, syncedLsn),
        Map.copyOf(properties),
        droppedBytes);
  }

  /** All trees. */
  List<Recovered.Tree> trees() {
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
    return List.copyOf(all);
  }
}
