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
  private static final CursorOptions ALL = new CursorOptions(null, null, null, null);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final @Nullable Snapshot snapshot;

  /** What all keys begin with, in byte order alone; null if there is no prefix. */
  private final byte @Nullable [] prefix;

  private CursorOptions(
      byte @Nullable [] from,
      byte @Nullable [] to,
      @Nullable Snapshot snapshot,
      byte @Nullable [] prefix) {
    this.from = from;
    this.to = to;
    this.snapshot = snapshot;
    this.prefix = prefix;
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
    byte[] begin = Objects.requireNonNull(prefix, "prefix").clone();
    return new CursorOptions(begin, endOf(begin), null, begin);
  }

  /** The first key behind all that begin with a prefix; null if there is none. */
  private static byte @Nullable [] endOf(byte[] prefix) {
    int last = prefix.length - 1;
    while (last >= 0 && prefix[last] == (byte) 0xFF) {
      last--;
    }
    if (last < 0) {
      return null;
    }
    byte[] end = Arrays.copyOf(prefix, last + 1);
    end[last]++;
    return end;
  }

  /**
   * {@return the same, with a first key} A prefix is only narrowed by it, never left.
   *
   * @param key the first that is covered, whether it is there or not; copied
   */
  public CursorOptions from(byte[] key) {
    byte[] first = Objects.requireNonNull(key, "key").clone();
    byte[] least = prefix;
    boolean before = least != null && Arrays.compareUnsigned(first, least) < 0;
    return new CursorOptions(before ? least : first, to, snapshot, prefix);
  }

  /**
   * {@return the same, with an end that is not covered} A prefix is only narrowed by it, never
   * left.
   *
   * @param key whether it is there or not; copied
   */
  public CursorOptions to(byte[] key) {
    byte[] end = Objects.requireNonNull(key, "key").clone();
    byte[] most = prefix == null ? null : endOf(prefix);
    boolean behind = most != null && Arrays.compareUnsigned(end, most) > 0;
    return new CursorOptions(from, behind ? most : end, snapshot, prefix);
  }

  /**
   * {@return the same, as of a snapshot} The cursor may outlive it.
   *
   * @param value of the store that the tree belongs to; not closed when the cursor is opened
   */
  public CursorOptions snapshot(Snapshot value) {
    return new CursorOptions(from, to, Objects.requireNonNull(value, "snapshot"), prefix);
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

  /** {@return whether all keys that it covers begin with a prefix} */
  public boolean isPrefix() {
    return prefix != null;
  }
}
