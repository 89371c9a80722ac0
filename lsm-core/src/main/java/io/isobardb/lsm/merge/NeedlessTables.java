package io.isobardb.lsm.merge;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.MergeChoice.Slot;
import io.isobardb.lsm.range.HiddenRanges;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.version.Version;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses what goes, or is rewritten where it stands, since range deletes hide it or it has
 * expired.
 *
 * <p>Thread rule: {@link #choose}, {@link #rewriteExpired} and {@link #forget} by one thread at a
 * time; the rest by any.
 */
final class NeedlessTables {
  private final Engine engine;

  /** SSTables to rewrite where they stand. */
  private final Map<TreeHandle, Deque<Rewriting>> waiting = new HashMap<>();

  private record Rewriting(MergeChoice.Input input, String reason) {}

  NeedlessTables(Engine engine) {
    this.engine = engine;
  }

  /**
   * What to do next, or null.
   *
   * @param busy numbers of the files that are in merges
   */
  @Nullable MergeChoice choose(TreeHandle tree, Set<Long> busy, Set<Slot> free) {
    boolean ranges = tree.states().current().ranges().list() != null;
    if (!ranges && !tree.expires()) {
      return null;
    }
    MergeChoice choice = ranges ? hidden(tree, busy, free) : null;
    if (choice == null && tree.expires()) {
      choice = expired(tree, busy);
    }
    if (choice == null) {
      return rewriting(tree, busy, free);
    }
    return free.contains(choice.slot()) ? choice : null;
  }

  /** SSTables that range deletes hide, or null. */
  private @Nullable MergeChoice hidden(TreeHandle tree, Set<Long> busy, Set<Slot> free) {
    // In this order: a reader that registers later reads at all that is settled.
    long settled = engine.catalog().settledLsn();
    long[] snapshots = engine.retention().snapshots(tree);
    TreeState state = tree.states().current();
    RangeDeletes deletes = state.ranges().list();
    if (deletes == null) {
      return null;
    }
    Version version = state.version();
    HiddenRanges hidden = new HiddenRanges(deletes, snapshots, settled);
    List<MergeChoice.Input> inputs = NeedlessRanges.hidden(version, hidden, busy);
    if (inputs.isEmpty()) {
      return null;
    }
    MergeChoice choice = MergeChoice.ofDropped(inputs, "range deletes hide all they hold");
    if (free.contains(choice.slot())) {
      for (MergeChoice.Input edge : NeedlessRanges.edges(version, hidden, inputs)) {
        add(tree, edge, "range deletes hide an end of it");
      }
    }
    return choice;
  }

  /** SSTables of which all has expired, or one of which much has; or null. */
  private @Nullable MergeChoice expired(TreeHandle tree, Set<Long> busy) {
    if (tree.settings().operator() != null) {
      // A newer operand may count what has expired since.
      return null;
    }
    long by = engine.retention().expiredBy(tree);
    Version version = tree.states().current().version();
    List<MergeChoice.Input> inputs = ExpiredTables.droppable(version, by, busy);
    if (!inputs.isEmpty()) {
      return MergeChoice.ofDropped(inputs, "all they hold has expired");
    }
    for (MergeChoice.Input input : ExpiredTables.expiring(version, by, ExpiredTables.MUCH)) {
      if (!busy.contains(input.tables().get(0).fileNumber())) {
        return MergeChoice.ofRewritten(version, input, "much of it has expired");
      }
    }
    return null;
  }

  /** Has all SSTables rewritten of which something has expired. */
  void rewriteExpired(TreeHandle tree) {
    if (tree.expires()) {
      Version version = tree.states().current().version();
      ExpiredTables.expiring(version, engine.retention().expiredBy(tree), ExpiredTables.ANY)
          .forEach(input -> add(tree, input, "some of it has expired"));
    }
  }

  private void add(TreeHandle tree, MergeChoice.Input input, String reason) {
    waiting.computeIfAbsent(tree, key -> new ArrayDeque<>()).add(new Rewriting(input, reason));
  }

  private @Nullable MergeChoice rewriting(TreeHandle tree, Set<Long> busy, Set<Slot> free) {
    Deque<Rewriting> all = waiting.get(tree);
    Version version = tree.states().current().version();
    while (all != null && !all.isEmpty() && free.contains(Slot.L0) && free.contains(Slot.DEEP)) {
      Rewriting next = all.removeFirst();
      MergeChoice.Input input = next.input();
      SSTableMeta table = input.tables().get(0);
      if (!busy.contains(table.fileNumber())
          && version.run(input.place()).elements().contains(table)) {
        return MergeChoice.ofRewritten(version, input, next.reason());
      }
    }
    if (all != null && all.isEmpty()) {
      waiting.remove(tree);
    }
    return null;
  }

  void forget(TreeHandle tree) {
    waiting.remove(tree);
  }

  /**
   * Whether SSTables of a tree wait to be dropped until a range delete is durable, or a reader has
   * ended, or have expired. The caller asks again when that may be so.
   */
  boolean awaitsDrop(TreeHandle tree) {
    TreeState state = tree.states().current();
    RangeDeletes deletes = state.ranges().list();
    boolean hides =
        deletes != null
            && !NeedlessRanges.hidden(
                    state.version(),
                    new HiddenRanges(deletes, new long[0], Long.MAX_VALUE),
                    Set.of())
                .isEmpty();
    return !tree.closed() && (hides || tree.expires() && expired(tree, Set.of()) != null);
  }
}
