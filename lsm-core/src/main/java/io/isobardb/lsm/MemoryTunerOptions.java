package io.isobardb.lsm;

import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionGroup;
import io.isobardb.lsm.setting.OptionValues;
import java.time.Duration;

/**
 * How the memory tuner divides a store's memory between writes and buffer cache; immutable. The
 * defaults are made for every workload. Set the weights first, for a device whose writes cost more
 * than its reads, and then the floors.
 *
 * <pre>{@code
 * // Writes take the device twice as long as reads do; the cache keeps 64 MiB in any case.
 * StoreOptions options =
 *     StoreOptions.builder()
 *         .memoryBudget(256 << 20)
 *         .memoryTuner(tuner -> tuner.writeWeight(2).cacheFloor(64 << 20))
 *         .build();
 * }</pre>
 */
public final class MemoryTunerOptions {
  private final OptionValues values;

  MemoryTunerOptions(OptionValues values) {
    this.values = values;
  }

  /** {@return whether the store divides its memory itself} */
  public boolean on() {
    return values.get(StoreOption.TUNER_ON);
  }

  /** {@return how often the tuner decides while little is written} */
  public Duration interval() {
    return values.get(StoreOption.TUNER_INTERVAL);
  }

  /** {@return what a page written costs} */
  public double writeWeight() {
    return values.get(StoreOption.TUNER_WRITE_WEIGHT);
  }

  /** {@return what a page read costs} */
  public double readWeight() {
    return values.get(StoreOption.TUNER_READ_WEIGHT);
  }

  /**
   * {@return the least write memory that the tuner leaves, in bytes; 0 for what the store needs}
   */
  public long writeFloor() {
    return values.get(StoreOption.TUNER_WRITE_FLOOR);
  }

  /** {@return the least cache that the tuner leaves, in bytes; 0 for what the store needs} */
  public long cacheFloor() {
    return values.get(StoreOption.TUNER_CACHE_FLOOR);
  }

  /** As {@link StoreOptions#fromProperties} takes them. */
  @Override
  public String toString() {
    return values.text(option -> option.group() == OptionGroup.TUNER);
  }

  /**
   * Sets the options of the memory tuner; what is not set stays at its default. Values out of their
   * range are refused by {@link StoreOptions.Builder#build}. Sections are those of "Breaking Down
   * Memory Walls in LSM-based Storage Systems".
   */
  public static final class Builder {
    private final OptionValues.Builder values;

    Builder(OptionValues.Builder values) {
      this.values = values;
    }

    private <T extends Comparable<T>> Builder set(Option<T> option, T value) {
      values.set(option, value);
      return this;
    }

    /**
     * Whether the store divides its memory itself. Default: on.
     *
     * @param value false to leave the division as it was opened
     * @return this builder
     */
    public Builder on(boolean value) {
      return set(StoreOption.TUNER_ON, value);
    }

    /**
     * How often the tuner decides while little is written, a second to a day; while much is, it
     * decides each time that twice the budget was written, or the log limit if that is more.
     * Default: a minute.
     *
     * @param value a second to a day
     * @return this builder
     */
    public Builder interval(Duration value) {
      return set(StoreOption.TUNER_INTERVAL, value);
    }

    /**
     * What a page that flushes and merges write costs, 0 to 1,000,000: omega of section 5.1. Only
     * its ratio to {@link #readWeight} counts; 2 for a device whose writes take twice what its
     * reads do. Default: 1.
     *
     * @param weight 0 to 1,000,000
     * @return this builder
     */
    public Builder writeWeight(double weight) {
      return set(StoreOption.TUNER_WRITE_WEIGHT, weight);
    }

    /**
     * What a page read costs, 0 to 1,000,000: gamma there. Default: 1.
     *
     * @param weight 0 to 1,000,000
     * @return this builder
     */
    public Builder readWeight(double weight) {
      return set(StoreOption.TUNER_READ_WEIGHT, weight);
    }

    /**
     * The least write memory that the tuner leaves, in bytes, at most {@link
     * StoreOptions#writeMemory}. If the budget is changed it is changed in proportion. Default 0:
     * what the store needs.
     *
     * @param bytes 0, or up to the write memory
     * @return this builder
     */
    public Builder writeFloor(long bytes) {
      return set(StoreOption.TUNER_WRITE_FLOOR, bytes);
    }

    /**
     * The least buffer cache that the tuner leaves, in bytes, at most what the budget leaves beside
     * {@link StoreOptions#writeMemory}; some of that is used otherwise. If the budget is changed it
     * is changed in proportion. Default 0: what the store needs.
     *
     * @param bytes 0, or up to what is beside the write memory
     * @return this builder
     */
    public Builder cacheFloor(long bytes) {
      return set(StoreOption.TUNER_CACHE_FLOOR, bytes);
    }
  }
}
