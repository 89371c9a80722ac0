package io.isobardb.lsm;

import io.isobardb.lsm.tuning.Tuning;
import io.isobardb.tuner.memory.TunerOptions;
import java.time.Duration;
import java.util.Objects;

/**
 * How the memory tuner divides a store's memory between writes and buffer cache; immutable. The
 * defaults are made for every workload: what one sets first are the weights, for a device whose
 * writes cost more than its reads, and the floors.
 */
public final class MemoryTunerOptions {
  private static final double MAX_WEIGHT = 1e6;
  private static final int MAX_SAMPLES = 100;
  private static final double MIN_STEP = 0.001;

  private final boolean on;
  private final Duration interval;
  private final double writeWeight;
  private final double readWeight;
  private final long writeFloor;
  private final long cacheFloor;
  private final int samples;
  private final double fixedStep;
  private final double maxStep;
  private final double boldness;
  private final long minStep;
  private final double minGain;

  private MemoryTunerOptions(Builder builder) {
    this.on = builder.on;
    this.interval = Objects.requireNonNull(builder.interval, "interval");
    if (interval.compareTo(Duration.ofSeconds(1)) < 0
        || interval.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(
          "memoryTunerInterval must be between a second and a day, not " + interval);
    }
    this.writeWeight = within("WriteWeight", builder.writeWeight, 0, MAX_WEIGHT);
    this.readWeight = within("ReadWeight", builder.readWeight, 0, MAX_WEIGHT);
    if (writeWeight + readWeight == 0) {
      throw new IllegalArgumentException(
          "memoryTunerWriteWeight and memoryTunerReadWeight must not both be 0");
    }
    this.writeFloor = builder.writeFloor;
    this.cacheFloor = builder.cacheFloor;
    this.samples = (int) within("Samples", builder.samples, 2, MAX_SAMPLES);
    this.fixedStep = within("FixedStep", builder.fixedStep, MIN_STEP, 1);
    this.maxStep = within("MaxStep", builder.maxStep, MIN_STEP, 1);
    this.boldness = within("Boldness", builder.boldness, 1, Math.max(1, 1 / maxStep));
    this.minStep = builder.minStep;
    if (minStep < 0) {
      throw new IllegalArgumentException("memoryTunerMinStep must not be negative: " + minStep);
    }
    this.minGain = within("MinGain", builder.minGain, 0, 1);
  }

  /** Whether the store divides its memory itself. */
  public boolean on() {
    return on;
  }

  /** How often the tuner decides while little is written. */
  public Duration interval() {
    return interval;
  }

  /** What a page written costs. */
  public double writeWeight() {
    return writeWeight;
  }

  /** What a page read costs. */
  public double readWeight() {
    return readWeight;
  }

  /** The least write memory that the tuner leaves, in bytes; 0 for what the store needs. */
  public long writeFloor() {
    return writeFloor;
  }

  /** The least cache that the tuner leaves, in bytes; 0 for what the store needs. */
  public long cacheFloor() {
    return cacheFloor;
  }

  /** Through how many of the last sizes the line is drawn whose root the tuner seeks. */
  public int samples() {
    return samples;
  }

  /** Length of a step without such a line, as a share of the budget. */
  public double fixedStep() {
    return fixedStep;
  }

  /** The share of its memory that write memory or cache gives at most in a step. */
  public double maxStep() {
    return maxStep;
  }

  /** How many times {@link #maxStep} a step may be after several that lowered the cost. */
  public double boldness() {
    return boldness;
  }

  /** Shorter steps are not made, in bytes. */
  public long minStep() {
    return minStep;
  }

  /** Steps expected to save a smaller share of the cost are not made. */
  public double minGain() {
    return minGain;
  }

  /**
   * Passes if the floors leave where the tuner begins.
   *
   * @throws IllegalArgumentException naming the floor that does not
   */
  void checkFloors(long writeMemory, long cache) {
    if (writeFloor < 0 || writeFloor > writeMemory) {
      throw new IllegalArgumentException(
          "memoryTunerWriteFloor must be from 0 to the write memory of "
              + writeMemory
              + " bytes, not "
              + writeFloor);
    }
    if (cacheFloor < 0 || cacheFloor > cache) {
      throw new IllegalArgumentException(
          "memoryTunerCacheFloor must be from 0 to the "
              + cache
              + " bytes that the budget leaves beside the write memory, not "
              + cacheFloor);
    }
  }

  Tuning toTuning() {
    return new Tuning(
        on,
        interval.toNanos(),
        new TunerOptions(
            writeWeight,
            readWeight,
            samples,
            fixedStep,
            maxStep,
            boldness,
            minStep,
            minGain,
            writeFloor,
            cacheFloor,
            TunerOptions.DEFAULT.floorShare()));
  }

  private static double within(String option, double value, double least, double most) {
    if (value >= least && value <= most) {
      return value;
    }
    throw new IllegalArgumentException(
        "memoryTuner"
            + option
            + " must be from "
            + text(least)
            + " to "
            + text(most)
            + ", not "
            + text(value));
  }

  private static String text(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  /** As {@link StoreOptions#fromProperties} takes them. */
  @Override
  public String toString() {
    return "memoryTuner="
        + (on ? "on" : "off")
        + " memoryTunerInterval="
        + Sizes.text(interval)
        + " memoryTunerWriteWeight="
        + writeWeight
        + " memoryTunerReadWeight="
        + readWeight
        + " memoryTunerWriteFloor="
        + writeFloor
        + " memoryTunerCacheFloor="
        + cacheFloor
        + " memoryTunerSamples="
        + samples
        + " memoryTunerFixedStep="
        + fixedStep
        + " memoryTunerMaxStep="
        + maxStep
        + " memoryTunerBoldness="
        + boldness
        + " memoryTunerMinStep="
        + minStep
        + " memoryTunerMinGain="
        + minGain;
  }

  /**
   * Sets the options of the memory tuner; what is not set stays at its default. Values out of their
   * range are refused by {@link StoreOptions.Builder#build}. Sections are those of "Breaking Down
   * Memory Walls in LSM-based Storage Systems".
   */
  public static final class Builder {
    private boolean on = true;
    private Duration interval = Duration.ofMinutes(1);
    private double writeWeight = TunerOptions.DEFAULT.writeWeight();
    private double readWeight = TunerOptions.DEFAULT.readWeight();
    private long writeFloor = TunerOptions.DEFAULT.writeFloorBytes();
    private long cacheFloor = TunerOptions.DEFAULT.cacheFloorBytes();
    private int samples = TunerOptions.DEFAULT.samples();
    private double fixedStep = TunerOptions.DEFAULT.fixedStep();
    private double maxStep = TunerOptions.DEFAULT.maxStep();
    private double boldness = TunerOptions.DEFAULT.boldness();
    private long minStep = TunerOptions.DEFAULT.minStepBytes();
    private double minGain = TunerOptions.DEFAULT.minGain();

    Builder() {}

    /** Whether the store divides its memory itself. Default: on. */
    public Builder on(boolean value) {
      this.on = value;
      return this;
    }

    /**
     * How often the tuner decides while little is written, a second to a day; while much is, it
     * decides each time that twice the budget was written, or the log limit if that is more.
     * Default: a minute.
     */
    public Builder interval(Duration value) {
      this.interval = Objects.requireNonNull(value, "interval");
      return this;
    }

    /**
     * What a page that flushes and merges write costs, 0 to 1,000,000: omega of section 5.1. Only
     * its ratio to {@link #readWeight} counts; 2 for a device whose writes take twice what its
     * reads do. Default: 1.
     */
    public Builder writeWeight(double weight) {
      this.writeWeight = weight;
      return this;
    }

    /** What a page read costs, 0 to 1,000,000: gamma there. Default: 1. */
    public Builder readWeight(double weight) {
      this.readWeight = weight;
      return this;
    }

    /**
     * The least write memory that the tuner leaves, in bytes, at most {@link
     * StoreOptions#writeMemory}. If the budget is changed it is changed in proportion. Default 0:
     * what the store needs.
     */
    public Builder writeFloor(long bytes) {
      this.writeFloor = bytes;
      return this;
    }

    /**
     * The least buffer cache that the tuner leaves, in bytes, at most what the budget leaves beside
     * {@link StoreOptions#writeMemory}; some of that is used otherwise. If the budget is changed it
     * is changed in proportion. Default 0: what the store needs.
     */
    public Builder cacheFloor(long bytes) {
      this.cacheFloor = bytes;
      return this;
    }

    /**
     * Through how many of the last sizes of write memory a line is drawn whose root the tuner
     * seeks, 2 to 100: K of section 5.4. The more, the less it is misled by noise, and the later it
     * sees a change. Default: 3.
     */
    public Builder samples(int count) {
      this.samples = count;
      return this;
    }

    /**
     * Length of a step without such a line, as a share of the budget, 0.001 to 1 (5.4). Default:
     * 0.05.
     */
    public Builder fixedStep(double share) {
      this.fixedStep = share;
      return this;
    }

    /**
     * The share of its memory that write memory or cache gives at most in a step, 0.001 to 1 (5.4).
     * Default: 0.1.
     */
    public Builder maxStep(double share) {
      this.maxStep = share;
      return this;
    }

    /**
     * How many times {@link #maxStep} a step may be after several in one direction that each
     * lowered the cost, 1 to as many as come to all of it: 1 as in the paper. Default: 3.
     */
    public Builder boldness(double times) {
      this.boldness = times;
      return this;
    }

    /**
     * Shorter steps are not made, in bytes (5.4); it is lower where budget and regions are small.
     * Default: 32 MiB.
     */
    public Builder minStep(long bytes) {
      this.minStep = bytes;
      return this;
    }

    /** Steps expected to save a smaller share of the cost are not made (5.4). Default: 0.001. */
    public Builder minGain(double share) {
      this.minGain = share;
      return this;
    }

    MemoryTunerOptions build() {
      return new MemoryTunerOptions(this);
    }
  }
}
