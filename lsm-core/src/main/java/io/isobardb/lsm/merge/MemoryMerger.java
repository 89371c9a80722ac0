package io.isobardb.lsm.merge;

import io.isobardb.lsm.baseline.IndexMergeJob;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.Sealer;
import io.isobardb.lsm.merge.MemoryMergeChoice.Action;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.state.TreeHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * Starts merges in memory, as {@link MemoryMerging} says: one at a time of each tree.
 *
 * <p>Thread rule: all methods may be called by any thread; none blocks on I/O.
 */
public final class MemoryMerger {
  private final Engine engine;
  private final Sealer sealer;
  private final MemoryMerging rules;
  private final Merger merger;
  private final Flushes flushes;
  private final LongAdder merges = new LongAdder();

  /**
   * @param merger merges what flushes leave; a flush that it keeps from beginning hurries nobody
   */
  public MemoryMerger(
      Engine engine, Sealer sealer, MemoryMerging rules, Merger merger, Flushes flushes) {
    this.engine = engine;
    this.sealer = sealer;
    this.rules = rules;
    this.merger = merger;
    this.flushes = flushes;
  }

  /** Merges begun. */
  public long merges() {
    return merges.sum();
  }

  /** Starts a merge of a tree's memory if one is worth it. */
  public void request(TreeHandle tree) {
    if (tree.closed()
        || rules.choose(view(tree)).action() == Action.LEAVE
        || !tree.memory().tryTake()) {
      return;
    }
    boolean begun = false;
    try {
      MemoryMergeChoice choice = rules.choose(view(tree));
      if (choice.action() == Action.SEAL) {
        sealer.seal(tree);
        choice = rules.choose(view(tree));
      }
      begun = begin(tree, choice);
    } finally {
      if (!begun) {
        leave(tree);
      }
    }
  }

  /**
   * Merges all runs in memory of a tree that is not written to. What its active SSTable has joins
   * them, those of a merge under way, too: what is left of its round takes that in.
   *
   * @return whether it should be asked again, because the tree's memory is busy now
   */
  public boolean requestIdle(TreeHandle tree) {
    Action wanted = rules.chooseIdle(view(tree)).action();
    if (wanted == Action.LEAVE) {
      return false;
    }
    if (wanted == Action.SEAL) {
      sealer.seal(tree);
    }
    if (!tree.memory().tryTake()) {
      return true;
    }
    boolean begun = false;
    try {
      MemoryMergeChoice choice = rules.chooseIdle(view(tree));
      begun = begin(tree, choice);
      return choice.action() == Action.WAIT;
    } finally {
      if (!begun) {
        leave(tree);
      }
    }
  }

  /** What reads have to lose with one run more until {@link #requestIdle} should be called. */
  long priceNanos(TreeHandle tree) {
    return rules.idleNanos(view(tree));
  }

  /** Begins a merge of a tree whose memory is taken, if one was chosen; whether it did. */
  private boolean begin(TreeHandle tree, MemoryMergeChoice choice) {
    Job job =
        switch (choice.action()) {
          case MERGE -> new MemoryMergeJob(this, engine, tree, choice);
          case INDEX ->
              new IndexMergeJob(engine, tree, choice.inputs(), () -> onEnded(tree, false));
          case LEAVE, NO_ROOM, WAIT, SEAL -> null;
        };
    if (job == null) {
      return false;
    }
    tree.memory().readLoss().clear();
    merges.increment();
    engine.environment().scheduler().submit(job);
    return true;
  }

  /**
   * Lets others have the tree's memory. A flush that was asked for meanwhile, by a writer that
   * waits now, was not begun: so it is asked for again.
   */
  private void leave(TreeHandle tree) {
    tree.memory().leave();
    flushes.request();
  }

  private MemoryMergeView view(TreeHandle tree) {
    return MemoryMergeView.of(engine, sealer.rules(), rules.component(), merger.tableSizes(), tree);
  }

  /** Whether a flush of a tree could begin if its memory were left. */
  boolean canBeFlushed(TreeHandle tree) {
    return !merger.l0Full(tree);
  }

  /**
   * A merge has ended.
   *
   * @param again whether there is use in looking for another at once
   */
  void onEnded(TreeHandle tree, boolean again) {
    leave(tree);
    engine.gate().wake();
    if (again) {
      request(tree);
    }
    tree.memory().readLoss().tell();
  }
}
