package io.isobardb.kafka;

import java.util.NoSuchElementException;
import java.util.Objects;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;

/**
 * An iterator over a state store, which closes it if it was not closed. It gives back memory that
 * writers wait for, and finds its place again.
 *
 * <p>Thread rule: one thread at a time, save {@link #close}, which any may call.
 *
 * @param <K> its keys
 */
abstract class StateIterator<K> implements KeyValueIterator<K, byte[]> {
  private final StateTree tree;
  private final Entries entries;
  private @Nullable KeyValue<K, byte[]> next;
  private boolean begun;
  private boolean exhausted;
  private volatile boolean closed;

  StateIterator(StateTree tree, Entries entries) {
    this.tree = tree;
    this.entries = entries;
    tree.register(this);
  }

  /**
   * The next that counts, or null if there is none.
   *
   * @param first whether {@code entries} have not been moved yet
   */
  abstract @Nullable KeyValue<K, byte[]> advance(Entries from, boolean first);

  @Override
  public boolean hasNext() {
    if (closed) {
      throw new InvalidStateStoreException(
          "The iterator over store " + tree.name() + " has been closed");
    }
    if (next == null && !exhausted) {
      boolean first = !begun;
      begun = true;
      try {
        next = advance(entries, first);
      } catch (RuntimeException e) {
        throw StateTree.failure(tree.name(), e);
      }
      exhausted = next == null;
    }
    return !exhausted;
  }

  @Override
  public K peekNextKey() {
    return peek().key;
  }

  private KeyValue<K, byte[]> peek() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return Objects.requireNonNull(next);
  }

  @Override
  public KeyValue<K, byte[]> next() {
    KeyValue<K, byte[]> current = peek();
    next = null;
    return current;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      tree.unregister(this);
      entries.close();
    }
  }
}
