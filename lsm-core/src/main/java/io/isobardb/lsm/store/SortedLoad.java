package io.isobardb.lsm.store;

import io.isobardb.lsm.BulkLoad;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.state.TreeHandle;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A bulk load as users hold it: {@link BulkLoader} does the work, and refers to nothing of theirs.
 *
 * <p>Thread rule: one thread at a time; another one is refused.
 */
public final class SortedLoad implements BulkLoad {
  private final OpenStore store;
  private final BulkLoader loader;
  private final OneThread use = new OneThread();

  private SortedLoad(OpenStore store, BulkLoader loader) {
    this.store = store;
    this.loader = loader;
  }

  /** Begins a load of some trees. */
  static SortedLoad begin(OpenStore store, Tree... trees) {
    List<TreeHandle> handles = new ArrayList<>();
    for (Tree tree : trees) {
      handles.add(OpenTree.of(tree, store, "bulk load").handle());
    }
    return new SortedLoad(store, BulkLoader.begin(store, handles));
  }

  @Override
  public void add(Tree tree, byte[] key, byte[] value) {
    OpenTree open = OpenTree.of(tree, store, "bulk load");
    add(open, key, value, open.expiry());
  }

  @Override
  public void add(Tree tree, byte[] key, byte[] value, Instant expires) {
    OpenTree open = OpenTree.of(tree, store, "bulk load");
    add(open, key, value, open.expiry(expires));
  }

  private void add(OpenTree tree, byte[] key, byte[] value, long expiry) {
    tree.checkKey(key);
    tree.checkValue(value);
    enter();
    try {
      loader.add(tree.handle(), key.clone(), value, expiry);
    } finally {
      use.exit();
    }
  }

  @Override
  public void commit() {
    enter();
    try {
      loader.commit();
    } finally {
      use.exit();
    }
  }

  @Override
  public long bytesWritten() {
    return loader.bytesWritten();
  }

  private void enter() {
    StackRoom.check();
    if (!use.tryEnter()) {
      throw new IllegalStateException("another thread is using the bulk load");
    }
  }

  /** Ends the load. What was not committed is gone. Does nothing if it has ended. */
  @Override
  public void close() {
    enter();
    try {
      loader.close();
    } finally {
      use.exit();
    }
  }
}
