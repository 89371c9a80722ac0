package io.isobardb.lsm;

import java.time.Instant;

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
public interface BulkLoad extends AutoCloseable {
  /**
   * Adds an entry. Key and value must not change before this returns; they are not kept.
   *
   * @param tree one of those that the load was begun with
   * @param key behind all that were added to the tree, in its order
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @throws IllegalArgumentException if the key is not behind the last one, with both; if key or
   *     value exceed their limits; or if it is no tree of the load. What was added stands
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; the load has failed then
   * @throws io.isobardb.lsm.error.TreeDroppedException if the tree was dropped
   * @throws IllegalStateException if the load has ended
   */
  void add(Tree tree, byte[] key, byte[] value);

  /**
   * Adds an entry that is absent from an instant on; see {@link Tree#put(byte[], byte[], Instant)}.
   * Else as {@link #add(Tree, byte[], byte[])}.
   *
   * @param tree one of those that the load was begun with
   * @param key behind all that were added to the tree, in its order
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @param expires from when on the key is absent; {@link Instant#MAX} for never
   */
  void add(Tree tree, byte[] key, byte[] value, Instant expires);

  /**
   * Makes all that was added visible at one moment, over all trees; it is durable when this
   * returns. If a tree is unlogged, this moment is a checkpoint: see {@link Store#checkpoint}.
   *
   * <p>Writes of others wait while what the trees have in memory is flushed, after most of it was
   * flushed in advance, and while the manifest is synced. Transactions that have read or written
   * keys between the first and the last one loaded, and have not committed, get a {@code
   * ConflictException}. No {@code writeTimeout} bounds this call: it waits for flushes and syncs of
   * its own, and not for room.
   *
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; nothing was changed, and
   *     the load has failed
   * @throws io.isobardb.lsm.error.StoreFailedException if the store takes no more writes
   * @throws IllegalStateException if the load has ended
   */
  void commit();

  /**
   * {@return bytes of the SSTables that were written so far, those excepted that are not whole yet}
   */
  long bytesWritten();

  /** Ends the load. What was not committed is gone. Does nothing if it has ended. */
  @Override
  void close();
}
