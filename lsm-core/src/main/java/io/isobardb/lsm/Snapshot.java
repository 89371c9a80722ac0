package io.isobardb.lsm;

/**
 * A store as it was at one moment, over all its trees.
 *
 * <pre>{@code
 * try (Snapshot snapshot = store.snapshot()) {
 *   byte[] order = orders.get(key, snapshot);
 *   byte[] customer = customers.get(order, snapshot); // as it was when the order was read
 * }
 * }</pre>
 *
 * <p>What had not expired when it was taken is there while it is open. Costs nothing to take. While
 * it is open, merges keep the versions it sees; close it.
 *
 * <p>Thread rule: may be used by many threads at once; {@link #close} by any, more than once. A
 * read that is under way when the snapshot is closed still sees what the snapshot saw; {@code
 * close} does not wait for it. A read that begins later throws {@code StoreClosedException}.
 */
public interface Snapshot extends AutoCloseable {
  /** Ends it; does nothing if it has ended. */
  @Override
  void close();
}
