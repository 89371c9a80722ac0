package io.isobardb.lsm;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a cursor covers; immutable.
 *
 * <pre>{@code
 * byte[] from = "user/1000".getBytes(UTF_8);
 * CursorOptions page = CursorOptions.prefix("user/".getBytes(UTF_8)).from(from);
 * try (Cursor cursor = tree.cursor(page)) {
 *   for (boolean more = cursor.first(); more; more = cursor.next()) {
 *     use(cursor.key(), cursor.value());
 *   }
 * }
 * }</pre>
 */
public final class CursorOptions {
  private static final CursorOptions ALL = new CursorOptions(null, null, null, false);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final @Nullable Snapshot snapshot;

  /** Whether the bounds are those of a prefix, which go for byte order alone. */
  private final boolean byPrefix;

  private CursorOptions(
      byte @Nullable [] from, byte @Nullable [] to, @Nullable Snapshot snapshot, boolean byPrefix) {
    this.from = from;
    this.to = to;
    this.snapshot = snapshot;
    this.byPrefix = byPrefix;
  }

  /** {@return options for the whole tree, as it is when the cursor is opened} */
  public static CursorOptions all() {
    return ALL;
  }

  /**
   * {@return options for all keys that begin with {@code prefix}} Only for trees in byte order: a
   * cursor over a tree with another key order refuses it.
   *
   * @param prefix copied; empty for all keys
   */
  public static CursorOptions prefix(byte[] prefix) {
    byte[] end = Objects.requireNonNull(prefix, "prefix").clone();
    int last = end.length - 1;
    while (last >= 0 && end[last] == (byte) 0xFF) {
      last--;
    }
    if (last < 0) {
      return new CursorOptions(prefix.clone(), null, null, true);
    }
    end = Arrays.copyOf(end, last + 1);
    end[last]++;
    return new CursorOptions(prefix.clone(), end, null, true);
  }

  /**
   * {@return the same, with a first key}
   *
   * @param key the first that is covered, whether it is there or not; copied
   */
  public CursorOptions from(byte[] key) {
    return new CursorOptions(Objects.requireNonNull(key, "key").clone(), to, snapshot, byPrefix);
  }

  /**
   * {@return the same, with an end that is not covered}
   *
   * @param key whether it is there or not; copied
   */
  public CursorOptions to(byte[] key) {
    return new CursorOptions(from, Objects.requireNonNull(key, "key").clone(), snapshot, byPrefix);
  }

  /**
   * {@return the same, as of a snapshot} The cursor may outlive it.
   *
   * @param value of the store that the tree belongs to; not closed when the cursor is opened
   */
  public CursorOptions snapshot(Snapshot value) {
    return new CursorOptions(from, to, Objects.requireNonNull(value, "snapshot"), byPrefix);
  }

  /** {@return a copy of the first key that it covers; null if there is no bound} */
  public byte @Nullable [] from() {
    return from == null ? null : from.clone();
  }

  /** {@return a copy of the key behind the last one that it covers; null if there is no bound} */
  public byte @Nullable [] to() {
    return to == null ? null : to.clone();
  }

  /** {@return the snapshot that it reads; null for what is there when the cursor is opened} */
  public @Nullable Snapshot snapshot() {
    return snapshot;
  }

  /** {@return whether the bounds are those of a prefix} */
  public boolean isPrefix() {
    return byPrefix;
  }
}
