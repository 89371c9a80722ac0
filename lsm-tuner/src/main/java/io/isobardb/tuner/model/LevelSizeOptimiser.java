package io.isobardb.tuner.model;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds the level sizes that cost least, within bounds (section 6 of the paper, which leaves space
 * out). Deterministic: a pattern search on the logarithms of the sizes, from sizes that grow by one
 * ratio. A bound on space is kept by charging for it, at the lowest price that keeps it.
 */
public final class LevelSizeOptimiser {
  private static final double FIRST_STEP = 0.5;
  private static final double LAST_STEP = 1e-4;

  /** Neighbouring levels differ at least by this, as a logarithm. */
  private static final double LEAST_GAP = 0.05;

  private static final int PRICE_STEPS = 30;
  private static final double FIRST_PRICE = 1;
  private static final double MAX_PRICE = 1e9;

  private final ToDoubleFunction<double[]> cost;
  private final LevelBounds bounds;

  /**
   * @param cost of level sizes from the first level to the last; infinite for what is not allowed
   * @param bounds what may be chosen
   */
  public LevelSizeOptimiser(ToDoubleFunction<double[]> cost, LevelBounds bounds) {
    this.cost = cost;
    this.bounds = bounds;
  }

  /**
   * Level sizes and what they cost.
   *
   * @param levelEntries from the first level to the last
   */
  public record Plan(double[] levelEntries, double cost) {
    /**
     * Copies the array.
     *
     * @param levelEntries from L1 on
     * @param cost entries written for each entry put
     */
    public Plan {
      levelEntries = levelEntries.clone();
    }

    /** {@return a copy of the sizes, from L1 on} */
    @Override
    public double[] levelEntries() {
      return levelEntries.clone();
    }

    /** {@return entries in all levels for each entry of the last one} */
    public double space() {
      return Arrays.stream(levelEntries).sum() / levelEntries[levelEntries.length - 1];
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Plan that
          && cost == that.cost
          && Arrays.equals(levelEntries, that.levelEntries);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(levelEntries) * 31 + Double.hashCode(cost);
    }

    @Override
    public String toString() {
      return "Plan[levelEntries=" + Arrays.toString(levelEntries) + ", cost=" + cost + "]";
    }
  }

  /**
   * {@return the cheapest sizes for any allowed number of levels}
   *
   * @throws IllegalArgumentException if nothing is allowed
   */
  public Plan optimise() {
    Plan best = null;
    for (int levels = bounds.leastLevels(); levels <= bounds.mostLevels(); levels++) {
      Plan plan = optimise(levels);
      if (plan != null && plan.cost() < Double.POSITIVE_INFINITY) {
        best = best == null || plan.cost() < best.cost() ? plan : best;
      }
    }
    if (best == null) {
      throw new IllegalArgumentException("no level sizes are within the bounds: " + bounds);
    }
    return best;
  }

  /** Null if so many levels do not fit. */
  private @Nullable Plan optimise(int levels) {
    double[] start = start(levels);
    if (start == null) {
      return null;
    }
    double[] free = search(start, 0);
    if (space(free) <= bounds.mostSpace()) {
      return plan(free);
    }
    double low = 0;
    double high = FIRST_PRICE;
    double[] best = search(free, high);
    while (space(best) > bounds.mostSpace()) {
      low = high;
      high *= 10;
      if (high > MAX_PRICE) {
        return null;
      }
      best = search(best, high);
    }
    for (int i = 0; i < PRICE_STEPS; i++) {
      double price = low == 0 ? high / 2 : Math.sqrt(low * high);
      double[] sizes = search(best, price);
      if (space(sizes) <= bounds.mostSpace()) {
        high = price;
        best = sizes;
      } else {
        low = price;
      }
    }
    return plan(best);
  }

  /** Logarithms of sizes that grow by one ratio to the last level; null if they don't fit. */
  private double @Nullable [] start(int levels) {
    double least = StrictMath.log(bounds.leastFirst());
    double most = StrictMath.log(bounds.keys());
    if (most - least < LEAST_GAP * (levels - 1)) {
      return null;
    }
    double[] logs = new double[levels - 1];
    for (int i = 0; i < logs.length; i++) {
      logs[i] = least + (most - least) * (i + 1) / (levels + 0.0);
    }
    return logs;
  }

  private double[] search(double[] from, double price) {
    double[] base = from.clone();
    double atBase = charged(base, price);
    for (double step = FIRST_STEP; step >= LAST_STEP; ) {
      double[] next = base.clone();
      double atNext = explore(next, atBase, step, price);
      if (atNext >= atBase) {
        step /= 2;
        continue;
      }
      // Goes on in the direction that helped, as long as it does.
      while (atNext < atBase) {
        double[] further = next.clone();
        for (int i = 0; i < further.length; i++) {
          further[i] += next[i] - base[i];
        }
        base = next;
        atBase = atNext;
        double atFurther = explore(further, charged(further, price), step, price);
        next = further;
        atNext = atFurther;
      }
    }
    return base;
  }

  /** Tries a step both ways in each coordinate; gives the cost at where {@code logs} ends. */
  private double explore(double[] logs, double at, double step, double price) {
    double best = at;
    for (int i = 0; i < logs.length; i++) {
      double middle = logs[i];
      for (double tried : new double[] {middle + step, middle - step}) {
        logs[i] = tried;
        double cost = charged(logs, price);
        if (cost < best) {
          best = cost;
          break;
        }
        logs[i] = middle;
      }
    }
    return best;
  }

  private double charged(double[] logs, double price) {
    double below = StrictMath.log(bounds.leastFirst()) - LEAST_GAP;
    for (double log : logs) {
      if (log < below + LEAST_GAP) {
        return Double.POSITIVE_INFINITY;
      }
      below = log;
    }
    if (logs.length > 0 && below > StrictMath.log(bounds.keys()) - LEAST_GAP) {
      return Double.POSITIVE_INFINITY;
    }
    return cost.applyAsDouble(sizes(logs)) + price * space(logs);
  }

  private Plan plan(double[] logs) {
    double[] sizes = sizes(logs);
    return new Plan(sizes, cost.applyAsDouble(sizes));
  }

  private double[] sizes(double[] logs) {
    double[] sizes = Arrays.copyOf(logs, logs.length + 1);
    for (int i = 0; i < logs.length; i++) {
      sizes[i] = StrictMath.exp(logs[i]);
    }
    sizes[logs.length] = bounds.keys();
    return sizes;
  }

  private double space(double[] logs) {
    return Arrays.stream(sizes(logs)).sum() / bounds.keys();
  }
}
