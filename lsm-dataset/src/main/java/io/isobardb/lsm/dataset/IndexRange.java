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

  /** {@return the whole index} */
  public static IndexRange all() {
    return ALL;
  }

  /**
   * {@return the range from an index key on}
   *
   * @param indexKey the index key
   */
  public static IndexRange from(byte[] indexKey) {
    return new IndexRange(Objects.requireNonNull(indexKey, "indexKey").clone(), null);
  }

  /**
   * {@return the range from one index key on, to before another}
   *
   * @param from the first index key
   * @param to the index key behind the last one
   */
  public static IndexRange between(byte[] from, byte[] to) {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(to, "to");
    return new IndexRange(from.clone(), to.clone());
  }

  /**
   * {@return one index key alone}
   *
   * @param indexKey the index key
   */
  public static IndexRange only(byte[] indexKey) {
    Objects.requireNonNull(indexKey, "indexKey");
    return new IndexRange(indexKey.clone(), Arrays.copyOf(indexKey, indexKey.length + 1));
  }

  /**
   * {@return all index keys that begin with these bytes}
   *
   * @param prefix what index keys begin with
   */
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

  /**
   * {@return this range, as far as it lies before an index key}
   *
   * @param indexKey the index key
   */
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
