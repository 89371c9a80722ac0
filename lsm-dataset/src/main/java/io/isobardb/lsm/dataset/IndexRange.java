package io.isobardb.lsm.dataset;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A range of index keys; immutable. */
public final class IndexRange {
  private static final IndexRange ALL = new IndexRange(null, null);

  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  private IndexRange(byte @Nullable [] from, byte @Nullable [] to) {
    this.from = from;
    this.to = to;
  }

  /** The whole index. */
  public static IndexRange all() {
    return ALL;
  }

  /** From an index key on. */
  public static IndexRange from(byte[] indexKey) {
    return new IndexRange(Objects.requireNonNull(indexKey, "indexKey").clone(), null);
  }

  /** From one index key on, to before another. */
  public static IndexRange between(byte[] from, byte[] to) {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(to, "to");
    return new IndexRange(from.clone(), to.clone());
  }

  /** One index key alone. */
  public static IndexRange only(byte[] indexKey) {
    Objects.requireNonNull(indexKey, "indexKey");
    return new IndexRange(indexKey.clone(), Arrays.copyOf(indexKey, indexKey.length + 1));
  }

  /** All index keys that begin with these bytes. */
  public static IndexRange prefix(byte[] prefix) {
    Objects.requireNonNull(prefix, "prefix");
    int last = prefix.length - 1;
    while (last >= 0 && prefix[last] == (byte) 0xFF) {
      last--;
    }
    if (last < 0) {
      return from(prefix);
    }
    byte[] end = Arrays.copyOf(prefix, last + 1);
    end[last]++;
    return new IndexRange(prefix.clone(), end);
  }

  /** This range, as far as it lies before an index key. */
  public IndexRange to(byte[] indexKey) {
    Objects.requireNonNull(indexKey, "indexKey");
    if (to != null && Arrays.compareUnsigned(to, indexKey) <= 0) {
      return this;
    }
    return new IndexRange(from, indexKey.clone());
  }

  byte @Nullable [] from() {
    return from;
  }

  byte @Nullable [] to() {
    return to;
  }
}
