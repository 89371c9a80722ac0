package io.isobardb.popularity;

import io.isobardb.tuner.model.Popularity;
import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * A table of another popularity's functions, for speed: a look-up takes some tens of nanoseconds,
 * however many groups of keys there are.
 *
 * <p>The logarithm of the odds that a key was seen is tabulated over the logarithm of the requests,
 * where it is nearly a straight line, and interpolated by a cubic. Values are within 0.01 % of the
 * tabulated popularity's. The inverses are those of the interpolated functions.
 */
public final class TabulatedPopularity implements Popularity {
  private final double keys;
  private final Curve unique;
  private final Curve swept;

  private TabulatedPopularity(double keys, Curve unique, Curve swept) {
    this.keys = keys;
    this.unique = unique;
    this.swept = swept;
  }

  /** Tabulates a popularity; takes some hundred evaluations of each of its functions. */
  public static TabulatedPopularity of(KeyGroups groups) {
    Curve unique = Curve.of(groups.keys(), groups::unique, groups::missing);
    Curve swept = Curve.of(groups.keys(), groups::sweptUnique, groups::sweptMissing);
    return new TabulatedPopularity(groups.keys(), unique, swept);
  }

  @Override
  public double keys() {
    return keys;
  }

  @Override
  public double unique(double requests) {
    return unique.at(requests);
  }

  @Override
  public double uniqueInverse(double count) {
    return unique.inverse(count);
  }

  @Override
  public double sweptUnique(double requests) {
    return swept.at(requests);
  }

  @Override
  public double sweptUniqueInverse(double count) {
    return swept.inverse(count);
  }

  /** One increasing function from requests to keys: cubic Hermite pieces of equal width. */
  private static final class Curve {
    private static final double STEP = 0.125;

    /** The table covers shares of the keys from this to 1 less this. */
    private static final double EDGE = 1e-14;

    /** Requests below and above the table, in pieces; the odds are continued as straight lines. */
    private static final int MAX_PIECES = 2048;

    private static final int MAX_STEPS = 60;

    private final double keys;
    private final double start;
    private final double[] odds;
    private final double[] slopes;

    private Curve(double keys, double start, double[] odds) {
      this.keys = keys;
      this.start = start;
      this.odds = odds;
      this.slopes = slopes(odds);
    }

    static Curve of(double keys, DoubleUnaryOperator found, DoubleUnaryOperator missing) {
      double start = -2;
      while (found.applyAsDouble(StrictMath.exp(start)) > keys * EDGE && start > -40) {
        start -= 1;
      }
      double[] odds = new double[MAX_PIECES];
      int count = 0;
      while (count < MAX_PIECES) {
        double requests = StrictMath.exp(start + count * STEP);
        double rest = missing.applyAsDouble(requests);
        if (rest <= keys * EDGE) {
          break;
        }
        odds[count++] = StrictMath.log(found.applyAsDouble(requests) / rest);
      }
      return new Curve(keys, start, Arrays.copyOf(odds, count));
    }

    /** Slopes per piece, by central differences of fourth order inside. */
    private static double[] slopes(double[] odds) {
      int last = odds.length - 1;
      double[] slopes = new double[odds.length];
      for (int i = 0; i <= last; i++) {
        if (i >= 2 && i <= last - 2) {
          slopes[i] = (8 * (odds[i + 1] - odds[i - 1]) - (odds[i + 2] - odds[i - 2])) / 12;
        } else if (i >= 1 && i <= last - 1) {
          slopes[i] = (odds[i + 1] - odds[i - 1]) / 2;
        } else {
          slopes[i] = i == 0 ? odds[1] - odds[0] : odds[last] - odds[last - 1];
        }
      }
      return slopes;
    }

    double at(double requests) {
      if (!(requests >= 0)) {
        throw new IllegalArgumentException("requests must be 0 or more, not " + requests);
      }
      if (requests == 0) {
        return 0;
      }
      double x = (StrictMath.log(requests) - start) / STEP;
      return keys / (1 + StrictMath.exp(-oddsAt(x)));
    }

    private double oddsAt(double x) {
      int last = odds.length - 1;
      if (x <= 0) {
        return odds[0] + slopes[0] * x;
      }
      if (x >= last) {
        return odds[last] + slopes[last] * (x - last);
      }
      int i = (int) x;
      return piece(i, x - i);
    }

    private double piece(int i, double t) {
      double rise = odds[i + 1] - odds[i];
      double a = slopes[i] - rise;
      double b = rise - slopes[i + 1];
      return odds[i] + t * (rise + (1 - t) * (a * (1 - t) + b * t));
    }

    private double slopeOfPiece(int i, double t) {
      double rise = odds[i + 1] - odds[i];
      double a = slopes[i] - rise;
      double b = rise - slopes[i + 1];
      double u = 1 - t;
      return rise + a * u * (1 - 3 * t) + b * t * (2 - 3 * t);
    }

    double inverse(double count) {
      if (!(count >= 0 && count <= keys * (1 + 1e-12))) {
        throw new IllegalArgumentException(
            "the number of distinct keys must be from 0 to " + keys + ", not " + count);
      }
      if (count == 0) {
        return 0;
      }
      if (count >= keys) {
        return Double.POSITIVE_INFINITY;
      }
      double wanted = StrictMath.log(count / (keys - count));
      return StrictMath.exp(start + STEP * position(wanted));
    }

    private double position(double wanted) {
      int last = odds.length - 1;
      if (wanted <= odds[0]) {
        return (wanted - odds[0]) / slopes[0];
      }
      if (wanted >= odds[last]) {
        return last + (wanted - odds[last]) / slopes[last];
      }
      int found = Arrays.binarySearch(odds, wanted);
      if (found >= 0) {
        return found;
      }
      int i = -found - 2;
      double low = 0;
      double high = 1;
      double t = (wanted - odds[i]) / (odds[i + 1] - odds[i]);
      for (int step = 0; step < MAX_STEPS; step++) {
        double error = piece(i, t) - wanted;
        if (Math.abs(error) <= 1e-14 * Math.max(1, Math.abs(wanted))) {
          break;
        }
        if (error < 0) {
          low = t;
        } else {
          high = t;
        }
        t -= error / slopeOfPiece(i, t);
        if (!(t > low && t < high)) {
          t = (low + high) / 2;
        }
      }
      return i + t;
    }
  }
}
