package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.HashMap;
import java.util.Map;

/**
 * Has many small SSTables of a tree become few. What is flushed or checkpointed often, in the order
 * of keys, overlaps nothing: no merge is due for it, however many SSTables there are.
 *
 * <p>They go down to the last level, where neighbours are joined. So many are joined at once that
 * this writes little beside what their flushes wrote (decision 0061).
 *
 * <p>Thread rule: for {@link IdleWatch}, which calls one method at a time.
 */
final class SmallTables {
  /** With fewer of them nothing is done. */
  static final int FEWEST = 256;

  /** An SSTable is small if it has less than this part of the pages that it could have. */
  private static final int SMALL_PART = 16;

  private final Engine engine;
  private final Merger merger;

  /** Of trees whose small SSTables are being joined. */
  private final Map<TreeHandle, MergeDown.Small> begun = new HashMap<>();

  /** Which version of others had too few when it was looked at last. */
  private final Map<TreeHandle, Version> seen = new HashMap<>();

  SmallTables(Engine engine, Merger merger) {
    this.engine = engine;
    this.merger = merger;
  }

  /**
   * Begins to join what a tree has of them, if there are many, or goes on with that.
   *
   * @return whether it should be asked again soon
   */
  boolean request(TreeHandle tree) {
    Version version = tree.states().current().version();
    MergeDown.Small wish = begun.get(tree);
    if (wish == null) {
      if (version.tableCount() < FEWEST || seen.put(tree, version) == version) {
        return false;
      }
      wish = new MergeDown.Small(Long.MAX_VALUE, smallPages(tree));
      if (count(wish, version) < FEWEST || !Settler.mayWrite(engine)) {
        return false;
      }
      wish = new MergeDown.Small(engine.catalog().newFileNumber(), wish.smallPages());
      begun.put(tree, wish);
    }
    if (wish.isDone(version) || !Settler.mayWrite(engine)) {
      forget(tree);
      return false;
    }
    merger.add(tree, wish);
    return true;
  }

  private long smallPages(TreeHandle tree) {
    long pages = merger.tableBytes(tree) / engine.catalog().space().pageSize();
    return Math.max(pages / SMALL_PART, MergeDown.SMALL_PAGES);
  }

  private static int count(MergeDown.Small wish, Version version) {
    int count = wish.toJoin(version).size();
    for (PlacedRun placed : version.placedRuns()) {
      if (!placed.place().equals(Place.level(0))) {
        count += wish.toGoDown(version, placed).size();
      }
    }
    return count;
  }

  /** Ends what was begun for a tree, and knows nothing of it any more. */
  void forget(TreeHandle tree) {
    seen.remove(tree);
    MergeDown.Small wish = begun.remove(tree);
    if (wish != null) {
      merger.forget(tree, wish);
    }
  }
}
