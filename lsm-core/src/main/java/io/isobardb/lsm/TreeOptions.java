package io.isobardb.lsm;

import io.isobardb.lsm.handle.Names;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionValues;
import io.isobardb.lsm.state.TreeHandle;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How a tree is made; immutable. All of it is stored when the tree is created, and never changes.
 *
 * <pre>{@code
 * Tree cache = store.openTree("cache", TreeOptions.builder().logged(false).build());
 * Tree documents =
 *     store.openTree("documents", TreeOptions.builder().compression(Compression.LZ4).build());
 * }</pre>
 *
 * <p>{@link Store#openTree(String, TreeOptions)} refuses an option that was set and differs from
 * what is stored. One that was not set takes what is stored.
 */
public final class TreeOptions {
  private static final TreeOptions DEFAULTS = builder().build();

  private final OptionValues values;
  private final KeyOrder keyOrder;

  private TreeOptions(OptionValues values, KeyOrder keyOrder) {
    this.values = values;
    this.keyOrder = keyOrder;
  }

  /** Byte order, logged, no compression, 10 filter bits. */
  public static TreeOptions defaults() {
    return DEFAULTS;
  }

  /** The options of a tree that exists, all of them set. */
  static TreeOptions of(TreeHandle.Settings stored) {
    return builder()
        .keyOrder(stored.order())
        .logged(stored.logged())
        .compression(Compression.of(stored.codec()))
        .filterBitsPerKey(stored.filterBitsPerKey())
        .build();
  }

  /** Begins with nothing set: the defaults, or what is stored. */
  public static Builder builder() {
    return new Builder(OptionValues.builder(TreeOption.ALL), KeyOrder.BYTES);
  }

  /** A builder for which the same is set. */
  public Builder toBuilder() {
    return new Builder(values.toBuilder(), keyOrder);
  }

  /** The order of keys. */
  public KeyOrder keyOrder() {
    return keyOrder;
  }

  /** Whether writes go to the log. */
  public boolean logged() {
    return values.get(TreeOption.LOGGED);
  }

  /** Of pages on disk. */
  public Compression compression() {
    return values.get(TreeOption.COMPRESSION);
  }

  /** Bits of filter a key costs; 0 for no filters. */
  public int filterBitsPerKey() {
    return values.get(TreeOption.FILTER_BITS_PER_KEY);
  }

  TreeHandle.Settings toSettings() {
    return new TreeHandle.Settings(keyOrder, logged(), compression().code(), filterBitsPerKey());
  }

  /**
   * Passes if nothing that is set here is stored otherwise.
   *
   * @throws IllegalArgumentException if not, with both values of each such option
   */
  void checkStored(String tree, TreeOptions stored) {
    List<Option<?>> unlike = values.givenUnlike(stored.values);
    if (!unlike.isEmpty()) {
      throw new IllegalArgumentException(
          "tree '"
              + Names.quote(tree)
              + "' was created with "
              + Names.quote(stored.values.text(unlike::contains))
              + ", not "
              + Names.quote(values.text(unlike::contains))
              + "; that never changes: don't set it, to take what is stored, or copy the entries to"
              + " a tree made with "
              + unlike.stream().map(Option::name).collect(Collectors.joining(" and "))
              + " as you want");
    }
  }

  /** Whether the values are the same, set or not. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TreeOptions options && options.toString().equals(toString());
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }

  /** The options with their values. */
  @Override
  public String toString() {
    return values.toString();
  }

  /** Builds {@link TreeOptions}; what is not set stays at its default. */
  public static final class Builder {
    private final OptionValues.Builder values;
    private KeyOrder keyOrder;

    private Builder(OptionValues.Builder values, KeyOrder keyOrder) {
      this.values = values;
      this.keyOrder = keyOrder;
    }

    private <T extends Comparable<T>> Builder set(Option<T> option, T value) {
      values.set(option, value);
      return this;
    }

    /**
     * The order of keys. A store whose trees have an order of your own must be given it each time
     * it is opened ({@link StoreOptions.Builder#keyOrder}). Default {@link KeyOrder#BYTES}.
     */
    public Builder keyOrder(KeyOrder order) {
      this.keyOrder = Objects.requireNonNull(order, "keyOrder");
      return set(TreeOption.KEY_ORDER, order.name());
    }

    /**
     * Whether writes go to the log. The writes of an unlogged tree survive a crash up to the last
     * {@link Store#checkpoint}. Default true.
     */
    public Builder logged(boolean value) {
      return set(TreeOption.LOGGED, value);
    }

    /** How pages are stored on disk. Default {@link Compression#NONE}. */
    public Builder compression(Compression value) {
      return set(TreeOption.COMPRESSION, value);
    }

    /**
     * Bits of filter that a key costs, 0 to 24; 0 for no filters. Default 10: about 1 % of absent
     * keys cost a read.
     */
    public Builder filterBitsPerKey(int bits) {
      return set(TreeOption.FILTER_BITS_PER_KEY, bits);
    }

    /**
     * @throws IllegalArgumentException naming the option that is out of its range
     */
    public TreeOptions build() {
      return new TreeOptions(values.build(), keyOrder);
    }
  }
}
