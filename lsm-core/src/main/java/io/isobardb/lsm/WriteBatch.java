package io.isobardb.lsm;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
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
public interface WriteBatch {
  /**
   * Sets a key.
   *
   * @param tree of the store that made the batch
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @return this batch
   * @throws IllegalArgumentException if key or value exceed their limit, if the tree belongs to
   *     another store, or if the batch would mix logged and unlogged trees
   * @throws IllegalStateException if another thread is using the batch
   */
  WriteBatch put(Tree tree, byte[] key, byte[] value);

  /**
   * Sets a key until an instant; see {@link Tree#put(byte[], byte[], Instant)}. Errors as with
   * {@link #put(Tree, byte[], byte[])}.
   *
   * @param tree of the store that made the batch
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param value 0 to {@link Tree#maxValueBytes} bytes
   * @param expires from when on the key is absent; {@link Instant#MAX} for never
   * @return this batch
   */
  WriteBatch put(Tree tree, byte[] key, byte[] value, Instant expires);

  /**
   * Removes a key, whether it is there or not. Errors as with {@link #put(Tree, byte[], byte[])}.
   *
   * @param tree of the store that made the batch
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @return this batch
   */
  WriteBatch delete(Tree tree, byte[] key);

  /**
   * Merges an operand into the value of a key; see {@link Tree#merge(byte[], byte[])}. What a batch
   * merges with a key one after the other is one operand, which lives as long as the last part of
   * it. Errors as there, and as with {@link #put(Tree, byte[], byte[])}.
   *
   * @param tree with a merge operator, of the store that made the batch
   * @param key 0 to {@link Tree#maxKeyBytes} bytes
   * @param operand in the form that the operator defines
   * @return this batch
   */
  WriteBatch merge(Tree tree, byte[] key, byte[] operand);

  /**
   * Removes all keys of a range, those that this batch has put before, too, but not those that it
   * puts later; see {@link Tree#deleteRange(byte[], byte[])}.
   *
   * @param tree of the store that made the batch
   * @param from the first key that goes, null for no bound
   * @param to the key behind the last one, null for no bound
   * @return this batch
   * @throws IllegalArgumentException if {@code from} is behind {@code to}; else as with {@link
   *     #put(Tree, byte[], byte[])}
   */
  WriteBatch deleteRange(Tree tree, byte @Nullable [] from, byte @Nullable [] to);

  /**
   * Sets a key; takes what remains in the buffers. Errors as with {@link #put(Tree, byte[],
   * byte[])}.
   *
   * @param tree of the store that made the batch
   * @param key its remaining bytes are the key; its position stays
   * @param value likewise
   * @return this batch
   */
  WriteBatch put(Tree tree, ByteBuffer key, ByteBuffer value);

  /**
   * Removes a key; takes what remains in the buffer. Errors as with {@link #put(Tree, byte[],
   * byte[])}.
   *
   * @param tree of the store that made the batch
   * @param key its remaining bytes are the key; its position stays
   * @return this batch
   */
  WriteBatch delete(Tree tree, ByteBuffer key);

  /**
   * How long this batch may wait, instead of {@link StoreOptions#writeTimeout}; stays when the
   * batch is cleared.
   *
   * @param timeout zero to 365 days, which is for ever
   * @return this batch
   * @throws IllegalArgumentException if it is out of that range
   * @throws IllegalStateException if another thread is using the batch
   */
  WriteBatch writeTimeout(Duration timeout);

  /** {@return operations in the batch} */
  int size();

  /** {@return bytes the batch will take in the log} */
  long sizeBytes();

  /** Removes all operations. */
  void clear();
}
