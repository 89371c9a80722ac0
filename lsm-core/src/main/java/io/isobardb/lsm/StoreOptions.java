package io.isobardb.lsm;

import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.option.IoBandwidth;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.option.MergeSchedule;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.Option;
import io.isobardb.lsm.setting.OptionKind;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.setting.OptionValues;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How a store is opened; immutable. All sizes in bytes. Only the page size is stored; all else may
 * differ from one opening to the next.
 *
 * <pre>{@code
 * StoreOptions options =
 *     StoreOptions.builder()
 *         .memoryBudget(256 << 20) // for all trees, writes and reads together
 *         .durability(Durability.SYNC)
 *         .build();
 * Store store = Store.open(Path.of("data"), options);
 * }</pre>
 *
 * <p>docs/options.md lists all options with their defaults and ranges.
 */
public final class StoreOptions {
  private static final int MIN_SHARE_PAGES = 8;

  /** The write memory is this part of the budget at least. */
  private static final int LEAST_WRITE_SHARE = 256;

  private final OptionValues values;
  private final Map<String, KeyOrder> orders;
  private final Map<String, MergeOperator> operators;
  private final @Nullable IoBudget ioBudget;

  private StoreOptions(StoreOptions from, int pageSize) {
    OptionValues.Builder changed = from.values.toBuilder();
    changed.set(StoreOption.PAGE_SIZE, (long) pageSize);
    this.values = changed.build();
    this.orders = from.orders;
    this.operators = from.operators;
    this.ioBudget = from.ioBudget;
  }

  private StoreOptions(Builder builder) {
    this.values = builder.values.build();
    this.orders = Map.copyOf(builder.orders);
    this.operators = Map.copyOf(builder.operators);
    this.ioBudget = builder.ioBudget;
    checkBudget();
    checkWriteMemory();
    checkTuner();
    checkActiveTableSize();
    checkStaticTrees();
    checkL0();
    checkLevels();
    checkBandwidth();
  }

  private void checkLevels() {
    int ratio = values.get(StoreOption.LEVEL_SIZE_RATIO);
    if (levels().kind() == Levels.Kind.OPTIMISED && ratio > 0) {
      throw new IllegalArgumentException(
          "levels=OPTIMISED plans each level's size, so "
              + StoreOption.LEVEL_SIZE_RATIO
              + "="
              + ratio
              + " would do nothing: leave one of them out");
    }
  }

  private void checkL0() {
    int start = values.get(StoreOption.L0_START_GROUPS);
    int slowdown = values.get(StoreOption.L0_SLOWDOWN_GROUPS);
    int stop = values.get(StoreOption.L0_STOP_GROUPS);
    if (start >= slowdown || slowdown > stop) {
      throw new IllegalArgumentException(
          StoreOption.L0_START_GROUPS
              + " must be less than "
              + StoreOption.L0_SLOWDOWN_GROUPS
              + ", and that no more than "
              + StoreOption.L0_STOP_GROUPS
              + ", not "
              + start
              + ", "
              + slowdown
              + " and "
              + stop);
    }
    int most = values.get(StoreOption.L0_MOST_GROUPS);
    if (most < stop) {
      throw new IllegalArgumentException(
          StoreOption.L0_MOST_GROUPS
              + " must be no less than "
              + StoreOption.L0_STOP_GROUPS
              + ", not "
              + most
              + " and "
              + stop);
    }
  }

  private void checkBandwidth() {
    IoBandwidth given = ioBandwidth();
    boolean silk = mergeSchedule().kind() == MergeSchedule.Kind.SILK;
    if (given.kind() == IoBandwidth.Kind.AUTO) {
      if (silk && ioBudget != null) {
        throw new IllegalArgumentException(
            "mergeSchedule SILK needs an ioBandwidth to go by: beside an IoBudget a size, not auto");
      }
      return;
    }
    if (silk && given.kind() == IoBandwidth.Kind.UNLIMITED) {
      throw new IllegalArgumentException(
          "mergeSchedule SILK needs an ioBandwidth to go by: auto or a size, not unlimited");
    }
    long device = given.kind() == IoBandwidth.Kind.GIVEN ? given.bytesPerSecond() : Long.MAX_VALUE;
    long reserve = values.get(StoreOption.IO_RESERVE);
    if (reserve >= device) {
      throw new IllegalArgumentException(
          StoreOption.IO_RESERVE
              + " must be from 0 to less than the ioBandwidth of "
              + device
              + " bytes per second, not "
              + reserve);
    }
    long minimum = values.get(StoreOption.IO_MINIMUM);
    if (minimum > device) {
      throw new IllegalArgumentException(
          StoreOption.IO_MINIMUM
              + " must be from 1MB to the ioBandwidth of "
              + device
              + " bytes per second, not "
              + minimum);
    }
  }

  private void checkBudget() {
    long least = OptionLimits.leastBudget(pageSize());
    if (memoryBudget() < least) {
      throw new IllegalArgumentException(
          "memoryBudget must be at least "
              + least
              + " bytes with pages of "
              + pageSize()
              + ", not "
              + memoryBudget());
    }
  }

  private void checkWriteMemory() {
    long memoryBudget = memoryBudget();
    long writeMemory = writeMemory();
    if (writeMemory < memoryBudget / LEAST_WRITE_SHARE || writeMemory > memoryBudget / 4 * 3) {
      throw new IllegalArgumentException(
          "writeMemory must be between 1/256 and 3/4 of the memory budget of "
              + memoryBudget
              + " bytes, not "
              + writeMemory);
    }
  }

  private void checkTuner() {
    MemoryTunerOptions tuner = memoryTuner();
    if (tuner.writeWeight() + tuner.readWeight() == 0) {
      throw new IllegalArgumentException(
          "memoryTunerWriteWeight and memoryTunerReadWeight must not both be 0");
    }
    if (tuner.writeFloor() > writeMemory()) {
      throw new IllegalArgumentException(
          "memoryTunerWriteFloor must be from 0 to the write memory of "
              + writeMemory()
              + " bytes, not "
              + tuner.writeFloor());
    }
    long cache = memoryBudget() - writeMemory();
    if (tuner.cacheFloor() > cache) {
      throw new IllegalArgumentException(
          "memoryTunerCacheFloor must be from 0 to the "
              + cache
              + " bytes that the budget leaves beside the write memory, not "
              + tuner.cacheFloor());
    }
    double boldness = values.get(StoreOption.TUNER_BOLDNESS);
    double boldest = Math.max(1, 1 / values.get(StoreOption.TUNER_MAX_STEP));
    if (!(boldness <= boldest)) {
      throw new IllegalArgumentException(
          StoreOption.TUNER_BOLDNESS
              + " must be from 1 to "
              + OptionKind.text(boldest)
              + " with this "
              + StoreOption.TUNER_MAX_STEP
              + ", not "
              + OptionKind.text(boldness));
    }
  }

  private void checkActiveTableSize() {
    long size = values.get(StoreOption.ACTIVE_TABLE_SIZE);
    long least = OptionLimits.leastActiveBytes(pageSize());
    long most = OptionLimits.mostActiveBytes(writeMemory());
    if (size != 0 && (size < least || size > most)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s must be 0, or from %d to %d bytes (eight pages to a quarter of the"
                  + " write memory or 64 MiB), not %d",
              StoreOption.ACTIVE_TABLE_SIZE,
              least,
              most,
              size));
    }
  }

  private void checkStaticTrees() {
    int trees = values.get(StoreOption.STATIC_TREES);
    boolean shares =
        values.get(StoreOption.WRITE_MEMORY_ALLOCATION) == WriteMemoryAllocation.STATIC;
    if (shares && writeMemory() / trees < (long) MIN_SHARE_PAGES * pageSize()) {
      throw new IllegalArgumentException(
          StoreOption.STATIC_TREES
              + " must be at least 1, and so few that each has "
              + MIN_SHARE_PAGES
              + " pages of the write memory of "
              + writeMemory()
              + " bytes, not "
              + trees);
    }
  }

  /** {@return the defaults, which {@link Store#open(java.nio.file.Path)} takes} */
  public static StoreOptions defaults() {
    return builder().build();
  }

  /** {@return a builder with the defaults} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return a builder for which the same is set; what was not set still follows from what is} */
  public Builder toBuilder() {
    Builder builder = new Builder(values.toBuilder(), orders, operators);
    builder.ioBudget = ioBudget;
    return builder;
  }

  /**
   * Options from properties whose names begin with {@code prefix}, such as {@code
   * isobar.memoryBudget=256MB}. Sizes take the suffixes KB, MB, GB and TB, durations ms, s, m and
   * h. What options were called and took before is read until 1.0, and one warning logs what to
   * write.
   *
   * @param properties those with other prefixes are passed over
   * @param prefix such as {@code isobar.}; empty for all properties
   * @return the options; what no property says has its default
   * @throws IllegalArgumentException for an unknown name, with the nearest known one, or for a
   *     value that is no string, does not parse or is out of its range
   */
  public static StoreOptions fromProperties(Properties properties, String prefix) {
    Objects.requireNonNull(properties, "properties");
    Objects.requireNonNull(prefix, "prefix");
    Builder builder = builder();
    builder.values.read(properties, prefix);
    return builder.build();
  }

  /**
   * {@return the value of an option by its name, as {@link Builder#set} takes it}
   *
   * @param name as in docs/options.md
   * @throws IllegalArgumentException for an unknown name, with the nearest known one
   */
  public String get(String name) {
    return values.text(Objects.requireNonNull(name, "name"));
  }

  /** {@return all memory the store may hold, in bytes} */
  public long memoryBudget() {
    return values.get(StoreOption.MEMORY_BUDGET);
  }

  /**
   * {@return the part of the budget that writes may take, in bytes; the buffer cache has the rest}
   * With the {@link #memoryTuner}, where it begins.
   */
  public long writeMemory() {
    return values.get(StoreOption.WRITE_MEMORY);
  }

  /**
   * {@return whether and how the store itself divides the memory between writes and buffer cache}
   */
  public MemoryTunerOptions memoryTuner() {
    return new MemoryTunerOptions(values);
  }

  /**
   * {@return the length of log, in bytes, that recovery may have to replay; older writes are
   * flushed}
   */
  public long logLimit() {
    return values.get(StoreOption.LOG_LIMIT);
  }

  /** {@return how many times the size of its last level all levels of a tree may have together} */
  public double maxSpace() {
    return values.get(StoreOption.MAX_SPACE);
  }

  /** {@return how many levels a tree has, and how large they are} */
  public Levels levels() {
    return values.get(StoreOption.LEVELS);
  }

  /** {@return when disk merges run} */
  public MergeSchedule mergeSchedule() {
    return values.get(StoreOption.MERGE_SCHEDULE);
  }

  /** {@return what the device reads and writes in a second} */
  public IoBandwidth ioBandwidth() {
    return values.get(StoreOption.IO_BANDWIDTH);
  }

  /** {@return size of a page, in bytes} */
  public int pageSize() {
    return Math.toIntExact(values.get(StoreOption.PAGE_SIZE));
  }

  /** {@return whether files are read and written past the system's page cache} */
  public IoMode ioMode() {
    return values.get(StoreOption.IO_MODE);
  }

  /** {@return who else may use the files and directories that are made} */
  public FileAccess fileAccess() {
    return values.get(StoreOption.FILE_ACCESS);
  }

  /** {@return what a write gets that does not say} */
  public Durability durability() {
    return values.get(StoreOption.DURABILITY);
  }

  /**
   * {@return the longest time until the sync of an {@link Durability#ASYNC} write begins: what a
   * failure of the machine may take}
   */
  public Duration asyncSyncInterval() {
    return values.get(StoreOption.ASYNC_SYNC_INTERVAL);
  }

  /**
   * {@return how long a write may wait until it has its place in the log; 365 days is for ever} A
   * longer wait is a {@link io.isobardb.lsm.error.WriteStalledException}.
   */
  public Duration writeTimeout() {
    return values.get(StoreOption.WRITE_TIMEOUT);
  }

  /** {@return threads for flushes and merges} */
  public int backgroundThreads() {
    return values.get(StoreOption.BACKGROUND_THREADS);
  }

  /** {@return whether a store is made where there is none} */
  public boolean createIfMissing() {
    return values.get(StoreOption.CREATE_IF_MISSING);
  }

  /**
   * {@return how many files the store keeps open; some that were not read lately are closed, and
   * opened again when they are read}
   */
  public int maxOpenFiles() {
    return values.get(StoreOption.MAX_OPEN_FILES);
  }

  /** {@return how many bytes of SSTables and log files are deleted in a second; 0 for no limit} */
  public long deleteRate() {
    return values.get(StoreOption.DELETE_RATE);
  }

  /** {@return whether the store is closed when the JVM ends in an orderly way} */
  public boolean closeOnExit() {
    return values.get(StoreOption.CLOSE_ON_EXIT);
  }

  /** {@return the key orders that trees may have, by name; byte order is among them} */
  public Map<String, KeyOrder> keyOrders() {
    return orders;
  }

  /**
   * {@return the merge operators that trees may have, by name; the built-in ones are among them}
   */
  public Map<String, MergeOperator> mergeOperators() {
    return operators;
  }

  /**
   * {@return what flushes and merges share with those of other stores; null, the default, for
   * nothing}
   */
  public @Nullable IoBudget ioBudget() {
    return ioBudget;
  }

  /**
   * {@return the same for a store that was made with pages of this size; nothing is checked again}
   *
   * @param pageSize that of the store, in bytes
   */
  public StoreOptions withStoredPageSize(int pageSize) {
    return pageSize == pageSize() ? this : new StoreOptions(this, pageSize);
  }

  /**
   * The options with their values, as they are in force; without key orders, merge operators and
   * the {@link #ioBudget}.
   */
  @Override
  public String toString() {
    return values.toString();
  }

  /** Builds {@link StoreOptions}; what is not set stays at its default. */
  public static final class Builder {
    private final OptionValues.Builder values;
    private final Map<String, KeyOrder> orders;
    private final Map<String, MergeOperator> operators;
    private @Nullable IoBudget ioBudget;

    private Builder() {
      this(
          OptionValues.builder(StoreOption.ALL),
          Map.of(KeyOrder.BYTES.name(), KeyOrder.BYTES),
          Map.of());
      mergeOperator(MergeOperator.ADD_LONG);
      mergeOperator(MergeOperator.MAXIMUM);
      mergeOperator(MergeOperator.APPEND);
    }

    private Builder(
        OptionValues.Builder values,
        Map<String, KeyOrder> orders,
        Map<String, MergeOperator> operators) {
      this.values = values;
      this.orders = new LinkedHashMap<>(orders);
      this.operators = new LinkedHashMap<>(operators);
    }

    private <T extends Comparable<T>> Builder set(Option<T> option, T value) {
      values.set(option, value);
      return this;
    }

    /**
     * All memory the store may hold, at least 4 MiB, and 128 pages of the store. Default: a quarter
     * of the JVM's direct memory limit, at most 1 GiB.
     *
     * @param bytes 4 MiB, and 128 pages, to what the JVM may have; whether it may is looked at when
     *     the store is opened; 0 for the default
     * @return this builder
     */
    public Builder memoryBudget(long bytes) {
      return set(StoreOption.MEMORY_BUDGET, bytes);
    }

    /**
     * The part of the budget for writes, 1/256 to 3/4 of it. Default: half. With the {@link
     * #memoryTuner} this is where it begins, and what a large value or batch can count on in any
     * case. Of a budget of few pages it may be less, so that flushes and reads have theirs too, and
     * it is 16 pages at least.
     *
     * @param bytes 1/256 to 3/4 of the budget; 0 for the default
     * @return this builder
     */
    public Builder writeMemory(long bytes) {
      return set(StoreOption.WRITE_MEMORY, bytes);
    }

    /**
     * Whether the store itself divides its memory between writes and buffer cache, by what is
     * written and read, and goes on from there when it is opened again. Default: on.
     *
     * @param on false to leave the division as {@link #writeMemory} says
     * @return this builder
     */
    public Builder memoryTuner(boolean on) {
      return set(StoreOption.TUNER_ON, on);
    }

    /**
     * How the store divides its memory itself, such as {@code memoryTuner(t -> t.writeWeight(2))}.
     *
     * @param setting sets what it wants on the builder it gets, and need not keep that
     * @return this builder
     */
    public Builder memoryTuner(Consumer<MemoryTunerOptions.Builder> setting) {
      Objects.requireNonNull(setting, "setting").accept(new MemoryTunerOptions.Builder(values));
      return this;
    }

    /**
     * Sets an option by its name, such as {@code set("memoryBudget", "256MB")}. docs/options.md
     * lists all names and what they take.
     *
     * @param name one of those, or of what it was called before
     * @param value sizes with KB, MB, GB or TB, durations with ms, s, m or h, choices by their
     *     names
     * @return this builder
     * @throws IllegalArgumentException for an unknown name, with the nearest known one, or for a
     *     value that does not parse
     */
    public Builder set(String name, String value) {
      values.read("", Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * The length of the log, at least 1 MiB. Default: 2.5 times the write memory, at least 16 MiB.
     *
     * @param bytes at least 1 MiB; 0 for the default
     * @return this builder
     */
    public Builder logLimit(long bytes) {
      return set(StoreOption.LOG_LIMIT, bytes);
    }

    /**
     * How many times the size of its last level all levels of a tree may have together, 1.01 to 10.
     * L0 comes on top. With less, more is merged. Default: 1.25.
     *
     * @param times 1.01 to 10
     * @return this builder
     */
    public Builder maxSpace(double times) {
      return set(StoreOption.MAX_SPACE, times);
    }

    /**
     * How many levels a tree has, and how large they are. Default {@link Levels#dynamic}. {@link
     * Levels#optimised} levels stay within {@link #maxSpace}.
     *
     * @param levels the same for all trees
     * @return this builder
     */
    public Builder levels(Levels levels) {
      return set(StoreOption.LEVELS, levels);
    }

    /**
     * When disk merges run. Default {@link MergeSchedule#ALWAYS}. {@link MergeSchedule#ADAPTIVE}
     * suits writes that come in bursts.
     *
     * @param schedule the same for all trees
     * @return this builder
     */
    public Builder mergeSchedule(MergeSchedule schedule) {
      return set(StoreOption.MERGE_SCHEDULE, schedule);
    }

    /**
     * What the device reads and writes in a second. Flushes and merges get what clients leave of
     * it. Default {@link IoBandwidth#auto}.
     *
     * @param device reads and writes together
     * @return this builder
     */
    public Builder ioBandwidth(IoBandwidth device) {
      return set(StoreOption.IO_BANDWIDTH, device);
    }

    /**
     * A power of two from 4096 to 65536; stored with the store. Default 8192.
     *
     * @param bytes 4096, 8192, 16384, 32768 or 65536; of no matter if the store exists
     * @return this builder
     */
    public Builder pageSize(int bytes) {
      return set(StoreOption.PAGE_SIZE, (long) bytes);
    }

    /**
     * Default {@link IoMode#DIRECT}, where the file system can.
     *
     * @param mode {@link IoMode#BUFFERED} to go through the system's page cache
     * @return this builder
     */
    public Builder ioMode(IoMode mode) {
      return set(StoreOption.IO_MODE, mode);
    }

    /**
     * Who else may use the files and directories made. Default {@link FileAccess#OWNER}.
     *
     * @param access taken when a file is made; those that are there keep theirs
     * @return this builder
     */
    public Builder fileAccess(FileAccess access) {
      return set(StoreOption.FILE_ACCESS, access);
    }

    /**
     * What a write gets that does not say. Default {@link Durability#ASYNC}.
     *
     * @param value for puts, deletes, batches, and transactions that do not say either
     * @return this builder
     */
    public Builder durability(Durability value) {
      return set(StoreOption.DURABILITY, value);
    }

    /**
     * Default 100 ms.
     *
     * @param value zero to an hour
     * @return this builder
     */
    public Builder asyncSyncInterval(Duration value) {
      return set(StoreOption.ASYNC_SYNC_INTERVAL, value);
    }

    /**
     * How long a write may wait for memory, L0 and the log, all together: zero to 365 days, which
     * is for ever. One that would wait longer fails with {@link
     * io.isobardb.lsm.error.WriteStalledException}, and nothing of it is applied. With zero it
     * fails instead of waiting. A wait for a sync is none of these. Batches and transactions may
     * have their own. Default: for ever.
     *
     * @param value zero to 365 days
     * @return this builder
     */
    public Builder writeTimeout(Duration value) {
      return set(StoreOption.WRITE_TIMEOUT, value);
    }

    /**
     * 1 to 256. Default: the number of processors, but at least 2 and at most 8.
     *
     * @param threads 1 to 256
     * @return this builder
     */
    public Builder backgroundThreads(int threads) {
      return set(StoreOption.BACKGROUND_THREADS, threads);
    }

    /**
     * Makes an order known that trees of the store have; byte order is known.
     *
     * @param order must have a name that no other order given has
     * @return this builder
     * @throws IllegalArgumentException if another order has its name
     */
    public Builder keyOrder(KeyOrder order) {
      Objects.requireNonNull(order, "order");
      String name = Objects.requireNonNull(order.name(), "the name of a key order");
      KeyOrder known = orders.putIfAbsent(name, order);
      if (known != null && known != order) {
        throw new IllegalArgumentException("two key orders named '" + name + "'");
      }
      return this;
    }

    /**
     * Makes a merge operator known that trees of the store have; the built-in ones are known.
     *
     * @param operator must have a name that no other operator given has
     * @return this builder
     * @throws IllegalArgumentException if another operator has its name
     */
    public Builder mergeOperator(MergeOperator operator) {
      Objects.requireNonNull(operator, "operator");
      String name = Objects.requireNonNull(operator.name(), "the name of a merge operator");
      MergeOperator known = operators.putIfAbsent(name, operator);
      if (known != null && known != operator) {
        throw new IllegalArgumentException("two merge operators named '" + name + "'");
      }
      return this;
    }

    /**
     * Has flushes and merges keep to a budget that other stores of the process share. With one,
     * {@link IoBandwidth#auto} limits nobody; a bandwidth that is given holds beside it.
     *
     * @param budget given by {@link IoBudget#of}; shared by all stores that are opened with it
     * @return this builder
     */
    public Builder ioBudget(IoBudget budget) {
      ioBudget = Objects.requireNonNull(budget, "budget");
      return this;
    }

    /**
     * Whether to make a store where there is none. Default true.
     *
     * @param value false to fail where there is none: with a {@code FormatException} if the
     *     directory is empty, and an {@link java.io.UncheckedIOException} if it is missing
     * @return this builder
     */
    public Builder createIfMissing(boolean value) {
      return set(StoreOption.CREATE_IF_MISSING, value);
    }

    /**
     * How many files of its directory the store may keep open, 16 to 1,000,000. SSTables that were
     * not read lately are closed, and opened again when they are read. Files that are written to
     * stay open, even beyond the limit. An open file takes about 1 KB of heap.
     *
     * <p>Default 0: a quarter of what the process may still open when the options are made, 16 to
     * 10,000. Raise it if much more SSTables than that are read at random; lower it if the process
     * needs its descriptors elsewhere.
     *
     * @param files 0, or 16 to 1,000,000
     * @return this builder
     */
    public Builder maxOpenFiles(int files) {
      return set(StoreOption.MAX_OPEN_FILES, files);
    }

    /**
     * How many bytes of SSTables and log files are deleted in a second: 0, the default, for no
     * limit, or at least 1 MiB. What is not deleted when the store is closed goes when it is opened
     * again.
     *
     * @param bytesPerSecond 0, or at least 1 MiB
     * @return this builder
     */
    public Builder deleteRate(long bytesPerSecond) {
      return set(StoreOption.DELETE_RATE, bytesPerSecond);
    }

    /**
     * Whether a store that is open when the JVM ends is closed then: after {@code main}, by {@code
     * System.exit}, or by SIGTERM. That holds up the end for 10 seconds at most, all stores
     * together; threads that still use the store get {@code StoreClosedException}. Default true.
     * Set it to false if the program closes its stores itself in a shutdown hook, or uses them in
     * one: hooks run at the same time.
     *
     * @param value false if the program closes its stores itself
     * @return this builder
     */
    public Builder closeOnExit(boolean value) {
      return set(StoreOption.CLOSE_ON_EXIT, value);
    }

    /**
     * {@return the options, checked one by one and against each other}
     *
     * @throws IllegalArgumentException naming the option that is out of its range
     */
    public StoreOptions build() {
      StoreOptions options = new StoreOptions(this);
      List<String> replaced = values.takeReplaced();
      if (!replaced.isEmpty()) {
        System.getLogger(StoreOptions.class.getName())
            .log(
                Level.WARNING,
                "options in words that are read until 1.0 only; write "
                    + String.join(", ", replaced));
      }
      return options;
    }
  }
}
