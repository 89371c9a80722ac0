package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.ActiveTree;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.state.ActiveSeals;
import io.isobardb.lsm.state.Catalog;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.wal.Log;
import io.isobardb.memory.pool.Backoff;
import io.isobardb.memory.pool.PagePool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Makes active SSTables, and seals them: nobody else does. {@link Sealing} says when, and of what
 * size they are.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Sealer {
  private final Log log;
  private final WriteGate gate;
  private final Catalog catalog;
  private final PagePool pool;
  private final Sealing rules;
  private final Consumer<TreeHandle> onSealed;

  /**
   * @param onSealed called after an active SSTable was sealed because it was full; must return at
   *     once
   */
  public Sealer(Engine engine, Sealing rules, Consumer<TreeHandle> onSealed) {
    this.log = engine.log();
    this.gate = engine.gate();
    this.catalog = engine.catalog();
    this.pool = catalog.space().pool();
    this.rules = rules;
    this.onSealed = onSealed;
  }

  /** What it keeps to. */
  public Sealing rules() {
    return rules;
  }

  /** The first active SSTable of a tree that is going to be in the catalog. */
  public ActiveTree first(int treeId, KeyOrder order) {
    return create(treeId, order, 0, 0);
  }

  /** The one after that of now. */
  private ActiveTree next(TreeHandle tree) {
    long slicedBytes = tree.memory().isSliced() ? tree.states().current().memoryBytes() : 0;
    return create(tree.id(), tree.order(), tree.activeTree().bytesUsed(), slicedBytes);
  }

  private ActiveTree create(int treeId, KeyOrder order, long lastBytes, long slicedBytes) {
    Sealing.Size size = rules.next(gate.limitBytes(), lastBytes, slicedBytes);
    return new ActiveTree(
        pool,
        order,
        size.bytes(),
        size.filterBytes(),
        gate.firstRoom(),
        () -> catalog.onHolding(treeId));
  }

  /** Seals what a write has filled, unless it may grow on. */
  void sealIfFull(TreeHandle tree, ActiveTree active) {
    if (isFull(tree, active) && seal(tree, active, log::end)) {
      onSealed.accept(tree);
    }
  }

  /**
   * As {@link #sealIfFull}, while the log is replayed. Later operations of the record at {@code
   * lsn} have the same LSN and may go into the next active SSTable.
   */
  void sealReplayed(TreeHandle tree, ActiveTree active, long lsn) {
    if (isFull(tree, active)) {
      seal(tree, active, () -> lsn);
      onSealed.accept(tree);
    }
  }

  /** Before a range delete: seals what is being written to a tree, if that is much. */
  void sealForRange(TreeHandle tree) {
    if (rules.sealsForRange(tree.activeTree().bytesUsed())) {
      seal(tree);
      onSealed.accept(tree);
    }
  }

  /** Seals what is being written to a tree, if that is anything, for a flush or a merge. */
  public void seal(TreeHandle tree) {
    ActiveTree active = tree.activeTree();
    if (active.bytesUsed() > 0) {
      Lock applying = log.applying();
      applying.lock();
      try {
        seal(tree, active, log::end);
      } finally {
        applying.unlock();
      }
    }
  }

  /**
   * Seals what is being written to these trees, all at one LSN, which it takes in the log: below it
   * all goes into what was sealed, from it on all into what is new. Nothing from there on becomes
   * visible before the caller has called {@code Log.publishMarker}.
   *
   * @return that LSN
   */
  public long sealTogether(List<TreeHandle> trees) {
    while (true) {
      long lsn = trySealTogether(trees);
      if (lsn >= 0) {
        return lsn;
      }
      log.publishMarker(log.reserveMarker());
    }
  }

  /**
   * As {@link #sealTogether}; -1 if the log has no room for the LSN, and all are sealed at others.
   */
  private long trySealTogether(List<TreeHandle> trees) {
    List<ActiveTree> fresh = trees.stream().map(this::next).toList();
    List<ActiveSeals.Seal> seals = new ArrayList<>(trees.size());
    long lsn = -1;
    boolean ended = false;
    try {
      try {
        for (int i = 0; i < trees.size(); i++) {
          seals.add(begin(trees.get(i), fresh.get(i)));
        }
        lsn = log.tryReserveMarker();
      } finally {
        // Writers with a place in the log wait for the boundaries, whatever has failed.
        drawAll(seals, lsn < 0 ? log.end() : lsn);
        seals.forEach(ActiveSeals.Seal::end);
      }
      ended = true;
    } finally {
      if (lsn >= 0) {
        // All that is written from here on waits for this, whatever has failed.
        log.finishMarker(lsn);
        if (!ended) {
          log.publishMarker(lsn);
        }
      }
    }
    return lsn;
  }

  /** Takes no heap: see {@link ActiveSeals.Seal#drawAt}. */
  private static void drawAll(List<ActiveSeals.Seal> seals, long boundary) {
    for (int i = 0; i < seals.size(); i++) {
      seals.get(i).drawAt(boundary);
    }
  }

  private static ActiveSeals.Seal begin(TreeHandle tree, ActiveTree fresh) {
    ActiveSeals.Seal begun = null;
    for (int tries = 0; begun == null; tries++) {
      if (tries > 0) {
        Backoff.pause(tries);
      }
      begun = tree.seals().begin(tree.activeTree(), () -> fresh);
    }
    return begun;
  }

  private boolean isFull(TreeHandle tree, ActiveTree active) {
    return active.full() && rules.seals(tree.seals().use(), gate.usedBytes(), gate.limitBytes());
  }

  private boolean seal(TreeHandle tree, ActiveTree active, LongSupplier logEnd) {
    boolean exact = log.isOpen();
    ActiveSeals.Seal seal = tree.seals().begin(active, () -> next(tree));
    if (seal == null) {
      return false;
    }
    seal.drawAt(logEnd.getAsLong());
    if (exact) {
      active.sealedExactly();
    }
    seal.end();
    return true;
  }
}
