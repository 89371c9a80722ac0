package io.isobardb.tuner.shape;

/**
 * Chooses what a tree begins with, by what was done to it until it was flushed for the first time.
 * Pure functions; any thread.
 *
 * <p>Nobody knows yet how large the tree will be. So something else than usual is chosen only if it
 * costs less whatever size the tree comes to, and of several the one whose least gain is largest.
 * Writes alone choose nothing: they are mostly a load, and tell nothing of what comes after it.
 */
public final class FirstFill {
  /** The size that is told of. */
  public static final double USUAL_SIZE = 32;

  /** Sizes that the tree may come to, by what memory holds of it. */
  private static final double[] SIZES = {8, USUAL_SIZE, 128, 1024};

  /** What is not usual must save this part of the cost at every size. */
  private static final double LEAST_GAIN = 0.08;

  /** With a smaller part of reads nothing is known of them. */
  private static final double FEW_READS = 0.05;

  /** With fewer operations nothing is known at all. */
  private static final double FEW_OPERATIONS = 512;

  /** What a model says. */
  @FunctionalInterface
  public interface Costs {
    /**
     * {@return what the operations cost with one of the options}
     *
     * @param option from 0
     * @param size the keys of the tree, by those that memory holds
     */
    double of(int option, double size);
  }

  private FirstFill() {}

  /**
   * {@return which option the tree begins with}
   *
   * @param seen what was done to it so far
   * @param options how many there are; the first is what is usual
   * @param costs of the operations seen
   */
  public static int choose(Window seen, int options, Costs costs) {
    double reads = seen.operations() - seen.writes();
    if (seen.operations() < FEW_OPERATIONS || reads < FEW_READS * seen.operations()) {
      return 0;
    }
    int best = 0;
    double most = LEAST_GAIN;
    for (int option = 1; option < options; option++) {
      double gain = leastGain(option, costs);
      if (gain > most) {
        best = option;
        most = gain;
      }
    }
    return best;
  }

  /** The part of the usual cost that an option saves where it saves least. */
  private static double leastGain(int option, Costs costs) {
    double least = 1;
    for (double size : SIZES) {
      least = Math.min(least, 1 - costs.of(option, size) / costs.of(0, size));
    }
    return least;
  }
}
