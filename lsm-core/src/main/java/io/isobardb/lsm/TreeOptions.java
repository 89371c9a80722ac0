package io.isobardb.lsm;

import io.isobardb.lsm.entry.KeyOrder;
import java.util.Objects;

/**
 * How a tree is made. Fixed when the tree is created and stored with it; immutable.
 *
 * @param keyOrder the order of keys; default {@link KeyOrder#BYTES}
 * @param logged whether writes go to the log; default true. The writes of an unlogged tree survive
 *     a crash up to the last {@link Store#checkpoint}
 * @param compression of pages on disk; default none
 * @param filterBitsPerKey bits of filter a key costs, 0 to 24, 0 being no filters; default 10
 *     (about 1 % of absent keys cost a read)
 */
public record TreeOptions(
    KeyOrder keyOrder, boolean logged, Compression compression, int filterBitsPerKey) {
  private static final TreeOptions DEFAULTS =
      new TreeOptions(KeyOrder.BYTES, true, Compression.NONE, 10);

  public TreeOptions {
    Objects.requireNonNull(keyOrder, "keyOrder");
    Objects.requireNonNull(compression, "compression");
    if (filterBitsPerKey < 0 || filterBitsPerKey > 24) {
      throw new IllegalArgumentException(
          "filterBitsPerKey must be 0 to 24, not " + filterBitsPerKey);
    }
  }

  /** Byte order, logged, no compression, 10 filter bits. */
  public static TreeOptions defaults() {
    return DEFAULTS;
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds {@link TreeOptions}; what is not set stays at its default. */
  public static final class Builder {
    private KeyOrder keyOrder = DEFAULTS.keyOrder;
    private boolean logged = DEFAULTS.logged;
    private Compression compression = DEFAULTS.compression;
    private int filterBitsPerKey = DEFAULTS.filterBitsPerKey;

    private Builder() {}

    public Builder keyOrder(KeyOrder order) {
      this.keyOrder = Objects.requireNonNull(order, "keyOrder");
      return this;
    }

    public Builder logged(boolean value) {
      this.logged = value;
      return this;
    }

    public Builder compression(Compression value) {
      this.compression = Objects.requireNonNull(value, "compression");
      return this;
    }

    public Builder filterBitsPerKey(int bits) {
      this.filterBitsPerKey = bits;
      return this;
    }

    /**
     * @throws IllegalArgumentException naming the option that is out of its range
     */
    public TreeOptions build() {
      return new TreeOptions(keyOrder, logged, compression, filterBitsPerKey);
    }
  }
}
