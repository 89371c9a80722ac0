package io.isobardb.lsm.dataset;

import io.isobardb.lsm.TreeOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What a dataset is opened with; immutable.
 *
 * @param primary how the primary tree is made, if it is not there; an index is made like it in all
 *     but the key order and the time to live, since its entries expire with their records
 * @param indexes all indexes the dataset has, each name once
 * @param changeTimeout how long creating or dropping an index waits for the transactions that have
 *     written to the dataset before; default 30 seconds
 * @param progress is told of indexes that are built while the dataset is opened
 * @param updateIndexes whether opening makes the stored indexes those given, or refuses others
 */
public record DatasetOptions(
    TreeOptions primary,
    List<Index> indexes,
    Duration changeTimeout,
    BuildProgress progress,
    boolean updateIndexes) {
  /**
   * Checks the timeout, and copies the list.
   *
   * @param primary of the tree that holds the records
   * @param indexes all of them
   * @param changeTimeout zero to 365 days
   * @param progress is told how far the building of an index has come
   * @param updateIndexes whether opening makes the stored indexes those given
   */
  public DatasetOptions {
    Objects.requireNonNull(primary, "primary");
    Objects.requireNonNull(progress, "progress");
    Objects.requireNonNull(changeTimeout, "changeTimeout");
    indexes = List.copyOf(Objects.requireNonNull(indexes, "indexes"));
    if (changeTimeout.isNegative() || changeTimeout.compareTo(Duration.ofDays(365)) > 0) {
      throw new IllegalArgumentException(
          "changeTimeout must be zero to 365 days, not " + changeTimeout);
    }
    Map<String, Index> names = new LinkedHashMap<>();
    for (Index index : indexes) {
      if (names.put(index.name(), index) != null) {
        throw new IllegalArgumentException("index '" + index.name() + "' is defined twice");
      }
    }
  }

  /** {@return no indexes, and a primary tree with default options} */
  public static DatasetOptions defaults() {
    return builder().build();
  }

  /**
   * Begins with no indexes, and with what is said of each option.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects options; what is not set has its default. Thread rule: one thread at a time. */
  public static final class Builder {
    private final List<Index> indexes = new ArrayList<>();
    private TreeOptions primary = TreeOptions.defaults();
    private Duration changeTimeout = Duration.ofSeconds(30);
    private BuildProgress progress = BuildProgress.NONE;
    private boolean updateIndexes;

    private Builder() {}

    /**
     * Sets the options of the tree that holds the records, if it is missing.
     *
     * @param value the new value
     * @return this
     */
    public Builder primary(TreeOptions value) {
      primary = Objects.requireNonNull(value, "primary");
      return this;
    }

    /**
     * Adds an index.
     *
     * @param value the new value
     * @return this
     */
    public Builder index(Index value) {
      indexes.add(Objects.requireNonNull(value, "index"));
      return this;
    }

    /**
     * Sets how long creating or dropping an index waits for transactions that wrote before.
     *
     * @param value the new value
     * @return this
     */
    public Builder changeTimeout(Duration value) {
      changeTimeout = Objects.requireNonNull(value, "changeTimeout");
      return this;
    }

    /**
     * Sets who is told how far the building of an index has come.
     *
     * @param value the new value
     * @return this
     */
    public Builder progress(BuildProgress value) {
      progress = Objects.requireNonNull(value, "progress");
      return this;
    }

    /**
     * Sets what opening does if the dataset was made with other indexes. By default it is refused.
     * With this, opening builds indexes that are missing or were made in another way, such as with
     * another version, and drops those that are not given. Nobody uses the dataset meanwhile;
     * {@link Dataset#createIndex} builds one beside writers.
     *
     * <p>If an index can't be built, opening fails, and those that are not given stay. A crash in
     * between is no harm: the next opening goes on. Programs that open a dataset in turns must
     * agree on its indexes, or each builds them anew.
     *
     * @param value default false
     * @return this
     */
    public Builder updateIndexes(boolean value) {
      updateIndexes = value;
      return this;
    }

    /**
     * {@return the options}
     *
     * @throws IllegalArgumentException if two indexes have one name, or the timeout is out of range
     */
    public DatasetOptions build() {
      return new DatasetOptions(primary, indexes, changeTimeout, progress, updateIndexes);
    }
  }
}
