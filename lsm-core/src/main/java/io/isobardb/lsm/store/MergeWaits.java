package io.isobardb.lsm.store;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.merge.MergeDown;
import io.isobardb.lsm.merge.Merger;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.state.TreeHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Users who wait for merges.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class MergeWaits {
  private final StoreParts parts;
  private final Engine engine;
  private final Operations operations;

  MergeWaits(StoreParts parts, Operations operations) {
    this.parts = parts;
    this.engine = parts.engine();
    this.operations = operations;
  }

  /** Waits until there is nothing to flush or merge, as {@code Store.awaitQuiet} says. */
  void awaitQuiet() {
    parts.observers().refuseWhileTelling("Store.awaitQuiet");
    operations.checkOpen();
    parts.services().awaitMerges(this::awaitAllQuiet);
  }

  /** Merges a range down to the last level. The bounds are not changed any more. */
  void compact(TreeHandle tree, byte @Nullable [] from, byte @Nullable [] to) {
    parts.observers().refuseWhileTelling("Tree.compact");
    MergeDown wish;
    int slot = operations.enter(tree);
    try {
      if (RangeDelete.isEmpty(tree.order(), from, to)) {
        return;
      }
      wish =
          new MergeDown.Range(
              from,
              to,
              engine.log().end(),
              engine.catalog().newFileNumber(),
              engine.retention().expiredBy(tree),
              MergeDown.SMALL_PAGES);
      parts.checkpointer().flush(tree);
    } finally {
      operations.exit(slot);
    }
    Merger merger = parts.merger();
    merger.add(tree, wish);
    try {
      BooleanSupplier done = () -> wish.isDone(tree.states().current().version());
      BooleanSupplier ended =
          () ->
              operations.isClosed()
                  || tree.closed()
                  || engine.space().isFull()
                  || engine.failure().cause() != null;
      parts
          .services()
          .awaitMergesBesideClients(
              () -> operations.awaitJobEnd(() -> done.getAsBoolean() || ended.getAsBoolean()));
      if (!done.getAsBoolean()) {
        tree.checkOpen();
        operations.checkOpen();
        engine.failure().check();
        engine.space().check();
      }
    } finally {
      merger.forget(tree, wish);
    }
  }

  private void awaitAllQuiet() {
    awaitBackground();
    int slot = operations.enter();
    try {
      if (!engine.environment().storage().discardsChanges()) {
        // A merge in memory would leave the delete markers of what has expired there.
        engine.catalog().trees().stream()
            .filter(TreeHandle::expires)
            .forEach(parts.flusher()::flushAll);
      }
    } finally {
      operations.exit(slot);
    }
    awaitBackground();
    slot = operations.enter();
    try {
      for (TreeHandle tree : engine.catalog().trees()) {
        parts.merger().requestExpired(tree);
        parts.memoryMerger().requestIdle(tree);
      }
    } finally {
      operations.exit(slot);
    }
    awaitBackground();
  }

  private void awaitBackground() {
    operations.awaitJobs(() -> operations.isClosed() || engine.failure().cause() != null);
  }
}
