package io.isobardb.lsm;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a cursor covers; immutable. */
public final class CursorOptions {
  private static final CursorOptions ALL = new CursorOptions(null, null, null);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final @Nullable Snapshot snapshot;

  private CursorOptions(byte @Nullable [] from, byte @Nullable [] to, @Nullable Snapshot snapshot) {
    this.from = from;
    this.to = to;
    this.snapshot = snapshot;
  }

  /** The whole tree, as it is when the cursor is opened. */
  public static CursorOptions all() {
    return ALL;
  }

  /** All keys that begin with {@code prefix}; for trees in byte order. */
  public static CursorOptions prefix(byte[] prefix) {
    byte[] end = Objects.requireNonNull(prefix, "prefix").clone();
    int last = end.length - 1;
    while (last >= 0 && end[last] == (byte) 0xFF) {
      last--;
    }
    if (last < 0) {
      return ALL.from(prefix);
    }
    end = Arrays.copyOf(end, last + 1);
    end[last]++;
    return ALL.from(prefix).to(end);
  }

  /** Only keys from {@code key} on. */
  public CursorOptions from(byte[] key) {
    return new CursorOptions(Objects.requireNonNull(key, "key").clone(), to, snapshot);
  }

  /** Only keys before {@code key}. */
  public CursorOptions to(byte[] key) {
    return new CursorOptions(from, Objects.requireNonNull(key, "key").clone(), snapshot);
  }

  /** As of a snapshot. The cursor may outlive it. */
  public CursorOptions snapshot(Snapshot value) {
    return new CursorOptions(from, to, Objects.requireNonNull(value, "snapshot"));
  }

  byte @Nullable [] from() {
    return from;
  }

  byte @Nullable [] to() {
    return to;
  }

  @Nullable Snapshot snapshot() {
    return snapshot;
  }
}
