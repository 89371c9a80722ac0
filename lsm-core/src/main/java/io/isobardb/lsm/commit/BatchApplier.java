package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Applies the operations of one batch: takes the pages of large values first, then, when the batch
 * has its LSN, puts all into their trees.
 *
 * <p>Thread rule: one thread.
 */
final class BatchApplier implements BatchFormat.Handler {
  private final Committer committer;
  private final Engine engine;
  private final Write reused;
  private final int slot;
  private final WaitLimit limit;

  /** The chains of large values, by operation; shorter than the batch if the rest has none. */
  private int[] overflows = new int[0];

  private int prepared;
  private long lsn;
  private int done;
  private TreeHandle[] trees = new TreeHandle[4];
  private ActiveTree[] actives = new ActiveTree[4];
  private int treeCount;

  /** The tree of the last operation that was looked at: most batches have runs of one tree. */
  private @Nullable TreeHandle lastTree;

  /** Keys with so many operands that they should be folded, and their trees; mostly none. */
  private final List<TreeHandle> deepTrees = new ArrayList<>(0);

  private final List<byte[]> deepKeys = new ArrayList<>(0);

  /**
   * @param slot the operation's that this is a part of
   * @param limit how long the batch may wait until it is applied
   */
  BatchApplier(Committer committer, Engine engine, Write reused, int slot, WaitLimit limit) {
    this.committer = committer;
    this.engine = engine;
    this.reused = reused;
    this.slot = slot;
    this.limit = limit;
  }

  /** Takes what the batch needs in memory beyond a few pages, before anything is reserved. */
  void prepare(BatchFormat.Builder batch) {
    BatchFormat.decode(batch, reused, this::prepare);
  }

  private void prepare(int treeId, Write write) {
    TreeHandle tree = tree(treeId);
    tree.checkOpen();
    ActiveTree active = tree.activeTree();
    remember(tree, active);
    if (!write.isRange() && !active.fitsInline(write)) {
      if (prepared >= overflows.length) {
        int old = overflows.length;
        overflows = Arrays.copyOf(overflows, Math.max(16, prepared * 2));
        Arrays.fill(overflows, old, overflows.length, PagePool.NONE);
      }
      committer.writeOverflow(active, write, limit);
      overflows[prepared] = write.takeOverflow();
    }
    prepared++;
  }

  /** Has operands know the time of the batch's place in the order of writes, which it has got. */
  void stamp(BatchFormat.Builder batch) {
    StoreClock clock = engine.snapshots().time();
    if (batch.hasOperands() && clock.isUsed()) {
      long now = clock.getAsLong();
      int[] number = {0};
      BatchFormat.decode(
          batch,
          reused,
          (treeId, write) -> {
            TreeHandle tree = tree(treeId);
            if (write.kind() == Kind.MERGE && tree.expires()) {
              tree.activeTree().stamp(write.overflow(overflow(number[0])), now);
            }
            number[0]++;
          });
    }
  }

  /** The chain of an operation's value, or {@link PagePool#NONE}. */
  private int overflow(int number) {
    return number < overflows.length ? overflows[number] : PagePool.NONE;
  }

  /** Puts all operations into their trees. */
  void apply(BatchFormat.Builder batch, long at) {
    lsn = at;
    try {
      BatchFormat.decode(batch, reused, this);
    } catch (Throwable e) {
      if (done > 0) {
        hideForGood(e);
      }
      throw e;
    }
  }

  /** Puts an operation into its tree. */
  @Override
  public void operation(int treeId, Write write) {
    write.at(lsn).overflow(overflow(done));
    committer.apply(tree(treeId), write.hashed(), slot);
    // It is in its tree, with its chain, whatever fails from here on.
    done++;
    if (write.isDeep()) {
      deepTrees.add(tree(treeId));
      deepKeys.add(OperandFolding.key(write));
    }
  }

  /** Folds the operands of keys that have many by now; the batch is visible. */
  void foldDeep(OperandFolding folding) {
    for (int i = 0; i < deepKeys.size(); i++) {
      folding.fold(deepTrees.get(i), deepKeys.get(i));
    }
  }

  /**
   * A part of the batch is in memory and can't be taken out, and its LSN is about to become
   * visible: nobody may read the trees until the store is opened again, and nobody flush them.
   */
  private void hideForGood(Throwable cause) {
    for (int i = 0; i < treeCount; i++) {
      trees[i].refuse(TreeHandle.Refusal.PARTLY_WRITTEN);
    }
    engine.failure().fail(new IllegalStateException("a batch was applied in part", cause));
  }

  /** Frees what was prepared and not used. */
  void freeUnused() {
    for (int i = done; i < Math.min(prepared, overflows.length); i++) {
      actives[0].freeOverflow(overflows[i]);
    }
  }

  /** Seals the active SSTables that the batch has filled. */
  void sealFull(Sealer sealer) {
    for (int i = 0; i < treeCount; i++) {
      sealer.sealIfFull(trees[i], actives[i]);
    }
  }

  private void remember(TreeHandle tree, ActiveTree active) {
    for (int i = 0; i < treeCount; i++) {
      if (trees[i] == tree) {
        return;
      }
    }
    if (treeCount == trees.length) {
      trees = Arrays.copyOf(trees, treeCount * 2);
      actives = Arrays.copyOf(actives, treeCount * 2);
    }
    trees[treeCount] = tree;
    actives[treeCount++] = active;
  }

  private TreeHandle tree(int id) {
    TreeHandle last = lastTree;
    if (last != null && last.id() == id) {
      return last;
    }
    TreeHandle tree = engine.catalog().tree(id);
    if (tree == null) {
      throw new IllegalStateException("there is no tree with number " + id);
    }
    lastTree = tree;
    return tree;
  }
}
