package io.isobardb.lsm;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.Kind;

/**
 * Writes to one or many trees of a store that become visible, and durable, all at once or not at
 * all.
 *
 * <p>Operations take effect in the order they were added. Key and value are copied when added. May
 * be cleared and used again after {@link Store#write(WriteBatch)}.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class WriteBatch {
  private static final byte[] NO_VALUE = new byte[0];

  private final BatchFormat.Builder operations = new BatchFormat.Builder();
  private final Store store;
  private boolean logged;

  private WriteBatch(Store store) {
    this.store = store;
  }

  static WriteBatch of(Store store) {
    return new WriteBatch(store);
  }

  /**
   * Sets a key.
   *
   * @throws IllegalArgumentException if key or value exceed their limit, if the tree belongs to
   *     another store, or if the batch would mix logged and unlogged trees
   */
  public WriteBatch put(Tree tree, byte[] key, byte[] value) {
    check(tree);
    tree.checkKey(key.length);
    tree.checkValue(value.length);
    operations.add(Kind.PUT, tree.handle().id(), key, value);
    return this;
  }

  /** Removes a key, whether it is there or not. Errors as with {@link #put}. */
  public WriteBatch delete(Tree tree, byte[] key) {
    check(tree);
    tree.checkKey(key.length);
    operations.add(Kind.DELETE, tree.handle().id(), key, NO_VALUE);
    return this;
  }

  private void check(Tree tree) {
    if (tree.store() != store) {
      throw new IllegalArgumentException(
          "tree '" + tree.name() + "' belongs to another store than the batch");
    }
    boolean treeLogged = tree.handle().settings().logged();
    if (operations.count() > 0 && treeLogged != logged) {
      throw new IllegalArgumentException(
          "a batch can't mix logged and unlogged trees: '"
              + tree.name()
              + "' is "
              + (treeLogged ? "logged" : "unlogged")
              + " and those before are not the same");
    }
    logged = treeLogged;
  }

  /** Operations in the batch. */
  public int size() {
    return operations.count();
  }

  /** Bytes the batch will take in the log. */
  public long sizeBytes() {
    return operations.length();
  }

  /** Removes all operations. */
  public void clear() {
    operations.clear();
  }

  Store store() {
    return store;
  }

  BatchFormat.Builder operations() {
    return operations;
  }

  boolean logged() {
    return logged;
  }
}
