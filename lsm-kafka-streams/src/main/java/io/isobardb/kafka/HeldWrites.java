package io.isobardb.kafka;

import java.util.Arrays;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes that a transaction holds back, in the order of their keys. It never changes: a write makes
 * another one, which shares all but one path with it. So an iterator sees one moment, and whoever
 * publishes the last of many writes shows them all at once.
 *
 * <p>A balanced tree (AVL): the heights of two siblings differ by one at most.
 *
 * <p>Thread rule: any thread.
 */
final class HeldWrites {
  /** No writes. */
  static final HeldWrites NONE = new HeldWrites(null, 0);

  private final @Nullable Entry root;
  private final int size;

  private HeldWrites(@Nullable Entry root, int size) {
    this.root = root;
    this.size = size;
  }

  /** A write, and those below it in the tree. */
  static final class Entry {
    private final byte[] key;
    private final byte[] value;
    private final @Nullable Entry left;
    private final @Nullable Entry right;
    private final int height;

    private Entry(byte[] key, byte[] value, @Nullable Entry left, @Nullable Entry right) {
      this.key = key;
      this.value = value;
      this.left = left;
      this.right = right;
      this.height = 1 + Math.max(height(left), height(right));
    }

    byte[] key() {
      return key;
    }

    byte[] value() {
      return value;
    }
  }

  private static int height(@Nullable Entry entry) {
    return entry == null ? 0 : entry.height;
  }

  int size() {
    return size;
  }

  /** The value of a key; null if there is none. */
  byte @Nullable [] get(byte[] key) {
    Entry at = root;
    while (at != null) {
      int order = Arrays.compareUnsigned(key, at.key);
      if (order == 0) {
        return at.value;
      }
      at = order < 0 ? at.left : at.right;
    }
    return null;
  }

  /** The first entry; null if there is none. */
  @Nullable Entry first() {
    Entry at = root;
    while (at != null && at.left != null) {
      at = at.left;
    }
    return at;
  }

  /** The last entry; null if there is none. */
  @Nullable Entry last() {
    Entry at = root;
    while (at != null && at.right != null) {
      at = at.right;
    }
    return at;
  }

  /** The first entry behind a key, or with {@code inclusive} at it; null if there is none. */
  @Nullable Entry after(byte[] key, boolean inclusive) {
    Entry found = null;
    Entry at = root;
    while (at != null) {
      int order = Arrays.compareUnsigned(key, at.key);
      if (order < 0 || inclusive && order == 0) {
        found = at;
        at = at.left;
      } else {
        at = at.right;
      }
    }
    return found;
  }

  /** The last entry before a key; null if there is none. */
  @Nullable Entry before(byte[] key) {
    Entry found = null;
    Entry at = root;
    while (at != null) {
      if (Arrays.compareUnsigned(key, at.key) > 0) {
        found = at;
        at = at.right;
      } else {
        at = at.left;
      }
    }
    return found;
  }

  /** Hands over all keys and values, in the order of keys. */
  void forEach(BiConsumer<byte[], byte[]> to) {
    for (Entry at = first(); at != null; at = after(at.key, false)) {
      to.accept(at.key, at.value);
    }
  }

  /**
   * These with one more, or with another value for its key.
   *
   * @param isNew whether they have no value for the key
   */
  HeldWrites with(byte[] key, byte[] value, boolean isNew) {
    return new HeldWrites(put(root, key, value), isNew ? size + 1 : size);
  }

  private static Entry put(@Nullable Entry at, byte[] key, byte[] value) {
    if (at == null) {
      return new Entry(key, value, null, null);
    }
    int order = Arrays.compareUnsigned(key, at.key);
    if (order == 0) {
      return new Entry(key, value, at.left, at.right);
    }
    return order < 0
        ? balanced(at, put(at.left, key, value), at.right)
        : balanced(at, at.left, put(at.right, key, value));
  }

  /** An entry over two trees whose heights differ by two at most. */
  private static Entry balanced(Entry at, @Nullable Entry left, @Nullable Entry right) {
    if (left != null && height(left) > height(right) + 1) {
      Entry inner = left.right;
      if (inner == null || height(left.left) >= inner.height) {
        return over(left, left.left, over(at, inner, right));
      }
      return over(inner, over(left, left.left, inner.left), over(at, inner.right, right));
    }
    if (right != null && height(right) > height(left) + 1) {
      Entry inner = right.left;
      if (inner == null || height(right.right) >= inner.height) {
        return over(right, over(at, left, inner), right.right);
      }
      return over(inner, over(at, left, inner.left), over(right, inner.right, right.right));
    }
    return over(at, left, right);
  }

  private static Entry over(Entry at, @Nullable Entry left, @Nullable Entry right) {
    return new Entry(at.key, at.value, left, right);
  }
}
