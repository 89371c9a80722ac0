package io.isobardb.lsm.typed;

import io.isobardb.lsm.Cursor;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the entries of a range. It reads some at a time, twice as many each time, and holds
 * no cursor in between. One thread at a time.
 */
final class LiveIterator<K, V> implements Iterator<Map.Entry<K, V>> {
  private static final int MOST = 64;

  /** Entries with large values are read one by one. */
  private static final int MOST_BYTES = 64 << 10;

  private final TypedTree<K, V> tree;
  private final boolean descending;
  private final Deque<Map.Entry<K, V>> read = new ArrayDeque<>();

  /** What is left to be read. */
  private ByteRange rest;

  private int count = 1;
  private @Nullable K current;

  LiveIterator(TypedTree<K, V> tree, ByteRange range, boolean descending) {
    this.tree = tree;
    this.rest = range;
    this.descending = descending;
  }

  @Override
  public boolean hasNext() {
    if (read.isEmpty() && !rest.isEmpty()) {
      readMore();
    }
    return !read.isEmpty();
  }

  private void readMore() {
    try (Cursor cursor = tree.tree().cursor(rest.options())) {
      boolean more = descending ? cursor.last() : cursor.first();
      long bytes = 0;
      while (more && read.size() < count && bytes < MOST_BYTES) {
        bytes += cursor.valueLength();
        read.add(tree.entry(cursor));
        byte[] key = cursor.key();
        rest = descending ? rest.to(key, false) : rest.from(key, false);
        more = descending ? cursor.previous() : cursor.next();
      }
    }
    count = Math.min(2 * count, MOST);
  }

  @Override
  public Map.Entry<K, V> next() {
    if (!hasNext()) {
      throw new NoSuchElementException("there are no more entries");
    }
    Map.Entry<K, V> entry = read.remove();
    current = entry.getKey();
    return new SimpleEntry<>(entry) {
      private static final long serialVersionUID = 1;

      @Override
      public V setValue(V value) {
        tree.put(getKey(), value);
        return super.setValue(value);
      }
    };
  }

  @Override
  public void remove() {
    K key = current;
    if (key == null) {
      throw new IllegalStateException("there is no entry to remove: call next() first");
    }
    tree.delete(key);
    current = null;
  }
}
