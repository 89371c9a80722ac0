package io.isobardb.tuner.memory;

/**
 * One decision of the memory tuner: what was seen, what follows, what is expected of it, and what
 * came of it.
 *
 * @param seen the statistics it rests on
 * @param options the options it was made with
 * @param pressure what was estimated from the statistics
 * @param method how it was come to
 * @param toBytes the write memory there should be from now on
 * @param predictedCost the cost per operation expected for the next cycle
 * @param foundCost the cost the next cycle then had, NaN until known
 * @param after what the tuner keeps in mind
 * @param reason why, in words, on one line
 */
public record Decision(
    StoreCycle seen,
    TunerOptions options,
    Pressure pressure,
    Method method,
    long toBytes,
    double predictedCost,
    double foundCost,
    Progress after,
    String reason) {

  /** {@return where the wall stood, in bytes of write memory} */
  public long fromBytes() {
    return seen.writeMemoryBytes();
  }

  /** {@return by how much write memory grows, in bytes; negative if it shrinks} */
  public long stepBytes() {
    return toBytes - fromBytes();
  }

  /** {@return what the step is expected to save, as a share of the cost; 0 if there was none} */
  public double predictedGain() {
    return pressure.cost() > 0 ? 1 - predictedCost / pressure.cost() : 0;
  }

  /** The decision with what came of it. */
  Decision found(double cost) {
    return new Decision(
        seen, options, pressure, method, toBytes, predictedCost, cost, after, reason);
  }
}
