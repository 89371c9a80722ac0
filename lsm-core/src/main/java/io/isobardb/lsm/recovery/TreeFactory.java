package io.isobardb.lsm.recovery;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Sealer;
import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.policy.TreeShape;
import io.isobardb.lsm.schedule.Awaited;
import io.isobardb.lsm.schedule.Signal;
import io.isobardb.lsm.sstable.Codecs;
import io.isobardb.lsm.sstable.SSTable;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.OperationCounts;
import io.isobardb.lsm.state.Run;
import io.isobardb.lsm.state.Table;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.state.TreeStates;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.TreeDefinition;
import io.isobardb.lsm.version.Version;
import io.isobardb.lsm.version.VersionEdit;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Brings trees into the catalog, those that the manifest defines and new ones, and takes them out
 * again. The manifest's definition comes before the tree, and goes before it.
 *
 * <p>Thread rule: one thread at a time, by the caller's doing.
 */
final class TreeFactory {
  private final Engine engine;
  private final Sealer sealer;
  private final StoreOptions known;
  private final Signal memoryLeft;
  private int nextId;

  /**
   * @param known have the key orders and merge operators that trees may have
   * @param nextId the ID of the next new tree
   */
  TreeFactory(Engine engine, Sealer sealer, StoreOptions known, int nextId) {
    this.engine = engine;
    this.sealer = sealer;
    this.known = known;
    this.nextId = nextId;
    this.memoryLeft = engine.environment().scheduler().signal(Awaited.TREE_MEMORY);
  }

  /**
   * Adds a tree that the manifest defines.
   *
   * @param store what the manifest says
   */
  void add(Recovered store, Recovered.Tree recovered) {
    TreeDefinition definition = recovered.definition();
    TreeHandle.Settings settings =
        TreeText.parse(definition, known.keyOrders(), known.mergeOperators());
    // What came to unlogged trees after the checkpoint is undone; Rollback tells the manifest.
    long upTo = settings.logged() ? Long.MAX_VALUE : engine.snapshots().checkpoint();
    Version version = store.version(recovered, settings.order(), upTo);
    TreeHandle tree = handle(definition.id(), definition.name(), settings, version);
    tree.adjust(StoreProperties.adjustments(store.properties(), definition.id()), known.maxSpace());
    requireCodecs(recovered, tree.compression());
    if (recovered.tables().stream().anyMatch(added -> added.meta().expiring().count() > 0)) {
      engine.snapshots().time().noteExpiring(tree);
    }
    engine.catalog().add(tree);
  }

  /**
   * Changes something of a tree. If that is as it was, it is made durable: the tree may be new.
   *
   * @throws IllegalArgumentException if the tree can't be kept like that
   */
  void adjust(TreeHandle tree, UnaryOperator<Adjustments> change) throws IOException {
    engine.failure().check();
    synchronized (tree) {
      Adjustments changed = change.apply(tree.adjustments());
      if (!changed.equals(tree.adjustments())) {
        check(changed);
        VersionEdit.Builder edit = VersionEdit.store();
        StoreProperties.noteAdjustments(edit, tree.id(), changed);
        engine.catalog().append(List.of(edit.build()));
        tree.adjust(changed, known.maxSpace());
        return;
      }
    }
    engine.catalog().settle();
  }

  private void check(Adjustments wanted) {
    double space = wanted.maxSpace() == 0 ? known.maxSpace() : wanted.maxSpace();
    new TreeShape(wanted.runs(), space).check();
    if (wanted.compression() != null) {
      check(wanted.compression());
    }
  }

  private static void check(Compression compression) {
    Codecs.given(compression.codec());
    Codecs.given(compression.last());
  }

  /** Passes if this program has what the SSTables of a tree are compressed by, and will be. */
  private static void requireCodecs(Recovered.Tree recovered, Compression compression) {
    String tree = "tree '" + recovered.definition().name() + "'";
    Codecs.require(compression.codec(), tree);
    Codecs.require(compression.last(), tree);
    recovered.tables().forEach(table -> Codecs.require(table.meta().packing().codec(), tree));
  }

  /**
   * Creates a tree.
   *
   * @throws IllegalArgumentException if the tree can't be kept like that
   */
  TreeHandle create(String name, TreeHandle.Settings settings, Adjustments adjustments)
      throws IOException {
    engine.failure().check();
    check(adjustments);
    check(settings.compression());
    int id = nextId;
    TreeDefinition definition = new TreeDefinition(id, name, TreeText.format(settings));
    List<VersionEdit> edits = new ArrayList<>(List.of(VersionEdit.create(definition)));
    if (!adjustments.isNone()) {
      VersionEdit.Builder edit = VersionEdit.store();
      StoreProperties.noteAdjustments(edit, id, adjustments);
      edits.add(edit.build());
    }
    long change = engine.catalog().change(edits);
    nextId = id + 1;
    TreeHandle tree = handle(id, name, settings, Version.empty(settings.order()));
    tree.adjust(adjustments, known.maxSpace());
    engine.catalog().add(tree);
    fence(change);
    return tree;
  }

  /**
   * Has the log end here after a crash that took the change, or a later one: what is written from
   * now on may rely on it.
   */
  private void fence(long change) throws IOException {
    try {
      engine.log().fence(change);
    } catch (DiskFullException e) {
      // What is durable needs no fence.
      engine.catalog().settle();
    }
  }

  /** Drops a tree. Its files go once that is durable. */
  void drop(TreeHandle tree) throws IOException {
    engine.failure().check();
    List<VersionEdit> edits = new ArrayList<>(List.of(VersionEdit.drop(tree.id())));
    if (!tree.adjustments().isNone()) {
      VersionEdit.Builder edit = VersionEdit.store();
      StoreProperties.noteAdjustments(edit, tree.id(), Adjustments.NONE);
      edits.add(edit.build());
    }
    long change = engine.catalog().change(edits);
    engine.catalog().remove(tree);
    engine.catalog().deleteSettled(tree.states().closeMemory());
    fence(change);
    // Its memory is free now: writers to other trees may be waiting for that.
    engine.gate().wake();
  }

  private TreeHandle handle(int id, String name, TreeHandle.Settings settings, Version version) {
    KeyOrder order = settings.order();
    ActiveTree first = sealer.first(id, order);
    List<Run> disk =
        Catalog.diskRuns(version, meta -> SSTable.onDisk(engine.catalog().space(), order, meta));
    TreeState state =
        new TreeState(
            new Table.Active(first, new Table.StartLsn(Lsn.ZERO)), List.of(), disk, version);
    return new TreeHandle(
        id,
        name,
        settings,
        // Writers may wait for what a reader has kept: the flush that gave it up is long over.
        new TreeStates(state, engine.catalog().rangeMemory(), engine.gate()::wake),
        new OperationCounts(engine.catalog().space().pool().epochs(), engine.operations()),
        memoryLeft);
  }
}
