package io.isobardb.lsm;

import io.isobardb.lsm.error.TransactionAbortedException;
import java.nio.ByteBuffer;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes of one or many trees that take effect together or not at all, and as isolated
 * from others as its {@link Isolation} says.
 *
 * <pre>{@code
 * try (Transaction transaction = store.begin()) {
 *   byte[] stock = transaction.getForUpdate(tree, key);
 *   if (stock != null) {
 *     transaction.delete(tree, key);
 *     transaction.put(orders, order, stock);
 *     transaction.commit();
 *   }
 * } // rolled back unless it was committed
 * }</pre>
 *
 * <p>It sees its own writes, which lie on the heap until the commit. Plain writes of others count
 * as transactions of one write each: while a store has transactions they wait for locks, too.
 *
 * <p>After a {@link TransactionAbortedException}, save a {@code LockTimeoutException}, it is rolled
 * back, and can be tried again as a new one: {@link Store#inTransaction} does. After a {@code
 * LockTimeoutException}, {@code LockInterruptedException} or {@code SelfDeadlockException} it
 * stands as before the call, unless that was the commit.
 *
 * <p>Keep it short: while it is open, merges keep the versions it may read. One that was open for
 * longer than half a minute is told of in the log and to listeners.
 *
 * <p>Thread rule: one thread at a time, its cursors included; which one may change. A call that
 * finds another thread in the transaction throws {@link IllegalStateException} and changes nothing,
 * {@link #close} included. A thread that asks, outside of the transaction, for a lock that the
 * transaction holds gets {@code SelfDeadlockException} if it was the last to use the transaction:
 * at once within {@link Store#inTransaction}, else after 50 ms in which no other thread used it.
 *
 * <p>Errors: {@link IllegalStateException} if it has ended, or is in use by another thread; and
 * those of {@link Tree}.
 */
public interface Transaction extends AutoCloseable {
  /** {@return a number that no other transaction of the open store has; messages name it} */
  long id();

  /** {@return the store it belongs to} */
  Store store();

  /** {@return whether it has neither been committed nor rolled back} */
  boolean isOpen();

  /**
   * Has {@code action} run once this transaction has ended, whichever way: what it committed can be
   * seen then, and its locks are given back. Actions run in the order they came, on the thread that
   * ends it, which they must not hold up; they must not use the transaction. What one throws is
   * logged.
   *
   * @param action runs once
   */
  void onEnd(Runnable action);

  /**
   * Runs {@code body} and keeps other threads out meanwhile, between its calls, too: for layers
   * above, with writes that have to be in a commit together. Their calls throw {@link
   * IllegalStateException}.
   *
   * @param body uses the transaction; must not end it unless it throws
   */
  void exclusively(Runnable body);

  /**
   * {@return the value of a key, or null if there is none}
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   */
  byte @Nullable [] get(Tree tree, byte[] key);

  /**
   * Puts the value of a key into {@code target}, if it fits what remains there; its position then
   * advances.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param target direct or on the heap, not read-only
   * @return the value's length, or {@link Tree#NOT_FOUND}; nothing was copied if it is larger than
   *     what remains
   */
  int get(Tree tree, byte[] key, ByteBuffer target);

  /**
   * {@return the value of a key, or null if there is none; the key is what remains in the buffer}
   *
   * @param tree of the store that the transaction belongs to
   * @param key its remaining bytes are the key; its position stays
   */
  byte @Nullable [] get(Tree tree, ByteBuffer key);

  /**
   * {@return whether there is such a key} Counts as a read of it.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   */
  boolean contains(Tree tree, byte[] key);

  /**
   * As {@link #get(Tree, byte[])}, of a key that is going to be written, or on which a write
   * depends: nobody else changes it until this transaction ends. With pessimistic locking others
   * wait for that; with optimistic locking the commit fails if somebody did.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @return the value, or null if there is none; the key is guarded then, too
   * @throws TransactionAbortedException if it can't be had
   */
  byte @Nullable [] getForUpdate(Tree tree, byte[] key);

  /**
   * Sets a key.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @throws IllegalArgumentException if key or value exceed their limit, or if the transaction
   *     would write to logged and unlogged trees
   * @throws TransactionAbortedException if others write the key
   */
  void put(Tree tree, byte[] key, byte[] value);

  /**
   * Sets a key until an instant; see {@link Tree#put(byte[], byte[], Instant)}. The transaction
   * sees it until it ends. Errors as with {@link #put(Tree, byte[], byte[])}.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @param expires from when on the key is absent; {@link Instant#MAX} for never
   */
  void put(Tree tree, byte[] key, byte[] value, Instant expires);

  /**
   * Removes a key, whether it is there or not. Errors as with {@link #put}.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   */
  void delete(Tree tree, byte[] key);

  /**
   * Merges an operand into the value of a key; see {@link Tree#merge(byte[], byte[])}. It is a
   * write that reads nothing. What a transaction merges with a key one after the other is one
   * operand, which lives as long as the last part of it. Errors as there, and as with {@link #put}.
   *
   * @param tree with a merge operator, of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param operand in the form that the operator defines, 0 to {@link Tree#maxValueBytes} bytes
   */
  void merge(Tree tree, byte[] key, byte[] operand);

  /**
   * Removes all keys of a range; see {@link Tree#deleteRange(byte[], byte[])}. It counts as a write
   * of each key there: others wait, or make the commit fail. Null is no bound. Errors as with put.
   *
   * @param tree of the store that the transaction belongs to
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound
   */
  void deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to);

  /**
   * As {@link #put(Tree, byte[], byte[])}; takes what remains in the buffers.
   *
   * @param tree of the store that the transaction belongs to
   * @param key its remaining bytes are the key; its position stays
   * @param value likewise
   */
  void put(Tree tree, ByteBuffer key, ByteBuffer value);

  /**
   * As {@link #delete(Tree, byte[])}; takes what remains in the buffer.
   *
   * @param tree of the store that the transaction belongs to
   * @param key its remaining bytes are the key; its position stays
   */
  void delete(Tree tree, ByteBuffer key);

  /**
   * Sets a key that is not there. The key is read as by {@link #getForUpdate}.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @return the value that is there, and stays; null if there was none
   * @throws IllegalArgumentException if key or value exceed their limit, whatever is there
   */
  byte @Nullable [] putIfAbsent(Tree tree, byte[] key, byte[] value);

  /**
   * Sets or removes a key if it has the value expected. The key is read as by {@link
   * #getForUpdate}.
   *
   * @param tree of the store that the transaction belongs to
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param expected null if the key must not be there
   * @param value null to remove the key
   * @return whether it had the value expected
   */
  boolean compareAndSet(Tree tree, byte[] key, byte @Nullable [] expected, byte @Nullable [] value);

  /**
   * A cursor over what the transaction sees, its own writes included, later ones too; closed when
   * it ends. Of a key that was deleted after the cursor came to it there is no value any more.
   *
   * @param tree of the store that the transaction belongs to
   * @param cursorOptions which entries; no snapshot
   * @return the cursor, for the thread that uses the transaction
   * @throws IllegalArgumentException if the options name a snapshot, or ask for a prefix where the
   *     tree has an order of its own
   */
  Cursor cursor(Tree tree, CursorOptions cursorOptions);

  /**
   * A cursor over all of a tree: see {@link #cursor(Tree, CursorOptions)}.
   *
   * @param tree of the store that the transaction belongs to
   * @return the cursor, for the thread that uses the transaction
   */
  default Cursor cursor(Tree tree) {
    return cursor(tree, CursorOptions.all());
  }

  /** {@return a place to go back to, as often as is wanted} */
  Savepoint savepoint();

  /**
   * Takes back all writes since {@code savepoint}, and forgets later savepoints. Locks stay, and so
   * does what was read.
   *
   * @param savepoint of this transaction; stays, and can be gone back to again
   * @throws IllegalArgumentException if it is not one of this transaction, or was forgotten
   */
  void rollbackTo(Savepoint savepoint);

  /**
   * Makes all writes visible, and durable if the options say so: see {@link Durability}. The
   * transaction has ended then, whether this succeeds or not. If not, nothing was written, but for
   * {@code StoreFailedException}.
   *
   * @throws TransactionAbortedException if others have changed what this one read or wrote
   * @throws io.isobardb.lsm.error.DiskFullException if there is no room; nothing was written, and
   *     will not be
   * @throws io.isobardb.lsm.error.WriteStalledException if it would wait longer than {@link
   *     TransactionOptions#writeTimeout}; nothing was written, and will not be
   * @throws io.isobardb.lsm.error.StoreFailedException if the log failed; the outcome is unknown:
   *     the writes may or may not be there when the store is opened again
   */
  void commit();

  /** Takes all writes back; the transaction has ended then. Does nothing if it has already. */
  void rollback();

  /** Rolls back what was not committed. */
  @Override
  void close();
}
