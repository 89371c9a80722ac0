package io.isobardb.tuner.memory;

/**
 * What the tuner aims at and how boldly it goes; {@link #DEFAULT} has the values of section 5.4.
 *
 * @param writeWeight omega: how much a page written counts, a million at most
 * @param readWeight gamma: how much a page read counts, a million at most
 * @param samples K: through how many of the last memory sizes the line is drawn whose root is
 *     sought
 * @param fixedStep length of a step without such a line, as a share of the budget
 * @param maxStep the cap: the share of its memory that a region gives at most in one step
 * @param boldness how many times the cap a step may be long after several in one direction that
 *     each lowered the cost, so that a split that is far off is mended within ten cycles; 1 as in
 *     the paper
 * @param minStepBytes steps shorter than this are not made; smaller budgets and regions lower it
 * @param minGain steps that are expected to save less than this share of the cost are not made
 * @param writeFloorBytes what write memory keeps at least
 * @param cacheFloorBytes what the buffer cache keeps at least
 * @param floorShare the share of the budget that either region keeps at least
 */
public record TunerOptions(
    double writeWeight,
    double readWeight,
    int samples,
    double fixedStep,
    double maxStep,
    double boldness,
    long minStepBytes,
    double minGain,
    long writeFloorBytes,
    long cacheFloorBytes,
    double floorShare) {

  /** The paper's values, and a 256th of the budget for either region in any case. */
  public static final TunerOptions DEFAULT =
      new TunerOptions(1, 1, 3, 0.05, 0.10, 3, 32L << 20, 0.001, 0, 0, 1.0 / 256);

  /** A step below this share of the budget is too short. */
  private static final double MIN_STEP_OF_BUDGET = 0.0025;

  /** A step below this share of the region that gives is too short. */
  private static final double MIN_STEP_OF_REGION = 0.02;

  /**
   * Checks the numbers.
   *
   * @param writeWeight 0 to a million
   * @param readWeight 0 to a million
   * @param samples 2 or more
   * @param fixedStep 0 to 1
   * @param maxStep 0 to 1
   * @param boldness 1 or more, and times {@code maxStep} 1 or less
   * @param minStepBytes 0 or more
   * @param minGain 0 to 1
   * @param writeFloorBytes 0 or more
   * @param cacheFloorBytes 0 or more
   * @param floorShare 0 to 1
   * @throws IllegalArgumentException if a number is negative or not finite, a share is above 1,
   *     boldness below, or there are fewer than two samples
   */
  public TunerOptions {
    Check.weight("writeWeight", writeWeight);
    Check.weight("readWeight", readWeight);
    Check.notNegative("samples", samples);
    Check.share("fixedStep", fixedStep);
    Check.share("maxStep", maxStep);
    Check.notNegative("minStepBytes", minStepBytes);
    Check.share("minGain", minGain);
    Check.notNegative("writeFloorBytes", writeFloorBytes);
    Check.notNegative("cacheFloorBytes", cacheFloorBytes);
    Check.share("floorShare", floorShare);
    if (!(boldness >= 1 && boldness * maxStep <= 1)) {
      throw new IllegalArgumentException(
          "boldness is " + boldness + "; it must be 1 or more, and times maxStep 1 or less");
    }
    if (samples < 2) {
      throw new IllegalArgumentException("samples is " + samples + "; a line needs 2 at least");
    }
  }

  /**
   * {@return these options with other weights: omega for pages written, gamma for pages read}
   *
   * @param omega 0 to a million
   * @param gamma 0 to a million
   */
  public TunerOptions withWeights(double omega, double gamma) {
    return new TunerOptions(
        omega,
        gamma,
        samples,
        fixedStep,
        maxStep,
        boldness,
        minStepBytes,
        minGain,
        writeFloorBytes,
        cacheFloorBytes,
        floorShare);
  }

  /**
   * {@return these options with other floors, in bytes; the share of the budget holds beside them}
   *
   * @param writeBytes 0 or more
   * @param cacheBytes 0 or more
   */
  public TunerOptions withFloors(long writeBytes, long cacheBytes) {
    return new TunerOptions(
        writeWeight,
        readWeight,
        samples,
        fixedStep,
        maxStep,
        boldness,
        minStepBytes,
        minGain,
        writeBytes,
        cacheBytes,
        floorShare);
  }

  /**
   * {@return these options with other steps: shares of the budget and of the region that gives,
   * boldness}
   *
   * @param fixed share of the budget
   * @param max share of the region that gives
   * @param bold 1 or more
   */
  public TunerOptions withSteps(double fixed, double max, double bold) {
    return new TunerOptions(
        writeWeight,
        readWeight,
        samples,
        fixed,
        max,
        bold,
        minStepBytes,
        minGain,
        writeFloorBytes,
        cacheFloorBytes,
        floorShare);
  }

  /**
   * {@return the least write memory in this cycle, in bytes: the floor, or the share of the budget
   * if that is more} What trees are to keep in memory is a part of the floor, to be weighed by the
   * caller that sets it. Floors that do not fit into the budget are cut in proportion.
   *
   * @param cycle whose budget counts
   */
  public long minWriteBytes(StoreCycle cycle) {
    double write = writeFloor(cycle);
    double both = write + cacheFloor(cycle);
    return (long) (both > cycle.budgetBytes() ? cycle.budgetBytes() * (write / both) : write);
  }

  /**
   * {@return the most write memory in this cycle, in bytes: the cache keeps its floor}
   *
   * @param cycle whose budget counts
   */
  public long maxWriteBytes(StoreCycle cycle) {
    double cache = cacheFloor(cycle);
    long most = (long) Math.max(0, cycle.budgetBytes() - cache);
    return Math.max(minWriteBytes(cycle), most);
  }

  /**
   * The shortest step worth making, in bytes, when a region of {@code givingBytes} gives: 32 MB in
   * the paper, whose budgets are 4 to 20 GB; with less memory a share of the budget, and of the
   * region that gives, or else small regions, whose steps are capped, could never shrink.
   */
  long minStepBytes(StoreCycle cycle, long givingBytes) {
    double scaled =
        Math.min(MIN_STEP_OF_BUDGET * cycle.budgetBytes(), MIN_STEP_OF_REGION * givingBytes);
    return (long) Math.max(1, Math.min(minStepBytes, scaled));
  }

  private double writeFloor(StoreCycle cycle) {
    return Math.max(writeFloorBytes, floorShare * cycle.budgetBytes());
  }

  private double cacheFloor(StoreCycle cycle) {
    return Math.max(cacheFloorBytes, floorShare * cycle.budgetBytes());
  }
}
