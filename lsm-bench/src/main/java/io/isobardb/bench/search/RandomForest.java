package io.isobardb.bench.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Regression trees, each on a sample of the values. Their mean is the prediction; how much they
 * disagree is what is not known. Breiman, "Random Forests" (2001); with the disagreement as in
 * Hutter, Hoos and Leyton-Brown, "Sequential Model-Based Optimization" (2011).
 */
final class RandomForest implements Model {
  private static final int TREES = 60;
  private static final int LEAST_TO_SPLIT = 4;

  /** The part of the coordinates among which a split is sought. */
  private static final double SOUGHT = 5.0 / 6;

  private final List<Node> trees = new ArrayList<>();

  /** A leaf, or a split with two nodes below it. */
  private record Node(
      int coordinate, double border, double mean, @Nullable Node low, @Nullable Node high) {
    double at(double[] point) {
      if (low == null || high == null) {
        return mean;
      }
      return (point[coordinate] < border ? low : high).at(point);
    }
  }

  /** Learns from at least one point. */
  RandomForest(double[][] points, double[] values, SplittableRandom random) {
    for (int tree = 0; tree < TREES; tree++) {
      int[] sample = random.ints(points.length, 0, points.length).toArray();
      trees.add(grow(points, values, sample, random));
    }
  }

  private static Node grow(
      double[][] points, double[] values, int[] sample, SplittableRandom random) {
    double mean = Arrays.stream(sample).mapToDouble(i -> values[i]).average().orElse(0);
    if (sample.length < LEAST_TO_SPLIT) {
      return new Node(0, 0, mean, null, null);
    }
    int dimensions = points[0].length;
    int[] order = random.ints(0, dimensions).distinct().limit(dimensions).toArray();
    int sought = Math.max(1, (int) Math.ceil(SOUGHT * dimensions));
    int coordinate = -1;
    double border = 0;
    double least = spread(values, sample, 0, sample.length) - 1e-12;
    for (int o = 0; o < sought; o++) {
      int c = order[o];
      int[] sorted = sorted(points, sample, c);
      for (int cut = 1; cut < sorted.length; cut++) {
        double below = points[sorted[cut - 1]][c];
        double above = points[sorted[cut]][c];
        double both = spread(values, sorted, 0, cut) + spread(values, sorted, cut, sorted.length);
        if (below < above && both < least) {
          least = both;
          coordinate = c;
          // Anywhere between them: else all trees would have their steps at the same places.
          border = below + (above - below) * (random.nextDouble() * 0.999 + 0.001);
        }
      }
    }
    if (coordinate < 0) {
      return new Node(0, 0, mean, null, null);
    }
    int by = coordinate;
    double at = border;
    int[] low = Arrays.stream(sample).filter(i -> points[i][by] < at).toArray();
    int[] high = Arrays.stream(sample).filter(i -> points[i][by] >= at).toArray();
    return new Node(
        by, at, mean, grow(points, values, low, random), grow(points, values, high, random));
  }

  private static int[] sorted(double[][] points, int[] sample, int coordinate) {
    return Arrays.stream(sample)
        .boxed()
        .sorted(Comparator.comparingDouble(i -> points[i][coordinate]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** The sum of squares around the mean. */
  private static double spread(double[] values, int[] sample, int from, int to) {
    double sum = 0;
    double squares = 0;
    for (int i = from; i < to; i++) {
      sum += values[sample[i]];
      squares += values[sample[i]] * values[sample[i]];
    }
    return squares - sum * sum / (to - from);
  }

  @Override
  public Prediction at(double[] point) {
    double sum = 0;
    double squares = 0;
    for (Node tree : trees) {
      double value = tree.at(point);
      sum += value;
      squares += value * value;
    }
    double mean = sum / TREES;
    return new Prediction(mean, Math.sqrt(Math.max(0, squares / TREES - mean * mean)));
  }

  @Override
  public double noise() {
    return Double.NaN;
  }
}
