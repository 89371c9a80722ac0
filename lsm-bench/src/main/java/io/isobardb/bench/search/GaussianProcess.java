package io.isobardb.bench.search;

import java.util.Arrays;
import org.hipparchus.exception.MathRuntimeException;
import org.hipparchus.linear.ArrayRealVector;
import org.hipparchus.linear.CholeskyDecomposition;
import org.hipparchus.linear.MatrixUtils;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.optim.InitialGuess;
import org.hipparchus.optim.MaxEval;
import org.hipparchus.optim.PointValuePair;
import org.hipparchus.optim.nonlinear.scalar.GoalType;
import org.hipparchus.optim.nonlinear.scalar.ObjectiveFunction;
import org.hipparchus.optim.nonlinear.scalar.noderiv.NelderMeadSimplex;
import org.hipparchus.optim.nonlinear.scalar.noderiv.SimplexOptimizer;

/**
 * A Gaussian process: a Matérn kernel of order 5/2 with a length for each knob, a constant mean,
 * and a nugget for the noise of runs. Lengths and nugget are the likeliest ones, given what is
 * usual; the height of the surface follows from them. Rasmussen and Williams, "Gaussian Processes
 * for Machine Learning", chapters 2, 4 and 5.
 *
 * <p>Points lie in a cube of sides from 0 to 1. A point may be there several times.
 */
final class GaussianProcess implements Model {
  /** What is usual: the logarithm's mean and deviation, of a length and of the nugget. */
  private static final double USUAL_LENGTH = Math.log(0.5);

  private static final double LENGTH_DEVIATION = 1;
  private static final double USUAL_NUGGET = Math.log(0.01);
  private static final double NUGGET_DEVIATION = 2;

  private static final double LEAST_NUGGET = 1e-6;
  private static final double MOST_NUGGET = 2;
  private static final double LEAST_LENGTH = 0.03;
  private static final double MOST_LENGTH = 20;
  private static final int EVALUATIONS_PER_PARAMETER = 30;
  private static final double STEP = 0.5;
  private static final double PRECISION = 1e-2;
  private static final double LEAST_HEIGHT = 1e-12;

  /** Lengths to begin with. */
  private static final double[] BEGINNINGS = {0.5, 0.15};

  private final double[][] points;
  private final int[] knobs;
  private final double[] values;
  private final double mean;
  private final double scale;

  private double[] lengths = {};
  private double nugget;
  private double height;
  private double[][] lower = {};
  private double[] weights = {};

  /**
   * Learns.
   *
   * @param points at least one
   * @param values as many; they may be of any size
   * @param knobs which knob each coordinate belongs to; coordinates of a knob share a length
   */
  GaussianProcess(double[][] points, double[] values, int[] knobs) {
    this.points = points;
    this.knobs = knobs;
    mean = Arrays.stream(values).average().orElse(0);
    double squares = Arrays.stream(values).map(y -> (y - mean) * (y - mean)).sum();
    double deviation = Math.sqrt(squares / values.length);
    scale = deviation > LEAST_HEIGHT ? deviation : 1;
    this.values = Arrays.stream(values).map(y -> (y - mean) / scale).toArray();
    learn();
  }

  private void learn() {
    int parameters = Arrays.stream(knobs).max().orElse(-1) + 2;
    PointValuePair best = null;
    for (double beginning : BEGINNINGS) {
      double[] guess = new double[parameters];
      Arrays.fill(guess, Math.log(beginning));
      guess[parameters - 1] = USUAL_NUGGET;
      PointValuePair found = likeliest(guess);
      if (best == null || found.getValue() < best.getValue()) {
        best = found;
      }
    }
    set(best.getPoint());
  }

  private PointValuePair likeliest(double[] guess) {
    double[] least = guess;
    int evaluations = EVALUATIONS_PER_PARAMETER * guess.length;
    double[][] seen = {least, {unlikeliness(least)}};
    try {
      return new SimplexOptimizer(PRECISION, PRECISION)
          .optimize(
              new MaxEval(evaluations),
              new ObjectiveFunction(
                  parameters -> {
                    double value = unlikeliness(parameters);
                    if (value < seen[1][0]) {
                      seen[0] = parameters.clone();
                      seen[1][0] = value;
                    }
                    return value;
                  }),
              GoalType.MINIMIZE,
              new InitialGuess(guess),
              new NelderMeadSimplex(guess.length, STEP));
    } catch (MathRuntimeException e) {
      // It took too many evaluations: the best one seen is good enough.
      return new PointValuePair(seen[0], seen[1][0]);
    }
  }

  /** The negative logarithm of how likely values and parameters are, but for a constant. */
  private double unlikeliness(double[] logs) {
    if (!set(logs)) {
      return 1e9;
    }
    double sum = values.length / 2.0 * Math.log(height);
    for (int i = 0; i < lower.length; i++) {
      sum += Math.log(lower[i][i]);
    }
    for (int i = 0; i < logs.length - 1; i++) {
      sum += square((logs[i] - USUAL_LENGTH) / LENGTH_DEVIATION) / 2;
    }
    return sum + square((logs[logs.length - 1] - USUAL_NUGGET) / NUGGET_DEVIATION) / 2;
  }

  /** Takes over logarithms of lengths and nugget; whether there is a process with them. */
  private boolean set(double[] logs) {
    lengths = new double[logs.length - 1];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = within(Math.exp(logs[i]), LEAST_LENGTH, MOST_LENGTH);
    }
    nugget = within(Math.exp(logs[logs.length - 1]), LEAST_NUGGET, MOST_NUGGET);
    int n = points.length;
    RealMatrix matrix = MatrixUtils.createRealMatrix(n, n);
    for (int i = 0; i < n; i++) {
      matrix.setEntry(i, i, 1 + nugget);
      for (int j = 0; j < i; j++) {
        double alike = alike(points[i], points[j]);
        matrix.setEntry(i, j, alike);
        matrix.setEntry(j, i, alike);
      }
    }
    try {
      CholeskyDecomposition cholesky = new CholeskyDecomposition(matrix);
      lower = cholesky.getL().getData();
      weights = cholesky.getSolver().solve(new ArrayRealVector(values, false)).toArray();
    } catch (MathRuntimeException e) {
      return false; // Not positive definite, by rounding.
    }
    double fit = 0;
    for (int i = 0; i < n; i++) {
      fit += values[i] * weights[i];
    }
    height = Math.max(fit / n, LEAST_HEIGHT);
    return true;
  }

  private double alike(double[] a, double[] b) {
    double squares = 0;
    for (int i = 0; i < a.length; i++) {
      squares += square((a[i] - b[i]) / lengths[knobs[i]]);
    }
    double distance = Math.sqrt(5 * squares);
    return (1 + distance + distance * distance / 3) * Math.exp(-distance);
  }

  @Override
  public Prediction at(double[] point) {
    int n = points.length;
    double sum = 0;
    double known = 0;
    double[] solved = new double[n];
    for (int i = 0; i < n; i++) {
      double alike = alike(point, points[i]);
      sum += alike * weights[i];
      double rest = alike;
      for (int j = 0; j < i; j++) {
        rest -= lower[i][j] * solved[j];
      }
      solved[i] = rest / lower[i][i];
      known += solved[i] * solved[i];
    }
    double variance = height * Math.max(0, 1 - known);
    return new Prediction(mean + scale * sum, scale * Math.sqrt(variance));
  }

  @Override
  public double noise() {
    return scale * Math.sqrt(height * nugget);
  }

  private static double within(double value, double least, double most) {
    return Math.max(least, Math.min(most, value));
  }

  private static double square(double x) {
    return x * x;
  }
}
