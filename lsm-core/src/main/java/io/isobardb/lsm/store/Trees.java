package io.isobardb.lsm.store;

import io.isobardb.lsm.Durability;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.schedule.SignalLock;
import io.isobardb.lsm.setting.Names;
import io.isobardb.lsm.setting.Suggestion;
import io.isobardb.lsm.state.Adjustments;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The trees of an open store by name.
 *
 * <p>Thread rule: all methods may be called by any thread. A tree is created or dropped with the
 * lock of {@link Lifetime} held, and so is the store closed: nothing of the kind is under way then,
 * and every later attempt finds the store closed.
 */
public final class Trees {
  private record Named(TreeHandle handle, OpenTree given) {}

  private final OpenStore store;
  private final StoreParts parts;
  private final Operations operations;
  private final SignalLock lock;
  private final Map<String, Named> trees = new ConcurrentHashMap<>();

  /** The trees that the parts have found. */
  public Trees(OpenStore store) {
    this.store = store;
    this.parts = store.parts();
    this.operations = store.operations();
    this.lock = store.lifetime().lock();
    for (TreeHandle handle : parts.engine().catalog().trees()) {
      add(handle);
    }
  }

  private OpenTree add(TreeHandle handle) {
    Named tree = new Named(handle, new OpenTree(store, handle));
    trees.put(handle.name(), tree);
    return tree.given();
  }

  /** All names, sorted. */
  public List<String> names() {
    operations.checkOpen();
    return trees.keySet().stream().sorted().toList();
  }

  /** The tree of this name. */
  public OpenTree get(String name) {
    return find(name).given();
  }

  private Named find(String name) {
    operations.checkOpen();
    Named tree = trees.get(name);
    if (tree == null) {
      throw new IllegalArgumentException(
          "there is no tree '" + Names.quote(name) + "'" + Suggestion.among(name, trees.keySet()));
    }
    return tree;
  }

  /** The tree of this name, made if it is missing. */
  public OpenTree open(String name, TreeOptions options) {
    operations.checkOpen();
    Named tree = trees.get(name);
    if (tree != null) {
      return tree.given();
    }
    refuseInListener();
    OpenTree made;
    lock.lock();
    try {
      tree = trees.get(name);
      if (tree != null) {
        return tree.given();
      }
      made = make(name, options);
    } finally {
      lock.unlock();
    }
    parts.observers().onTreeCreated(new StoreListener.TreeCreated(name));
    return made;
  }

  /** Before the lock: its holder may be waiting for a job, and that for the listener. */
  private void refuseInListener() {
    parts.observers().refuseWhileTelling("a new tree");
    operations.refuseWhileLooking("a new tree");
  }

  /** Makes a tree. */
  public OpenTree create(String name, TreeOptions options) {
    operations.checkOpen();
    refuseInListener();
    OpenTree made;
    lock.lock();
    try {
      if (trees.containsKey(name)) {
        throw new IllegalArgumentException("there is a tree '" + name + "' already");
      }
      made = make(name, options);
    } finally {
      lock.unlock();
    }
    parts.observers().onTreeCreated(new StoreListener.TreeCreated(name));
    return made;
  }

  /** The lock is held. */
  private OpenTree make(String name, TreeOptions options) {
    TreeHandle.Settings settings = TreeHandle.Settings.of(options);
    Names.check("a tree", name);
    Names.check("a key order", settings.order().name());
    MergeOperator operator = settings.operator();
    if (operator != null) {
      Names.check("a merge operator", operator.name());
    }
    int slot = operations.enter();
    try {
      TreeHandle handle = parts.createTree(name, settings, Adjustments.of(options));
      if (Adjustments.givesRuns(options)) {
        handle.keepRuns();
      }
      settle();
      store.lifetime().onTreeCreated(name);
      OpenTree made = add(handle);
      store.warnOfHeap(trees.size());
      return made;
    } catch (IOException e) {
      throw Operations.failed("creating tree '" + name + "'", e);
    } finally {
      operations.exit(slot);
    }
  }

  /** Creating and dropping a tree is as durable as a write that does not say how durable it is. */
  private void settle() throws IOException {
    if (store.options().durability() == Durability.SYNC) {
      parts.engine().catalog().settle();
    }
  }

  /** Gives a tree another name. */
  public void rename(String from, String to) {
    parts.observers().refuseWhileTelling("Store.renameTree");
    operations.refuseWhileLooking("Store.renameTree");
    Names.check("a tree", to);
    lock.lock();
    try {
      Named tree = find(from);
      if (trees.containsKey(to)) {
        throw new IllegalArgumentException(
            "there is a tree '" + to + "' already, so '" + from + "' can't get this name");
      }
      parts.engine().failure().check();
      int slot = operations.enter();
      try {
        parts.engine().catalog().rename(tree.handle(), to);
        trees.put(to, tree);
        trees.remove(from);
        store.lifetime().onTreeDropped(from);
        store.lifetime().onTreeCreated(to);
      } catch (IOException e) {
        throw Operations.failed("renaming tree '" + from + "'", e);
      } finally {
        operations.exit(slot);
      }
    } finally {
      lock.unlock();
    }
    parts.observers().onTreeDropped(new StoreListener.TreeDropped(from));
    parts.observers().onTreeCreated(new StoreListener.TreeCreated(to));
  }

  /** Drops a tree; waits for the calls that are using it. */
  public void drop(String name) {
    parts.observers().refuseWhileTelling("Store.dropTree");
    operations.refuseWhileLooking("Store.dropTree");
    lock.lock();
    try {
      dropHolding(name);
    } finally {
      lock.unlock();
    }
    parts.observers().onTreeDropped(new StoreListener.TreeDropped(name));
  }

  /** The lock is held. */
  private void dropHolding(String name) {
    Named tree = find(name);
    parts.engine().failure().check();
    TreeHandle handle = tree.handle();
    store.cursors().checkNotReading(handle, "Store.dropTree");
    handle.refuse(TreeHandle.Refusal.DROPPED);
    trees.remove(name);
    store.cursors().closeOver(handle);
    // Some may be waiting for memory that only this tree's flush can give them.
    operations.awaitBegun();
    handle.close(TreeHandle.Refusal.DROPPED);
    operations.onTreeClosed();
    parts
        .services()
        .awaitMerges(
            () -> {
              while (handle.memory().isTaken() || parts.merger().busy(handle)) {
                handle.memory().await();
                operations.awaitJobs(() -> !parts.merger().busy(handle));
              }
            });
    boolean dropped = false;
    store.totals().drops(handle);
    try {
      parts.dropTree(handle);
      dropped = true;
      store.lifetime().onTreeDropped(name);
      store.transactions().locks().forget(handle);
      settle();
    } catch (DiskFullException e) {
      handle.reopen();
      trees.put(name, tree);
      // Flushes and merges of it have ended, and writers to other trees may be waiting for them.
      parts.resume();
      throw e;
    } catch (IOException e) {
      throw Operations.failed("dropping tree '" + name + "'", e);
    } finally {
      store.totals().onEnded(handle, dropped);
    }
  }
}
