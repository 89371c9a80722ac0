package io.isobardb.lsm.store;

import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.isobardb.lsm.commit.BatchFormat;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.schedule.WaitLimit;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.state.TreeHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A batch, kept as it goes into the log.
 *
 * <p>Thread rule: one thread at a time; another one is refused.
 */
public final class EncodedBatch implements WriteBatch {
  private static final VarHandle BUSY;

  static {
    try {
      BUSY = MethodHandles.lookup().findVarHandle(EncodedBatch.class, "busy", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final BatchFormat.Builder operations = new BatchFormat.Builder();
  private final OpenStore store;

  /** Each tree that is written to, once. */
  private final Set<TreeHandle> trees = new LinkedHashSet<>();

  private @Nullable OpenTree lastTree;

  private boolean logged;
  private Duration writeTimeout;

  /**
   * 1 while a call is under way. A batch that changes while it is written could leave something
   * else in the log than in memory.
   */
  private int busy;

  EncodedBatch(OpenStore store) {
    this.store = store;
    this.writeTimeout = store.options().writeTimeout();
  }

  @Override
  public WriteBatch writeTimeout(Duration timeout) {
    OptionLimits.checkTimeout("writeTimeout", Objects.requireNonNull(timeout, "timeout"));
    enter();
    try {
      writeTimeout = timeout;
    } finally {
      exit();
    }
    return this;
  }

  @Override
  public WriteBatch put(Tree tree, byte[] key, byte[] value) {
    OpenTree open = open(tree);
    open.checkKey(key);
    open.checkValue(value);
    add(Kind.PUT, open, key, value, open.expiry());
    return this;
  }

  @Override
  public WriteBatch put(Tree tree, byte[] key, byte[] value, Instant expires) {
    OpenTree open = open(tree);
    open.checkKey(key);
    open.checkValue(value);
    add(Kind.PUT, open, key, value, open.expiry(expires));
    return this;
  }

  @Override
  public WriteBatch delete(Tree tree, byte[] key) {
    OpenTree open = open(tree);
    open.checkKey(key);
    add(Kind.DELETE, open, key, Keys.NO_VALUE, Expiry.NEVER);
    return this;
  }

  @Override
  public WriteBatch merge(Tree tree, byte[] key, byte[] operand) {
    OpenTree open = open(tree);
    open.checkMerge(key, operand);
    add(Kind.MERGE, open, key, Operands.of(operand), open.expiry());
    return this;
  }

  @Override
  public WriteBatch deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to) {
    OpenTree open = open(tree);
    open.checkRange(from, to);
    if (!RangeDelete.isEmpty(open.handle().order(), from, to)) {
      add(open, treeId -> operations.deleteRange(treeId, from, to));
    }
    return this;
  }

  @Override
  public WriteBatch put(Tree tree, ByteBuffer key, ByteBuffer value) {
    open(tree);
    Objects.requireNonNull(key, "key");
    return put(tree, Keys.bytes(key), Keys.bytes(Objects.requireNonNull(value, "value")));
  }

  @Override
  public WriteBatch delete(Tree tree, ByteBuffer key) {
    open(tree);
    return delete(tree, Keys.bytes(key));
  }

  private void add(int kind, OpenTree tree, byte[] key, byte[] value, long expiry) {
    add(tree, treeId -> operations.add(kind, treeId, key, value, expiry));
  }

  private void add(OpenTree tree, IntConsumer operation) {
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

  private OpenTree open(Tree tree) {
    return OpenTree.of(tree, store, "batch");
  }

  private void check(OpenTree tree) {
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

  @Override
  public int size() {
    return operations.count();
  }

  @Override
  public long sizeBytes() {
    return operations.length();
  }

  @Override
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
    StackRoom.check();
    if (!BUSY.compareAndSet(this, 0, 1)) {
      throw new IllegalStateException(
          "the write batch is in use by another thread: one at a time may use it");
    }
  }

  void exit() {
    BUSY.setRelease(this, 0);
  }

  /** Whether it belongs to this store. */
  boolean isOf(OpenStore of) {
    return store == of;
  }

  /** Writes it all. */
  void write(boolean sync) {
    enter();
    try {
      String only = trees.size() == 1 ? trees.iterator().next().name() : null;
      WaitLimit limit = new WaitLimit().begin(WaitLimit.nanos(writeTimeout), only);
      store.batches().write(operations, trees, logged, sync, limit);
    } finally {
      exit();
    }
  }
}
