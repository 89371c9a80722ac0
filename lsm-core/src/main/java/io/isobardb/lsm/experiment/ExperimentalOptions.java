package io.isobardb.lsm.experiment;

import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Options of a store that are there for experiments: other policies to compare with, and the
 * parameters of the papers. Immutable.
 *
 * <p>The defaults are what measurements have shown to be best. A release may change or remove these
 * options. Sections are those of "Breaking Down Memory Walls in LSM-based Storage Systems".
 */
public final class ExperimentalOptions {
  /** What stands before the name of such an option in properties. */
  public static final String PREFIX = "experiment.";

  private final StoreOptions options;

  private ExperimentalOptions(StoreOptions options) {
    this.options = options;
  }

  /** The options for experiments among those of a store. */
  public static ExperimentalOptions of(StoreOptions options) {
    return new ExperimentalOptions(options);
  }

  /**
   * Sets options for experiments, such as {@code set(builder, e ->
   * e.flushPolicy(FlushPolicy.MIN_LSN))}.
   *
   * @return the builder
   * @throws IllegalArgumentException if an option does not take a value that it gets; of some that
   *     is found by {@link StoreOptions.Builder#build} only
   */
  public static StoreOptions.Builder set(StoreOptions.Builder builder, Consumer<Builder> setting) {
    setting.accept(new Builder(builder));
    return builder;
  }

  private String text(String name) {
    return options.get(PREFIX + name);
  }

  private <E extends Enum<E>> E word(Class<E> type, String name) {
    return Enum.valueOf(type, text(name));
  }

  private int whole(String name) {
    return Integer.parseInt(text(name));
  }

  private long bytes(String name) {
    return Long.parseLong(text(name));
  }

  private double number(String name) {
    return Double.parseDouble(text(name));
  }

  /** Which tree is flushed when the write memory runs short. */
  public FlushPolicy flushPolicy() {
    return word(FlushPolicy.class, "flushPolicy");
  }

  /** How much of a tree a flush takes. */
  public FlushStrategy flushStrategy() {
    return word(FlushStrategy.class, "flushStrategy");
  }

  /** How the SSTables in L0 are kept. */
  public L0Structure l0Structure() {
    return word(L0Structure.class, "l0Structure");
  }

  /** Which SSTable of a disk level is merged down. */
  public MergeSelection mergeSelection() {
    return word(MergeSelection.class, "mergeSelection");
  }

  /** Groups of L0 from which on it is merged down. */
  public int l0StartGroups() {
    return whole("l0StartGroups");
  }

  /** Groups of L0 from which on writers are slowed down. */
  public int l0SlowdownGroups() {
    return whole("l0SlowdownGroups");
  }

  /** Groups of L0 from which on flushes for memory's sake wait for merges. */
  public int l0StopGroups() {
    return whole("l0StopGroups");
  }

  /** Groups of L0 that there may be where nobody reads. */
  public int l0MostGroups() {
    return whole("l0MostGroups");
  }

  /** How many bytes may wait for merges; writers are slowed down from half of that on. */
  public long mergeDebtLimit() {
    return bytes("mergeDebtLimit");
  }

  /** Bytes per second of {@link StoreOptions#ioBandwidth} that nobody is given. */
  public long ioReserve() {
    return bytes("ioReserve");
  }

  /** Bytes per second for flushes and merges of L0, however much clients use. */
  public long ioMinimum() {
    return bytes("ioMinimum");
  }

  /** Processors for merges in memory and deeper merges, however much clients use. */
  public double processorMinimum() {
    return number("processorMinimum");
  }

  /** Lookups, for each entry, that pay for an index over a cached SSTable on disk. */
  public double indexLookups() {
    return number("indexLookups");
  }

  /** By how much what comes from memory must outgrow L1 before that is dropped. */
  public double levelDropFactor() {
    return number("levelDropFactor");
  }

  /** The part of the write memory that is in use when flushes begin. */
  public double flushTrigger() {
    return number("flushTrigger");
  }

  /** Which part of the write memory a page for each tree may take. */
  public double crowdedPart() {
    return number("crowdedPart");
  }

  /** Whether small groups of L0 are merged with each other before they are merged down. */
  public boolean mergesWithinL0() {
    return Boolean.parseBoolean(text("mergesWithinL0"));
  }

  /** Whether small levels get more bits of filter per key than large ones. */
  public boolean filtersByLevel() {
    return Boolean.parseBoolean(text("filtersByLevel"));
  }

  /** Whether trees get other runs while they are used otherwise. */
  public Adaptation adaptation() {
    return word(Adaptation.class, "adaptation");
  }

  /** How many times larger a level is than the one above it; 0 for what suits L0's batches. */
  public int levelSizeRatio() {
    return whole("levelSizeRatio");
  }

  /** How the write memory of a tree is arranged. */
  public MemoryComponent memoryComponent() {
    return word(MemoryComponent.class, "memoryComponent");
  }

  /** How trees come to write memory. */
  public WriteMemoryAllocation writeMemoryAllocation() {
    return word(WriteMemoryAllocation.class, "writeMemoryAllocation");
  }

  /** Among how many trees {@link WriteMemoryAllocation#STATIC} splits the write memory. */
  public int staticTrees() {
    return whole("staticTrees");
  }

  /** At which size a tree's active SSTable is sealed, in bytes; 0 if it follows the memory. */
  public int activeTableSize() {
    return Math.toIntExact(bytes("activeTableSize"));
  }

  /** How large SSTables on disk are, in bytes; 0 if that follows the write memory. */
  public long diskTableSize() {
    return bytes("diskTableSize");
  }

  /** Through how many of the last sizes the line is drawn whose root the memory tuner seeks. */
  public int tunerSamples() {
    return whole("tunerSamples");
  }

  /** Length of a step of the memory tuner without such a line, as a share of the budget. */
  public double tunerFixedStep() {
    return number("tunerFixedStep");
  }

  /** The share of its memory that write memory or cache gives at most in a step. */
  public double tunerMaxStep() {
    return number("tunerMaxStep");
  }

  /** How many times {@link #tunerMaxStep} a step may be after several that lowered the cost. */
  public double tunerBoldness() {
    return number("tunerBoldness");
  }

  /** The memory tuner makes no shorter steps, in bytes. */
  public long tunerMinStep() {
    return bytes("tunerMinStep");
  }

  /** The memory tuner makes no steps that it expects to save a smaller share of the cost. */
  public double tunerMinGain() {
    return number("tunerMinGain");
  }

  /**
   * Sets options that are there for experiments; what is not set stays at its default. {@link
   * StoreOptions.Builder#build} refuses values out of their range.
   */
  public static final class Builder {
    private final StoreOptions.Builder options;

    private Builder(StoreOptions.Builder options) {
      this.options = options;
    }

    private Builder set(String name, Object value) {
      options.set(PREFIX + name, Objects.requireNonNull(value, name).toString());
      return this;
    }

    /**
     * Which tree is flushed when the write memory runs short. When the log does, it is always the
     * one with the oldest writes. Default {@link FlushPolicy#OPTIMAL}: memory goes to the trees
     * that are written to, in proportion, which costs the fewest bytes written.
     */
    public Builder flushPolicy(FlushPolicy policy) {
      return set("flushPolicy", policy);
    }

    /**
     * How much of a tree a flush takes. Default {@link FlushStrategy#ROUND_ROBIN}: slices in turn.
     * When memory runs short, a tree that has less than half of it, less than 8 MiB, and no floor
     * is flushed whole in any case.
     */
    public Builder flushStrategy(FlushStrategy strategy) {
      return set("flushStrategy", strategy);
    }

    /**
     * At which part of the write memory flushes begin, 0.5 to 0.98. Writers are slowed down when a
     * quarter of the rest is in use, too. Default: 0.875. 0.95 is as in the paper.
     */
    public Builder flushTrigger(double part) {
      return set("flushTrigger", part);
    }

    /**
     * Which part of the write memory a page for each tree with entries in memory may take, 0 to
     * 1000. Beyond it first entries of trees lie on the Java heap. Default: 0.125.
     */
    public Builder crowdedPart(double part) {
      return set("crowdedPart", part);
    }

    /** How the SSTables in L0 are kept. Default {@link L0Structure#GREEDY_GROUPED}. */
    public Builder l0Structure(L0Structure structure) {
      return set("l0Structure", structure);
    }

    /**
     * Whether groups of L0 that are small for what they overlap in the next level are merged with
     * each other first. Default: true. The paper has no such merges.
     */
    public Builder mergesWithinL0(boolean on) {
      return set("mergesWithinL0", on);
    }

    /**
     * Whether small levels get more bits of filter per key than large ones, within the mean of
     * {@code filterBitsPerKey}. Default: true.
     */
    public Builder filtersByLevel(boolean on) {
      return set("filtersByLevel", on);
    }

    /** Whether trees get other runs while they are used otherwise. Default: no. */
    public Builder adaptation(Adaptation how) {
      return set("adaptation", how);
    }

    /** See {@link ExperimentalOptions#l0StartGroups}; less than the other two. */
    public Builder l0StartGroups(int groups) {
      return set("l0StartGroups", groups);
    }

    /** See {@link ExperimentalOptions#l0SlowdownGroups}. */
    public Builder l0SlowdownGroups(int groups) {
      return set("l0SlowdownGroups", groups);
    }

    /** See {@link ExperimentalOptions#l0StopGroups}; no less than the other two. */
    public Builder l0StopGroups(int groups) {
      return set("l0StopGroups", groups);
    }

    /** See {@link ExperimentalOptions#l0MostGroups}; no less than the other three. */
    public Builder l0MostGroups(int groups) {
      return set("l0MostGroups", groups);
    }

    /** See {@link ExperimentalOptions#mergeDebtLimit}. */
    public Builder mergeDebtLimit(long bytes) {
      return set("mergeDebtLimit", bytes);
    }

    /**
     * See {@link ExperimentalOptions#ioReserve}; less than {@link StoreOptions#ioBandwidth}.
     * Default 10 MB.
     */
    public Builder ioReserve(long bytesPerSecond) {
      return set("ioReserve", bytesPerSecond);
    }

    /**
     * See {@link ExperimentalOptions#ioMinimum}; at least 1 MB, and no more than {@link
     * StoreOptions#ioBandwidth}. Default: a quarter of that, at most 50 MB.
     */
    public Builder ioMinimum(long bytesPerSecond) {
      return set("ioMinimum", bytesPerSecond);
    }

    /** See {@link ExperimentalOptions#indexLookups}, 0 to 1,000,000. Default 0.25. */
    public Builder indexLookups(double lookups) {
      return set("indexLookups", lookups);
    }

    /** See {@link ExperimentalOptions#processorMinimum}, 0.01 to 1,024. Default 0.25. */
    public Builder processorMinimum(double processors) {
      return set("processorMinimum", processors);
    }

    /**
     * Which SSTable of a disk level that is too large is merged down. Default {@link
     * MergeSelection#GREEDY}.
     */
    public Builder mergeSelection(MergeSelection selection) {
      return set("mergeSelection", selection);
    }

    /**
     * By how much what comes from memory must outgrow a tree's level L1 before that is dropped, 1
     * to 100: f of section 4.1.3. The larger it is, the more steadily levels stay while memory
     * comes and goes. Default: 1.5.
     */
    public Builder levelDropFactor(double factor) {
      return set("levelDropFactor", factor);
    }

    /**
     * How many times larger a level is than the one above it, 2 to 100: T of section 2.1. Default
     * 0: as suits what L0 delivers to the levels at a time, within {@link
     * StoreOptions.Builder#maxSpace}. Levels of {@link Levels.Kind#FIXED} go by 10 then.
     */
    public Builder levelSizeRatio(int ratio) {
      return set("levelSizeRatio", ratio);
    }

    /**
     * How the write memory of a tree is arranged. Default {@link MemoryComponent#PARTITIONED}. All
     * others but {@link MemoryComponent#LEVELED} flush a tree as a whole, whatever the {@link
     * #flushStrategy}.
     */
    public Builder memoryComponent(MemoryComponent component) {
      return set("memoryComponent", component);
    }

    /** How trees come to write memory. Default {@link WriteMemoryAllocation#DYNAMIC}. */
    public Builder writeMemoryAllocation(WriteMemoryAllocation allocation) {
      return set("writeMemoryAllocation", allocation);
    }

    /**
     * Among how many trees {@link WriteMemoryAllocation#STATIC} splits the write memory. Each must
     * come to 8 pages at least. Default 8.
     */
    public Builder staticTrees(int trees) {
      return set("staticTrees", trees);
    }

    /**
     * At which size a tree's active SSTable is sealed, in bytes: from eight pages to a quarter of
     * the write memory or 64 MiB. A larger one is searched and filled through more levels and out
     * of more of the processor's cache. A smaller one makes more runs, which reads have to ask and
     * merges in memory put together. While the memory tuner leaves less than four of them room, it
     * is less. {@link MemoryComponent#MONOLITHIC} components grow beyond it.
     *
     * <p>Default 0: an eighth of the write memory (a sixteenth with Accordion's components), 32 MiB
     * at most. It may grow further while write memory is mostly free.
     */
    public Builder activeTableSize(int bytes) {
      return set("activeTableSize", bytes);
    }

    /**
     * How large SSTables on disk are: 0, or 32 KiB to 1 GiB; at least 16 pages.
     *
     * <p>Default 0: an eighth of the write memory, 256 KiB to 16 MiB. Those that merges write grow
     * with the tree.
     */
    public Builder diskTableSize(long bytes) {
      return set("diskTableSize", bytes);
    }

    /**
     * Through how many of the last sizes of write memory a line is drawn whose root the memory
     * tuner seeks, 2 to 100: K of section 5.4. With more, noise misleads it less, and it sees
     * changes later. Default: 3.
     */
    public Builder tunerSamples(int count) {
      return set("tunerSamples", count);
    }

    /**
     * Length of a step of the memory tuner without such a line, as a share of the budget, 0.001 to
     * 1 (section 5.4). Default: 0.05.
     */
    public Builder tunerFixedStep(double share) {
      return set("tunerFixedStep", share);
    }

    /**
     * The share of its memory that write memory or cache gives at most in a step, 0.001 to 1
     * (section 5.4). Default: 0.1.
     */
    public Builder tunerMaxStep(double share) {
      return set("tunerMaxStep", share);
    }

    /**
     * How many times {@link #tunerMaxStep} a step may be after several in one direction that each
     * lowered the cost, from 1, as in the paper, to as many as come to all of it. Default: 3.
     */
    public Builder tunerBoldness(double times) {
      return set("tunerBoldness", times);
    }

    /**
     * The memory tuner makes no shorter steps, in bytes (section 5.4). Small budgets and regions
     * lower it. Default: 32 MiB.
     */
    public Builder tunerMinStep(long bytes) {
      return set("tunerMinStep", bytes);
    }

    /**
     * The memory tuner makes no steps that it expects to save a smaller share of the cost, 0 to 1
     * (section 5.4). Default: 0.001.
     */
    public Builder tunerMinGain(double share) {
      return set("tunerMinGain", share);
    }
  }
}
