package io.isobardb.lsm;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a cursor covers; immutable. */
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

  /** The whole tree, as it is when the cursor is opened. */
  public static CursorOptions all() {
    return ALL;
  }

  /**
   * All keys that begin with {@code prefix}. Only for trees in byte order: a cursor over a tree
   * with another key order refuses it.
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

  /** Only keys from {@code key} on. */
  public CursorOptions from(byte[] key) {
    return new CursorOptions(Objects.requireNonNull(key, "key").clone(), to, snapshot, byPrefix);
  }

  /** Only keys before {@code key}. */
  public CursorOptions to(byte[] key) {
    return new CursorOptions(from, Objects.requireNonNull(key, "key").clone(), snapshot, byPrefix);
  }

  /** As of a snapshot. The cursor may outlive it. */
  public CursorOptions snapshot(Snapshot value) {
    return new CursorOptions(from, to, Objects.requireNonNull(value, "snapshot"), byPrefix);
  }

  /** A copy of the first key that it covers; null if there is no bound. */
  public byte @Nullable [] from() {
    return from == null ? null : from.clone();
  }

  /** A copy of the key behind the last one that it covers; null if there is no bound. */
  public byte @Nullable [] to() {
    return to == null ? null : to.clone();
  }

  /** The snapshot that it reads; null for what is there when the cursor is opened. */
  public @Nullable Snapshot snapshot() {
    return snapshot;
  }

  /** Whether the bounds are those of a prefix. */
  public boolean isPrefix() {
    return byPrefix;
  }
}
