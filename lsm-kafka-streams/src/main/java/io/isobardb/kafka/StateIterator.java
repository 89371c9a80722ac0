package io.isobardb.kafka;

import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Supplier;
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
  private final Supplier<Entries> opening;
  private volatile @Nullable Entries entries;
  private @Nullable KeyValue<K, byte[]> next;
  private boolean moved;
  private boolean exhausted;
  private volatile boolean closed;

  StateIterator(StateTree tree, Entries entries) {
    this(tree, () -> entries, entries);
  }

  /** One that sees the moment when it is first asked for an entry. */
  StateIterator(StateTree tree, Supplier<Entries> opening) {
    this(tree, opening, null);
  }

  private StateIterator(StateTree tree, Supplier<Entries> opening, @Nullable Entries entries) {
    this.tree = tree;
    this.opening = opening;
    this.entries = entries;
    if (!tree.register(this)) {
      // The tree was closed meanwhile, and need not have seen this.
      close();
      tree.checkOpen();
    }
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
      return hasNextIfClosed();
    }
    if (next == null && !exhausted) {
      try {
        next = advance();
      } catch (RuntimeException e) {
        throw tree.failure(e);
      }
      exhausted = next == null;
    }
    return !exhausted;
  }

  private @Nullable KeyValue<K, byte[]> advance() {
    boolean first = !moved;
    moved = true;
    Entries from = entries;
    if (from == null) {
      synchronized (this) {
        if (closed) {
          return null;
        }
        from = opening.get();
        entries = from;
      }
    }
    return advance(from, first);
  }

  /** What to answer once it is closed. */
  boolean hasNextIfClosed() {
    throw new InvalidStateStoreException(
        "The iterator over store " + tree.name() + " has been closed");
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
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    tree.unregister(this);
    Entries from = entries;
    if (from != null) {
      from.close();
    }
  }
}
