package io.isobardb.lsm;

import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.Expiry;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Operands;
import io.isobardb.lsm.entry.RangeDelete;
import io.isobardb.lsm.handle.Session;
import io.isobardb.lsm.state.TreeHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes to one or many trees of a store that become visible, and durable, all at once or not at
 * all.
 *
 * <pre>{@code
 * WriteBatch batch = store.newBatch();
 * batch.put(orders, order, customer).put(byCustomer, customer, order).delete(carts, customer);
 * store.write(batch);
 * }</pre>
 *
 * <p>Operations take effect in the order they were added. Key and value are copied when added. May
 * be cleared and used again after {@code Store.write}.
 *
 * <p>Thread rule: one thread at a time, {@code Store.write} included. A call that finds another
 * thread in the batch throws {@link IllegalStateException} and changes nothing.
 */
public final class WriteBatch {
  private static final byte[] NO_VALUE = new byte[0];
  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(WriteBatch.class, "busy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final BatchFormat.Builder operations = new BatchFormat.Builder();
  private final Session session;

  /** Each tree that is written to, once. */
  private final Set<TreeHandle> trees = new LinkedHashSet<>();

  private @Nullable Tree lastTree;

  private boolean logged;

  /**
   * 1 while a call is under way. A batch that changes while it is written could leave something
   * else in the log than in memory.
   */
  private int busy;

  WriteBatch(Session session) {
    this.session = session;
  }

  /**
   * Sets a key.
   *
   * @throws IllegalArgumentException if key or value exceed their limit, if the tree belongs to
   *     another store, or if the batch would mix logged and unlogged trees
   * @throws IllegalStateException if another thread is using the batch
   */
  public WriteBatch put(Tree tree, byte[] key, byte[] value) {
    Objects.requireNonNull(tree, "tree").checkKey(key);
    tree.checkValue(value);
    add(Kind.PUT, tree, key, value, tree.writes().expiry());
    return this;
  }

  /**
   * Sets a key until an instant; see {@link Tree#put(byte[], byte[], Instant)}. Errors as with
   * {@link #put(Tree, byte[], byte[])}.
   */
  public WriteBatch put(Tree tree, byte[] key, byte[] value, Instant expires) {
    Objects.requireNonNull(tree, "tree").checkKey(key);
    tree.checkValue(value);
    add(Kind.PUT, tree, key, value, tree.writes().expiry(expires));
    return this;
  }

  /**
   * Removes a key, whether it is there or not. Errors as with {@link #put(Tree, byte[], byte[])}.
   */
  public WriteBatch delete(Tree tree, byte[] key) {
    Objects.requireNonNull(tree, "tree").checkKey(key);
    add(Kind.DELETE, tree, key, NO_VALUE, Expiry.NEVER);
    return this;
  }

  /**
   * Merges an operand into the value of a key; see {@link Tree#merge(byte[], byte[])}. What a batch
   * merges with a key one after the other is one operand, which lives as long as the last part of
   * it. Errors as there, and as with {@link #put(Tree, byte[], byte[])}.
   */
  public WriteBatch merge(Tree tree, byte[] key, byte[] operand) {
    Objects.requireNonNull(tree, "tree").checkMerge(key, operand);
    add(Kind.MERGE, tree, key, Operands.of(operand), tree.writes().expiry());
    return this;
  }

  /**
   * Removes all keys of a range, those that this batch has put before, too, but not those that it
   * puts later; see {@link Tree#deleteRange(byte[], byte[])}.
   *
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound
   * @throws IllegalArgumentException if {@code from} is behind {@code to}; else as with {@link
   *     #put(Tree, byte[], byte[])}
   */
  public WriteBatch deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to) {
    Objects.requireNonNull(tree, "tree").checkRange(from, to);
    if (!RangeDelete.isEmpty(tree.handle().order(), from, to)) {
      add(tree, treeId -> operations.deleteRange(treeId, from, to));
    }
    return this;
  }

  /**
   * Sets a key; takes what remains in the buffers. Errors as with {@link #put(Tree, byte[],
   * byte[])}.
   */
  public WriteBatch put(Tree tree, ByteBuffer key, ByteBuffer value) {
    Objects.requireNonNull(tree, "tree");
    Objects.requireNonNull(key, "key");
    return put(tree, Keys.bytes(key), Keys.bytes(Objects.requireNonNull(value, "value")));
  }

  /**
   * Removes a key; takes what remains in the buffer. Errors as with {@link #put(Tree, byte[],
   * byte[])}.
   */
  public WriteBatch delete(Tree tree, ByteBuffer key) {
    Objects.requireNonNull(tree, "tree");
    return delete(tree, Keys.bytes(key));
  }

  private void add(int kind, Tree tree, byte[] key, byte[] value, long expiry) {
    add(tree, treeId -> operations.add(kind, treeId, key, value, expiry));
  }

  private void add(Tree tree, IntConsumer operation) {
    enter();
    try {
      check(tree);
      operation.accept(tree.handle().id());
      if (tree != lastTree) {
        lastTree = tree;
        if (tree.handle().settings().operator() != null) {
          operations.mergesKeys();
        }
        trees.add(tree.handle());
      }
    } finally {
      exit();
    }
  }

  private void check(Tree tree) {
    if (Objects.requireNonNull(tree, "tree").session() != session) {
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
    enter();
    try {
      operations.clear();
      trees.clear();
      lastTree = null;
    } finally {
      exit();
    }
  }

  /** Keeps other threads out until {@link #exit}. */
  void enter() {
    if (!BUSY.compareAndSet(this, 0, 1)) {
      throw new IllegalStateException(
          "the write batch is in use by another thread: one at a time may use it");
    }
  }

  void exit() {
    BUSY.setRelease(this, 0);
  }

  /** Whether it belongs to this store. */
  boolean isOf(Session of) {
    return session == of;
  }

  /** Writes it all. */
  void write(boolean sync) {
    enter();
    try {
      session.write(operations, trees, logged, sync);
    } finally {
      exit();
    }
  }
}
