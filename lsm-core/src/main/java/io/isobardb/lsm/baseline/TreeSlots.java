package io.isobardb.lsm.baseline;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.commit.WriteShares;
import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds writers to {@link StaticShares}: a writer to a tree without a slot waits until it has one,
 * and a writer whose tree has filled its share waits for a flush.
 *
 * <p>A batch over more trees than there are slots has them one after another.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #admit} waits, holding nothing.
 */
public final class TreeSlots extends WriteShares {
  private final StaticShares shares;
  private final Engine engine;
  private final AtomicLong writes = new AtomicLong();
  private final Consumer<TreeHandle> flushAll;

  /** The trees that have a slot, by ID. Guarded by this. */
  private final Map<Integer, Holder> holders = new LinkedHashMap<>();

  /** Trees that writers wait for. Guarded by this. */
  private final Set<Integer> wanting = new HashSet<>();

  private boolean begun;

  /** A tree with a slot. */
  private static final class Holder {
    private final TreeHandle tree;
    private volatile long lastWrite;
    private boolean leaving;

    Holder(TreeHandle tree) {
      this.tree = tree;
    }
  }

  private TreeSlots(StaticShares shares, Engine engine, Consumer<TreeHandle> flushAll) {
    this.shares = shares;
    this.engine = engine;
    this.flushAll = flushAll;
  }

  /**
   * Slots of so many shares.
   *
   * @param flushAll flushes all of a tree, unless a flush of it is under way; must return at once
   * @return as {@code WriteShares}, so that whoever may call this loads no such class by that alone
   */
  public static WriteShares of(StaticShares shares, Engine engine, Consumer<TreeHandle> flushAll) {
    return new TreeSlots(shares, engine, flushAll);
  }

  @Override
  public boolean isDue(TreeHandle tree) {
    return tree.states().current().memoryBytes()
        >= Math.max(1, shares.triggerBytes(engine.gate().limitBytes()));
  }

  @Override
  public void admit(TreeHandle tree, WaitLimit limit) {
    if (hasRoom(tree)) {
      return;
    }
    try {
      engine.gate().await(StallReason.MEMORY_FULL, () -> tree.closed() || hasRoom(tree), limit);
    } finally {
      synchronized (this) {
        wanting.remove(tree.id());
      }
    }
  }

  @Override
  public void admit(BatchFormat.Builder batch, WaitLimit limit) {
    Set<Integer> trees = new LinkedHashSet<>();
    BatchFormat.decode(batch, new Write(), (id, write) -> trees.add(id));
    for (int id : trees) {
      TreeHandle tree = engine.catalog().tree(id);
      if (tree != null) {
        admit(tree, limit);
      }
    }
  }

  private boolean hasRoom(TreeHandle tree) {
    if (!hasSlot(tree)) {
      return false;
    }
    return tree.states().current().memoryBytes() <= shares.shareBytes(engine.gate().limitBytes());
  }

  private boolean hasSlot(TreeHandle tree) {
    List<TreeHandle> leaving = new ArrayList<>();
    boolean has;
    synchronized (this) {
      has = take(tree);
      if (!has) {
        wanting.add(tree.id());
        makeLeave(leaving);
      }
    }
    leaving.forEach(flushAll);
    return has;
  }

  private boolean take(TreeHandle tree) {
    adopt();
    Holder holder = holders.get(tree.id());
    if (holder == null || holder.leaving) {
      holders
          .values()
          .removeIf(
              left ->
                  left.tree.closed()
                      || (left.leaving && left.tree.states().current().memoryBytes() == 0));
      holder = holders.get(tree.id());
      if (holder == null && holders.size() < shares.trees()) {
        holder = new Holder(tree);
        holders.put(tree.id(), holder);
      }
    }
    if (holder == null || holder.leaving) {
      return false;
    }
    wanting.remove(tree.id());
    holder.lastWrite = writes.incrementAndGet();
    return true;
  }

  /** What a replay has left in memory has slots, too, though it may be too many. */
  private void adopt() {
    if (!begun) {
      begun = true;
      for (TreeHandle tree : engine.catalog().trees()) {
        if (tree.states().current().memoryBytes() > 0) {
          holders.put(tree.id(), new Holder(tree));
        }
      }
    }
  }

  /** Sees to it that as many leave as are waited for; those leaving are flushed until empty. */
  private void makeLeave(List<TreeHandle> leaving) {
    List<StaticShares.Slot> slots = new ArrayList<>();
    for (Holder holder : holders.values()) {
      slots.add(new StaticShares.Slot(holder.tree.id(), holder.lastWrite, holder.leaving));
    }
    for (int id : shares.leave(slots, wanting.size())) {
      @Nullable Holder holder = holders.get(id);
      if (holder != null) {
        holder.leaving = true;
      }
    }
    for (Holder holder : holders.values()) {
      if (holder.leaving) {
        leaving.add(holder.tree);
      }
    }
  }
}
