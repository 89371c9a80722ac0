package io.isobardb.lsm;

import io.isobardb.lsm.component.MemoryComponent;
import io.isobardb.lsm.entry.KeyOrder;
import io.isobardb.lsm.flush.FlushPolicy;
import io.isobardb.lsm.flush.FlushStrategy;
import io.isobardb.lsm.io.DirectoryStorage;
import io.isobardb.lsm.io.IoMode;
import io.isobardb.lsm.merge.LevelingOptions;
import io.isobardb.lsm.merge.MergeSelection;
import io.isobardb.lsm.recovery.OpenOptions;
import io.isobardb.lsm.recovery.Policies;
import io.isobardb.lsm.tuning.MemoryAccount;
import io.isobardb.lsm.version.L0Structure;
import io.isobardb.memory.pool.DirectMemory;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Consumer;

/**
 * How a store is opened; immutable. All sizes in bytes. Only the page size is stored; all else may
 * differ from one opening to the next.
 */
public final class StoreOptions {
  private static final Logger LOG = System.getLogger(StoreOptions.class.getName());

  private static final long MIN_STATIC_LEVELS = 64 << 10;
  private static final int MIN_SHARE_PAGES = 8;
  private static final long MAX_ACTIVE_BYTES = 64 << 20;

  private static final int MIN_OPEN_FILES = 16;
  private static final int MAX_OPEN_FILES = 1_000_000;

  /** Of trees. */
  static final double MAX_WEIGHT = 1e6;

  private static final double MAX_DROP_FACTOR = 100;

  private final long memoryBudget;
  private final long writeMemory;
  private final MemoryTunerOptions memoryTuner;
  private final long logLimit;
  private final FlushPolicy flushPolicy;
  private final FlushStrategy flushStrategy;
  private final L0Structure l0Structure;
  private final MergeSelection mergeSelection;
  private final double levelDropFactor;
  private final long staticLevels;
  private final MemoryComponent memoryComponent;
  private final WriteMemoryAllocation writeMemoryAllocation;
  private final int staticTrees;
  private final int activeTableSize;
  private final int pageSize;
  private final IoMode ioMode;
  private final Durability durability;
  private final Duration asyncSyncInterval;
  private final int backgroundThreads;
  private final boolean createIfMissing;
  private final int maxOpenFiles;
  private final boolean closeOnExit;
  private final Map<String, KeyOrder> orders;

  private StoreOptions(Builder builder) {
    this.memoryBudget = builder.memoryBudget > 0 ? builder.memoryBudget : Builder.defaultBudget();
    this.pageSize = builder.pageSize;
    if (Integer.bitCount(pageSize) != 1 || pageSize < 4096 || pageSize > 65536) {
      throw new IllegalArgumentException(
          "pageSize must be a power of two from 4096 to 65536, not " + pageSize);
    }
    long leastBudget = MemoryAccount.leastBudget(pageSize);
    if (memoryBudget < leastBudget) {
      throw new IllegalArgumentException(
          "memoryBudget must be at least "
              + leastBudget
              + " bytes with pages of "
              + pageSize
              + ", not "
              + memoryBudget);
    }
    this.writeMemory = builder.writeMemory > 0 ? builder.writeMemory : memoryBudget / 2;
    if (writeMemory < memoryBudget / 16 || writeMemory > memoryBudget / 4 * 3) {
      throw new IllegalArgumentException(
          "writeMemory must be between 1/16 and 3/4 of the memory budget of "
              + memoryBudget
              + " bytes, not "
              + writeMemory);
    }
    this.memoryTuner = builder.memoryTuner.build();
    memoryTuner.checkFloors(writeMemory, memoryBudget - writeMemory);
    // The write memory grows no more once log-triggered flushes prevail, at 0.4 of the log limit.
    this.logLimit =
        builder.logLimit > 0 ? builder.logLimit : Math.max(writeMemory * 5 / 2, 16 << 20);
    if (logLimit < 1 << 20) {
      throw new IllegalArgumentException("logLimit must be at least 1 MiB, not " + logLimit);
    }
    this.flushPolicy = builder.flushPolicy;
    this.flushStrategy = builder.flushStrategy;
    this.l0Structure = builder.l0Structure;
    this.mergeSelection = builder.mergeSelection;
    this.levelDropFactor = builder.levelDropFactor;
    if (!(levelDropFactor >= 1 && levelDropFactor <= MAX_DROP_FACTOR)) {
      throw new IllegalArgumentException(
          "levelDropFactor must be from 1 to "
              + (int) MAX_DROP_FACTOR
              + ", not "
              + levelDropFactor);
    }
    this.staticLevels = builder.staticLevels;
    if (staticLevels != 0 && staticLevels < MIN_STATIC_LEVELS) {
      throw new IllegalArgumentException(
          "levels must be DYNAMIC or for a write memory of at least "
              + MIN_STATIC_LEVELS
              + " bytes, not STATIC("
              + staticLevels
              + ")");
    }
    this.memoryComponent = builder.memoryComponent;
    this.writeMemoryAllocation = builder.writeMemoryAllocation;
    this.staticTrees = builder.staticTrees;
    this.activeTableSize = builder.activeTableSize;
    long least = (long) OpenOptions.MIN_WANTED_PAGES * pageSize;
    long most = Math.min(writeMemory / OpenOptions.MIN_ACTIVES, MAX_ACTIVE_BYTES);
    if (activeTableSize != 0 && (activeTableSize < least || activeTableSize > most)) {
      throw new IllegalArgumentException(
          String.format(
              "activeTableSize must be 0, or from %d to %d bytes (eight pages to a quarter of the"
                  + " write memory or 64 MiB), not %d",
              least, most, activeTableSize));
    }
    boolean shares = writeMemoryAllocation == WriteMemoryAllocation.STATIC;
    if (staticTrees < 1
        || (shares && writeMemory / staticTrees < (long) MIN_SHARE_PAGES * pageSize)) {
      throw new IllegalArgumentException(
          "staticTrees must be at least 1, and so few that each has "
              + MIN_SHARE_PAGES
              + " pages of the write memory of "
              + writeMemory
              + " bytes, not "
              + staticTrees);
    }
    this.ioMode = builder.ioMode;
    this.durability = builder.durability;
    this.asyncSyncInterval = builder.asyncSyncInterval;
    if (asyncSyncInterval.isNegative() || asyncSyncInterval.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException(
          "asyncSyncInterval must be between zero and an hour, not " + asyncSyncInterval);
    }
    this.backgroundThreads = builder.backgroundThreads;
    if (backgroundThreads < 1 || backgroundThreads > 256) {
      throw new IllegalArgumentException(
          "backgroundThreads must be 1 to 256, not " + backgroundThreads);
    }
    this.createIfMissing = builder.createIfMissing;
    this.closeOnExit = builder.closeOnExit;
    this.maxOpenFiles =
        builder.maxOpenFiles == 0 ? DirectoryStorage.defaultMaxOpenFiles() : builder.maxOpenFiles;
    if (maxOpenFiles < MIN_OPEN_FILES || maxOpenFiles > MAX_OPEN_FILES) {
      throw new IllegalArgumentException(
          String.format(
              "maxOpenFiles must be 0, or %d to %d, not %d",
              MIN_OPEN_FILES, MAX_OPEN_FILES, maxOpenFiles));
    }
    this.orders = Map.copyOf(builder.orders);
  }

  /** What {@link Store#open(java.nio.file.Path)} takes. */
  public static StoreOptions defaults() {
    return builder().build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /**
   * Options from properties whose names begin with {@code prefix}, such as {@code
   * isobar.memoryBudget=256MB}. Sizes take the suffixes KB, MB and GB, durations ms and s.
   *
   * @throws IllegalArgumentException for an unknown name, with the nearest known one, or for a
   *     value that does not parse or is out of its range
   */
  public static StoreOptions fromProperties(Properties properties, String prefix) {
    Objects.requireNonNull(properties, "properties");
    return OptionProperties.parse(properties, Objects.requireNonNull(prefix, "prefix"));
  }

  /** All memory the store may hold, in bytes. */
  public long memoryBudget() {
    return memoryBudget;
  }

  /**
   * The part of the budget that writes may take, in bytes; the buffer cache has the rest. With the
   * {@link #memoryTuner}, where it begins.
   */
  public long writeMemory() {
    return writeMemory;
  }

  /** Whether and how the store itself divides the memory between writes and buffer cache. */
  public MemoryTunerOptions memoryTuner() {
    return memoryTuner;
  }

  public int activeTableSize() {
    return activeTableSize;
  }

  /** The length of log, in bytes, that recovery may have to replay; older writes are flushed. */
  public long logLimit() {
    return logLimit;
  }

  /** Which tree is flushed when the write memory runs short. */
  public FlushPolicy flushPolicy() {
    return flushPolicy;
  }

  /** How much of a tree a flush takes. */
  public FlushStrategy flushStrategy() {
    return flushStrategy;
  }

  /** Which SSTable of a disk level is merged down. */
  public MergeSelection mergeSelection() {
    return mergeSelection;
  }

  /** By how much a tree's write memory must outgrow L1 before that is dropped. */
  public double levelDropFactor() {
    return levelDropFactor;
  }

  /** How the SSTables in L0 are kept. */
  public L0Structure l0Structure() {
    return l0Structure;
  }

  /** The write memory, in bytes, that a tree's levels are made for; 0 for what it has. */
  public long staticLevels() {
    return staticLevels;
  }

  /** How the write memory of a tree is arranged. */
  public MemoryComponent memoryComponent() {
    return memoryComponent;
  }

  /** How trees come to write memory. */
  public WriteMemoryAllocation writeMemoryAllocation() {
    return writeMemoryAllocation;
  }

  /** Among how many trees {@link WriteMemoryAllocation#STATIC} splits the write memory. */
  public int staticTrees() {
    return staticTrees;
  }

  /** Size of a page, in bytes. */
  public int pageSize() {
    return pageSize;
  }

  public IoMode ioMode() {
    return ioMode;
  }

  /** What a write gets that does not say. */
  public Durability durability() {
    return durability;
  }

  /**
   * The longest time until the sync of an {@link Durability#ASYNC} write begins: what a failure of
   * the machine may take.
   */
  public Duration asyncSyncInterval() {
    return asyncSyncInterval;
  }

  /** Threads for flushes and merges. */
  public int backgroundThreads() {
    return backgroundThreads;
  }

  public boolean createIfMissing() {
    return createIfMissing;
  }

  /**
   * How many files the store keeps open; those that were read longest ago are closed, and opened
   * again when they are read.
   */
  public int maxOpenFiles() {
    return maxOpenFiles;
  }

  /** Whether the store is closed when the JVM ends in an orderly way. */
  public boolean closeOnExit() {
    return closeOnExit;
  }

  /**
   * Passes if the JVM and the system let the store have its budget.
   *
   * @throws IllegalArgumentException if not, with what to change
   */
  static void checkMemory(long memoryBudget) {
    String warning = MemoryLimits.ofProcess().check(memoryBudget);
    if (warning != null) {
      LOG.log(Level.WARNING, warning);
    }
  }

  OpenOptions toOpenOptions() {
    return new OpenOptions(
        memoryBudget,
        writeMemory,
        memoryTuner.toTuning(),
        logLimit,
        new Policies(
            flushPolicy,
            flushStrategy,
            l0Structure,
            mergeSelection,
            levelDropFactor,
            staticLevels,
            memoryComponent,
            writeMemoryAllocation == WriteMemoryAllocation.STATIC ? staticTrees : 0),
        activeTableSize,
        pageSize,
        ioMode,
        Math.max(1, asyncSyncInterval.toNanos()),
        backgroundThreads,
        createIfMissing,
        orders);
  }

  /** The options with their values, as they are in force. */
  @Override
  public String toString() {
    return OptionProperties.text(this);
  }

  /** Builds {@link StoreOptions}; what is not set stays at its default. */
  public static final class Builder {
    private long memoryBudget;
    private long writeMemory;
    private final MemoryTunerOptions.Builder memoryTuner = new MemoryTunerOptions.Builder();
    private long logLimit;
    private FlushPolicy flushPolicy = FlushPolicy.OPTIMAL;
    private FlushStrategy flushStrategy = FlushStrategy.ROUND_ROBIN;
    private L0Structure l0Structure = L0Structure.GREEDY_GROUPED;
    private MergeSelection mergeSelection = MergeSelection.GREEDY;
    private double levelDropFactor = LevelingOptions.DEFAULT.dropFactor();
    private long staticLevels;
    private MemoryComponent memoryComponent = MemoryComponent.PARTITIONED;
    private WriteMemoryAllocation writeMemoryAllocation = WriteMemoryAllocation.DYNAMIC;
    private int staticTrees = 8;
    private int activeTableSize;
    private int pageSize = 8192;
    private IoMode ioMode = IoMode.DIRECT;
    private Durability durability = Durability.ASYNC;
    private Duration asyncSyncInterval = Duration.ofMillis(100);
    private int backgroundThreads =
        Math.max(2, Math.min(8, Runtime.getRuntime().availableProcessors()));
    private boolean createIfMissing = true;
    private int maxOpenFiles;
    private boolean closeOnExit = true;
    private final Map<String, KeyOrder> orders = new LinkedHashMap<>();

    private Builder() {
      orders.put(KeyOrder.BYTES.name(), KeyOrder.BYTES);
    }

    /** A quarter of what direct memory the process may have, and 1 GiB at most. */
    private static long defaultBudget() {
      long direct = DirectMemory.limitBytes();
      return Math.max(MemoryAccount.LEAST_BUDGET, Math.min(direct / 4, 1L << 30));
    }

    /**
     * All memory the store may hold, at least 4 MiB, and 128 pages of the store. Default: a quarter
     * of the JVM's direct memory limit, at most 1 GiB.
     */
    public Builder memoryBudget(long bytes) {
      this.memoryBudget = bytes;
      return this;
    }

    /**
     * The part of the budget for writes, 1/16 to 3/4 of it. Default: half. With the {@link
     * #memoryTuner} this is where it begins, and what a large value or batch can count on in any
     * case. Of a budget of few pages it may be less, so that flushes and reads have theirs too, and
     * it is 16 pages at least.
     */
    public Builder writeMemory(long bytes) {
      this.writeMemory = bytes;
      return this;
    }

    /**
     * Whether the store itself divides its memory between writes and buffer cache, by what is
     * written and read, and goes on from there when it is opened again. Default: on.
     */
    public Builder memoryTuner(boolean on) {
      memoryTuner.on(on);
      return this;
    }

    /**
     * How the store divides its memory itself, such as {@code memoryTuner(t -> t.writeWeight(2))}.
     */
    public Builder memoryTuner(Consumer<MemoryTunerOptions.Builder> setting) {
      Objects.requireNonNull(setting, "setting").accept(memoryTuner);
      return this;
    }

    /** The length of the log, at least 1 MiB. Default: 2.5 times the write memory. */
    public Builder logLimit(long bytes) {
      this.logLimit = bytes;
      return this;
    }

    /**
     * At which size a tree's active SSTable is sealed, in bytes: from eight pages to a quarter of
     * the write memory or 64 MiB. A larger one is searched and filled through more levels and out
     * of more of the processor's cache; a smaller one makes more runs, which reads have to ask and
     * merges in memory put together. While the memory tuner leaves less than four of them room, it
     * is less. {@link MemoryComponent#MONOLITHIC} components grow beyond it.
     *
     * <p>Default 0: an eighth of the write memory (a sixteenth with Accordion's components), 32 MiB
     * at most; while its tree has less than half of the write memory it grows on, to 32 MiB, and
     * beyond as far as reads gain by it while less than half is in use. As long as nothing of the
     * tree is on disk, both go on to three quarters.
     */
    public Builder activeTableSize(int bytes) {
      this.activeTableSize = bytes;
      return this;
    }

    /**
     * Which tree is flushed when the write memory runs short; when the log does, it is always the
     * one with the oldest writes. Default {@link FlushPolicy#OPTIMAL}: memory goes to the trees
     * that are written to, in proportion, which costs the fewest bytes written.
     */
    public Builder flushPolicy(FlushPolicy policy) {
      this.flushPolicy = Objects.requireNonNull(policy, "flushPolicy");
      return this;
    }

    /**
     * How much of a tree a flush takes. Default {@link FlushStrategy#ROUND_ROBIN}, whose slices go
     * round and round. When memory runs short, a tree that has less than half of it, and less than
     * 128 MiB, and no floor, is flushed whole, whatever is said here.
     */
    public Builder flushStrategy(FlushStrategy strategy) {
      this.flushStrategy = Objects.requireNonNull(strategy, "flushStrategy");
      return this;
    }

    /**
     * Which SSTable of a disk level that is too large is merged down. Default {@link
     * MergeSelection#GREEDY}.
     */
    public Builder mergeSelection(MergeSelection selection) {
      this.mergeSelection = Objects.requireNonNull(selection, "mergeSelection");
      return this;
    }

    /**
     * By how much a tree's write memory must outgrow its level L1 before that is dropped, 1 to 100:
     * f of "Breaking Down Memory Walls", section 4.1.3. The larger, the more steadily levels stay
     * while memory comes and goes. Without effect with {@link #staticLevels}. Default: 1.5.
     */
    public Builder levelDropFactor(double factor) {
      this.levelDropFactor = factor;
      return this;
    }

    /** How the SSTables in L0 are kept. Default {@link L0Structure#GREEDY_GROUPED}. */
    public Builder l0Structure(L0Structure structure) {
      this.l0Structure = Objects.requireNonNull(structure, "l0Structure");
      return this;
    }

    /**
     * Makes the levels of each tree for so much write memory, at least 64 KiB, whatever it has.
     * Default 0: their number follows the write memory that a tree has.
     */
    public Builder staticLevels(long writeMemoryBytes) {
      this.staticLevels = writeMemoryBytes;
      return this;
    }

    /**
     * How the write memory of a tree is arranged. Default {@link MemoryComponent#PARTITIONED}; the
     * others flush a tree as a whole, whatever the {@link #flushStrategy}.
     */
    public Builder memoryComponent(MemoryComponent component) {
      this.memoryComponent = Objects.requireNonNull(component, "memoryComponent");
      return this;
    }

    /** How trees come to write memory. Default {@link WriteMemoryAllocation#DYNAMIC}. */
    public Builder writeMemoryAllocation(WriteMemoryAllocation allocation) {
      this.writeMemoryAllocation = Objects.requireNonNull(allocation, "writeMemoryAllocation");
      return this;
    }

    /**
     * Among how many trees {@link WriteMemoryAllocation#STATIC} splits the write memory; each must
     * come to 8 pages at least. Default 8.
     */
    public Builder staticTrees(int trees) {
      this.staticTrees = trees;
      return this;
    }

    /** A power of two from 4096 to 65536; stored with the store. Default 8192. */
    public Builder pageSize(int bytes) {
      this.pageSize = bytes;
      return this;
    }

    /** Default {@link IoMode#DIRECT}, where the file system can. */
    public Builder ioMode(IoMode mode) {
      this.ioMode = Objects.requireNonNull(mode, "ioMode");
      return this;
    }

    /** What a write gets that does not say. Default {@link Durability#ASYNC}. */
    public Builder durability(Durability value) {
      this.durability = Objects.requireNonNull(value, "durability");
      return this;
    }

    /** Default 100 ms. */
    public Builder asyncSyncInterval(Duration value) {
      this.asyncSyncInterval = Objects.requireNonNull(value, "asyncSyncInterval");
      return this;
    }

    /** 1 to 256. Default: the number of processors, but at least 2 and at most 8. */
    public Builder backgroundThreads(int threads) {
      this.backgroundThreads = threads;
      return this;
    }

    /** Makes an order known that trees of the store have; byte order is known. */
    public Builder keyOrder(KeyOrder order) {
      Objects.requireNonNull(order, "order");
      KeyOrder known = orders.putIfAbsent(order.name(), order);
      if (known != null && known != order) {
        throw new IllegalArgumentException("two key orders named '" + order.name() + "'");
      }
      return this;
    }

    /** Whether to make a store where there is none. Default true. */
    public Builder createIfMissing(boolean value) {
      this.createIfMissing = value;
      return this;
    }

    /**
     * How many files of its directory the store may keep open, 16 to 1,000,000. SSTables that were
     * read longest ago are closed, and opened again when they are read. Files that are written to
     * stay open, even beyond the limit. An open file takes about 1 KB of heap.
     *
     * <p>Default 0: a quarter of what the process may still open when the options are made, 16 to
     * 10,000. Raise it if much more SSTables than that are read at random; lower it if the process
     * needs its descriptors elsewhere.
     */
    public Builder maxOpenFiles(int files) {
      this.maxOpenFiles = files;
      return this;
    }

    /**
     * Whether a store that is open when the JVM ends is closed then: after {@code main}, by {@code
     * System.exit}, or by SIGTERM. That holds up the end for 10 seconds at most, all stores
     * together; threads that still use the store get {@code StoreClosedException}. Default true.
     * Set it to false if the program closes its stores itself in a shutdown hook, or uses them in
     * one: hooks run at the same time.
     */
    public Builder closeOnExit(boolean value) {
      this.closeOnExit = value;
      return this;
    }

    /**
     * @throws IllegalArgumentException naming the option that is out of its range
     */
    public StoreOptions build() {
      return new StoreOptions(this);
    }
  }
}
