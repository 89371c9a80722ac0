package io.isobardb.lsm;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.setting.Names;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionValues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How a tree is made; immutable. All of it is stored when the tree is created. Nothing but {@code
 * timeToLive}, {@code runs}, {@code maxSpace} and {@code compression} ever changes.
 *
 * <pre>{@code
 * Tree cache = store.openTree("cache", TreeOptions.builder().logged(false).build());
 * Tree documents =
 *     store.openTree("documents", TreeOptions.builder().compression(Compression.LZ4).build());
 * }</pre>
 *
 * <p>{@link Store#openTree(String, TreeOptions)} refuses an option that was set and differs from
 * what is stored, save that those four change. One that was not set takes what is stored.
 */
public final class TreeOptions {
  private static final TreeOptions DEFAULTS = builder().build();

  private final OptionValues values;
  private final KeyOrder keyOrder;
  private final @Nullable MergeOperator mergeOperator;

  private TreeOptions(Builder builder) {
    this.values = builder.values.build();
    this.keyOrder = builder.keyOrder;
    this.mergeOperator = builder.mergeOperator;
  }

  /**
   * Passes if a tree may have this name: 1 to 200 characters, without control characters and lone
   * surrogates.
   *
   * @param name a candidate
   * @return the name
   * @throws IllegalArgumentException if not; the message says why
   */
  public static String checkName(String name) {
    return Names.check("a tree", name);
  }

  /** {@return the defaults: byte order, logged, no compression, 10 filter bits} */
  public static TreeOptions defaults() {
    return DEFAULTS;
  }

  /** {@return a builder with nothing set: the defaults, or what is stored} */
  public static Builder builder() {
    return new Builder(OptionValues.builder(TreeOption.ALL), KeyOrder.BYTES, null);
  }

  /** {@return a builder for which the same is set} */
  public Builder toBuilder() {
    return new Builder(values.toBuilder(), keyOrder, mergeOperator);
  }

  /** {@return the order of keys} */
  public KeyOrder keyOrder() {
    return keyOrder;
  }

  /** {@return how {@code merge} changes values; null if nothing can be merged} */
  public @Nullable MergeOperator mergeOperator() {
    return mergeOperator;
  }

  /** {@return whether writes go to the log} */
  public boolean logged() {
    return values.get(TreeOption.LOGGED);
  }

  /** {@return the codecs of pages on disk} */
  public Compression compression() {
    return values.get(TreeOption.COMPRESSION);
  }

  /**
   * {@return whether a compression was set, and another is stored}
   *
   * @param stored what the tree has
   */
  public boolean changesCompression(TreeOptions stored) {
    Objects.requireNonNull(stored, "stored");
    return values.givenUnlike(stored.values).contains(TreeOption.COMPRESSION);
  }

  /** {@return bits of filter that a key costs in the mean; 0 for no filters} */
  public int filterBitsPerKey() {
    return values.get(TreeOption.FILTER_BITS_PER_KEY);
  }

  /** {@return how long entries live; zero for ever} */
  public Duration timeToLive() {
    return values.get(TreeOption.TIME_TO_LIVE);
  }

  /**
   * {@return whether a time to live was set, and another is stored}
   *
   * @param stored what the tree has
   */
  public boolean changesTimeToLive(TreeOptions stored) {
    Objects.requireNonNull(stored, "stored");
    return values.givenUnlike(stored.values).contains(TreeOption.TIME_TO_LIVE);
  }

  /** {@return how many runs each level has} */
  public Runs runs() {
    return values.get(TreeOption.RUNS);
  }

  /**
   * {@return whether runs were set, and others are stored}
   *
   * @param stored what the tree has
   */
  public boolean changesRuns(TreeOptions stored) {
    Objects.requireNonNull(stored, "stored");
    return values.givenUnlike(stored.values).contains(TreeOption.RUNS);
  }

  /** {@return how many times the last level the tree may hold; 0 as the store says} */
  public double maxSpace() {
    return values.get(TreeOption.MAX_SPACE);
  }

  /**
   * {@return whether a space was set, and another is stored}
   *
   * @param stored what the tree has
   */
  public boolean changesMaxSpace(TreeOptions stored) {
    Objects.requireNonNull(stored, "stored");
    return values.givenUnlike(stored.values).contains(TreeOption.MAX_SPACE);
  }

  /**
   * Passes if nothing that is set here is stored otherwise.
   *
   * @param tree its name, for the message
   * @param stored what the tree has
   * @throws IllegalArgumentException if not, with both values of each such option
   */
  public void checkStored(String tree, TreeOptions stored) {
    Objects.requireNonNull(tree, "tree");
    Objects.requireNonNull(stored, "stored");
    List<Option<?>> unlike = new ArrayList<>(values.givenUnlike(stored.values));
    unlike.removeAll(
        List.of(
            TreeOption.TIME_TO_LIVE,
            TreeOption.RUNS,
            TreeOption.MAX_SPACE,
            TreeOption.COMPRESSION));
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
    private @Nullable MergeOperator mergeOperator;

    private Builder(
        OptionValues.Builder values, KeyOrder keyOrder, @Nullable MergeOperator mergeOperator) {
      this.values = values;
      this.keyOrder = keyOrder;
      this.mergeOperator = mergeOperator;
    }

    private <T extends Comparable<T>> Builder set(Option<T> option, T value) {
      values.set(option, value);
      return this;
    }

    /**
     * The order of keys. A store whose trees have an order of your own must be given it each time
     * it is opened ({@link StoreOptions.Builder#keyOrder}). Default {@link KeyOrder#BYTES}.
     *
     * @param order never changes once the tree exists
     * @return this builder
     */
    public Builder keyOrder(KeyOrder order) {
      this.keyOrder = Objects.requireNonNull(order, "keyOrder");
      return set(
          TreeOption.KEY_ORDER, Objects.requireNonNull(order.name(), "the name of a key order"));
    }

    /**
     * How {@code merge} changes values without reading them. A store whose trees have an operator
     * of your own must be given it each time it is opened ({@link
     * StoreOptions.Builder#mergeOperator}). Default: none.
     *
     * @param operator never changes once the tree exists
     * @return this builder
     */
    public Builder mergeOperator(MergeOperator operator) {
      this.mergeOperator = Objects.requireNonNull(operator, "mergeOperator");
      String name = Objects.requireNonNull(operator.name(), "the name of a merge operator");
      if (name.equals(TreeOption.NO_OPERATOR)) {
        throw new IllegalArgumentException("no merge operator can have the name 'none'");
      }
      return set(TreeOption.MERGE_OPERATOR, name);
    }

    /**
     * Says that nothing can be merged into the tree's values, as it is by default.
     *
     * @return this builder
     */
    public Builder noMergeOperator() {
      this.mergeOperator = null;
      return set(TreeOption.MERGE_OPERATOR, TreeOption.NO_OPERATOR);
    }

    /**
     * Whether writes go to the log. The writes of an unlogged tree survive a crash up to the last
     * {@link Store#checkpoint}. Default true.
     *
     * @param value never changes once the tree exists
     * @return this builder
     */
    public Builder logged(boolean value) {
      return set(TreeOption.LOGGED, value);
    }

    /**
     * How pages are stored on disk. Default {@link Compression#NONE}. Can be changed: by {@link
     * Tree#setCompression}, or by opening the tree with another one. That rewrites nothing:
     * SSTables are written like that from then on.
     *
     * @param value by names; whether this program has such codecs is looked at when a tree gets it
     * @return this builder
     */
    public Builder compression(Compression value) {
      return set(TreeOption.COMPRESSION, value);
    }

    /**
     * Bits of filter that a key costs in the mean, 0 to 24; 0 for no filters. Keys in small levels
     * get more than keys in large ones. Default 10: about 2 % of absent keys cost a read.
     *
     * @param bits 0 to 24
     * @return this builder
     */
    public Builder filterBitsPerKey(int bits) {
      return set(TreeOption.FILTER_BITS_PER_KEY, bits);
    }

    /**
     * How long entries live that are put, merged or loaded from now on, counted in milliseconds
     * from that call, by the store's clock; zero, the default, for ever. What is written already
     * keeps its time. An entry that has expired is absent, as if it had been deleted; {@code put}
     * with an {@code Instant} says for one entry when that is. Can be changed: by {@link
     * Tree#setTimeToLive}, or by opening the tree with another one.
     *
     * @param duration zero, or a millisecond to 36,500 days
     * @return this builder
     */
    public Builder timeToLive(Duration duration) {
      return set(TreeOption.TIME_TO_LIVE, duration);
    }

    /**
     * How many sorted runs each level may have. More of them write less, and cost pages of absent
     * keys and of short scans. Default {@link Runs#leveled}. Can be changed: by {@link
     * Tree#setRuns}, or by opening the tree with others. That rewrites nothing: merges go by the
     * new numbers from then on.
     *
     * @param value 1 to {@link Runs#MOST} for each level
     * @return this builder
     */
    public Builder runs(Runs value) {
      return set(TreeOption.RUNS, value);
    }

    /**
     * How many times the size of its last level all levels of the tree may have together, 1.01 to
     * 10; L0 comes on top. 0, the default, for {@link StoreOptions#maxSpace}. Can be changed: by
     * {@link Tree#setMaxSpace}, or by opening the tree with another one.
     *
     * @param times 0, or 1.01 to 10
     * @return this builder
     */
    public Builder maxSpace(double times) {
      return set(TreeOption.MAX_SPACE, times);
    }

    /**
     * {@return the options}
     *
     * @throws IllegalArgumentException naming the option that is out of its range
     */
    public TreeOptions build() {
      return new TreeOptions(this);
    }
  }
}
