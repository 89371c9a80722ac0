package io.isobardb.lsm;

import io.isobardb.lsm.error.DiskFullException;
import io.isobardb.lsm.handle.BulkLoader;
import io.isobardb.lsm.handle.OneThread;
import io.isobardb.lsm.handle.Session;
import io.isobardb.lsm.state.TreeHandle;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Entries for trees of a store that come in the order of their keys, and become visible, and
 * durable, all at once.
 *
 * <pre>{@code
 * try (BulkLoad load = store.bulkLoad(orders)) {
 *   load.add(orders, order, customer); // and more, in the order of their keys
 *   load.commit();
 * }
 * }</pre>
 *
 * <p>They are written to SSTables at once: once, without the log, and without the write memory.
 * Before {@link #commit} nobody sees them, and a crash leaves nothing of them behind. They replace
 * what the trees hold of the same keys, whatever was written before the commit. The trees may be
 * full, and others may write to them meanwhile.
 *
 * <p>For each tree that entries were added to, it takes two pages and a batch of at most 256 KiB
 * from the memory budget, besides the index and the filter of one SSTable.
 *
 * <p>Thread rule: one thread at a time. A call that finds another thread in one throws {@link
 * IllegalStateException} and changes nothing.
 */
public final class BulkLoad implements AutoCloseable {
  private final Session session;
  private final BulkLoader loader;
  private final OneThread use = new OneThread();

  BulkLoad(Session session, Tree... trees) {
    this.session = session;
    List<TreeHandle> handles = new ArrayList<>();
    for (Tree tree : trees) {
      handles.add(handle(Objects.requireNonNull(tree, "tree")));
    }
    this.loader = session.bulkLoad(handles);
  }

  private TreeHandle handle(Tree tree) {
    if (tree.session() != session) {
      throw new IllegalArgumentException(
          "tree '" + tree.name() + "' belongs to another store than the bulk load");
    }
    return tree.handle();
  }

  /**
   * Adds an entry. Key and value are not copied before this returns, and not needed afterwards.
   *
   * @param tree one of those that the load was begun with
   * @param key behind all that were added to the tree, in its order
   * @throws IllegalArgumentException if the key is not behind the last one, with both; if key or
   *     value exceed their limits; or if it is no tree of the load. What was added stands
   * @throws DiskFullException if there is no room; the load has failed then
   * @throws io.isobardb.lsm.error.TreeDroppedException if the tree was dropped
   * @throws IllegalStateException if the load has ended
   */
  public void add(Tree tree, byte[] key, byte[] value) {
    add(tree, key, value, Objects.requireNonNull(tree, "tree").writes().expiry());
  }

  /**
   * Adds an entry that is absent from an instant on; see {@link Tree#put(byte[], byte[], Instant)}.
   * Else as {@link #add(Tree, byte[], byte[])}.
   */
  public void add(Tree tree, byte[] key, byte[] value, Instant expires) {
    add(tree, key, value, Objects.requireNonNull(tree, "tree").writes().expiry(expires));
  }

  private void add(Tree tree, byte[] key, byte[] value, long expiry) {
    TreeHandle handle = handle(tree);
    tree.checkKey(key);
    tree.checkValue(value);
    enter();
    try {
      loader.add(handle, key.clone(), value, expiry);
    } finally {
      use.exit();
    }
  }

  /**
   * Makes all that was added visible at one moment, over all trees; it is durable when this
   * returns. If a tree is unlogged, this moment is a checkpoint: see {@link Store#checkpoint}.
   *
   * <p>Writes of others wait while what the trees have in memory is flushed, after most of it was
   * flushed in advance, and while the manifest is synced. Transactions that have read or written
   * keys between the first and the last one loaded, and have not committed, get a {@code
   * ConflictException}.
   *
   * @throws DiskFullException if there is no room; nothing was changed, and the load has failed
   * @throws io.isobardb.lsm.error.StoreFailedException if the store takes no more writes
   * @throws IllegalStateException if the load has ended
   */
  public void commit() {
    enter();
    try {
      loader.commit();
    } finally {
      use.exit();
    }
  }

  /** Bytes of the SSTables that were written so far, those excepted that are not whole yet. */
  public long bytesWritten() {
    return loader.bytesWritten();
  }

  private void enter() {
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
