package io.isobardb.lsm;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.setting.Suggestion;
import io.isobardb.lsm.state.TreeHandle;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The trees of an open store by name.
 *
 * <p>Thread rule: all methods may be called by any thread. A tree is created or dropped with the
 * monitor of {@link Lifetime} held, and so is the store closed: nothing of the kind is under way
 * then, and every later attempt finds the store closed.
 */
final class Trees {
  private final Store store;
  private final StoreParts parts;
  private final Operations operations;
  private final Lifetime lifetime;
  private final Map<String, Tree> trees = new ConcurrentHashMap<>();

  /** The trees that the parts have found. */
  Trees(Store store, StoreParts parts, Lifetime lifetime) {
    this.store = store;
    this.parts = parts;
    this.lifetime = lifetime;
    this.operations = store.operations();
    for (TreeHandle handle : parts.engine().catalog().trees()) {
      add(handle);
    }
  }

  private Tree add(TreeHandle handle) {
    Tree tree = new Tree(store, handle, parts);
    trees.put(handle.name(), tree);
    return tree;
  }

  /** All names, sorted. */
  List<String> names() {
    operations.checkOpen();
    return trees.keySet().stream().sorted().toList();
  }

  /** See {@link Store#tree}. */
  Tree get(String name) {
    operations.checkOpen();
    Tree tree = trees.get(name);
    if (tree == null) {
      throw new IllegalArgumentException(
          "there is no tree '" + Names.quote(name) + "'" + Suggestion.among(name, trees.keySet()));
    }
    return tree;
  }

  /** See {@link Store#openTree(String, TreeOptions)}. */
  Tree open(String name, TreeOptions options) {
    operations.checkOpen();
    Tree tree = trees.get(name);
    if (tree == null) {
      synchronized (lifetime) {
        tree = trees.get(name);
        if (tree == null) {
          return make(name, options);
        }
      }
    }
    options.checkStored(name, tree.options());
    return tree;
  }

  /** See {@link Store#createTree}. */
  Tree create(String name, TreeOptions options) {
    operations.checkOpen();
    synchronized (lifetime) {
      if (trees.containsKey(name)) {
        throw new IllegalArgumentException("there is a tree '" + name + "' already");
      }
      return make(name, options);
    }
  }

  /** The monitor is held. */
  private Tree make(String name, TreeOptions options) {
    Names.check("a tree", name);
    Names.check("a key order", options.keyOrder().name());
    int slot = operations.enter();
    try {
      return add(parts.createTree(name, options.toSettings()));
    } catch (IOException e) {
      throw Store.failed("creating tree '" + name + "'", e);
    } finally {
      operations.exit(slot);
    }
  }

  /** See {@link Store#dropTree}. */
  void drop(String name) {
    synchronized (lifetime) {
      dropHolding(name);
    }
  }

  /** The monitor is held. */
  private void dropHolding(String name) {
    Tree tree = get(name);
    TreeHandle handle = tree.handle();
    handle.refuse(TreeHandle.Refusal.DROPPED);
    trees.remove(name);
    store.cursors().closeOver(handle);
    // Some may be waiting for memory that only this tree's flush can give them.
    operations.awaitBegun();
    handle.close(TreeHandle.Refusal.DROPPED);
    operations.await(() -> !handle.memoryBusy().get() && !parts.merger().busy(handle));
    try {
      parts.dropTree(handle);
      store.transactions().locks().forget(handle);
    } catch (DiskFullException e) {
      handle.reopen();
      trees.put(name, tree);
      // Flushes and merges of it have ended, and writers to other trees may be waiting for them.
      parts.resume();
      throw e;
    } catch (IOException e) {
      throw Store.failed("dropping tree '" + name + "'", e);
    }
  }
}
