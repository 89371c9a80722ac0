package io.isobardb.bench.experiment.report;

import io.isobardb.bench.experiment.report.Results.Pair;
import io.isobardb.bench.experiment.report.Verdict.Outcome;
import io.isobardb.cli.console.Numbers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Holds claims against numbers. Pure functions.
 *
 * <p>Two figures within {@value #NOISE_PERCENT} % of each other are taken as equal: one merge more
 * or less makes as much of a difference in a short run. What lies within that, or points both ways,
 * is not decided. Pairs of which one side was not measured are passed over.
 */
public final class Claims {
  static final int NOISE_PERCENT = 5;
  private static final double NOISE = NOISE_PERCENT / 100.0;

  private Claims() {}

  /**
   * Left is less than right: in the mean of all pairs clearly, and in none clearly more.
   *
   * <p>It does not hold if the mean says the opposite, or if left is clearly more in more than half
   * of the pairs.
   */
  public static Verdict less(String claim, List<Pair> all) {
    List<Pair> pairs = measured(all);
    if (pairs.isEmpty()) {
      return nothing(claim);
    }
    double mean = meanRatio(pairs);
    long more = pairs.stream().filter(pair -> pair.ratio() > 1 + NOISE).count();
    Outcome outcome =
        mean < 1 - NOISE && more == 0
            ? Outcome.HOLDS
            : mean > 1 + NOISE || 2 * more > pairs.size()
                ? Outcome.DOES_NOT_HOLD
                : Outcome.NOT_DECIDED;
    return new Verdict(claim, outcome, words(pairs, mean));
  }

  /** Left is never more than right by more than {@code percent}. */
  public static Verdict notMore(String claim, List<Pair> all, double percent) {
    List<Pair> pairs = measured(all);
    if (pairs.isEmpty()) {
      return nothing(claim);
    }
    double limit = 1 + percent / 100;
    double worst = pairs.stream().mapToDouble(Pair::ratio).max().orElse(Double.NaN);
    Outcome outcome =
        worst <= limit
            ? Outcome.HOLDS
            : worst <= limit + NOISE ? Outcome.NOT_DECIDED : Outcome.DOES_NOT_HOLD;
    return new Verdict(claim, outcome, words(pairs, meanRatio(pairs)));
  }

  /** Left and right differ by no more than {@code percent} in any pair. */
  public static Verdict same(String claim, List<Pair> all, double percent) {
    List<Pair> pairs = measured(all);
    if (pairs.isEmpty()) {
      return nothing(claim);
    }
    double limit = Math.log(1 + percent / 100);
    double worst =
        pairs.stream().mapToDouble(pair -> Math.abs(Math.log(pair.ratio()))).max().orElse(0);
    Outcome outcome =
        worst <= limit
            ? Outcome.HOLDS
            : worst <= limit + NOISE ? Outcome.NOT_DECIDED : Outcome.DOES_NOT_HOLD;
    return new Verdict(claim, outcome, words(pairs, meanRatio(pairs)));
  }

  /**
   * Left is at most {@code most} times right, of points measured with several seeds: decided by how
   * far the seeds lie apart. It holds if the mean ratio is that small by two standard errors, and
   * does not if it is that much larger. A single pair is taken as it is, within {@value
   * #NOISE_PERCENT} %.
   */
  public static Verdict spread(String claim, List<Pair> all, double most) {
    List<Pair> pairs = measured(all);
    if (pairs.isEmpty()) {
      return nothing(claim);
    }
    double mean = meanRatio(pairs);
    double distance = Math.log(mean / most);
    double error = pairs.size() > 1 ? 2 * standardError(pairs, Math.log(mean)) : NOISE;
    Outcome outcome =
        distance <= -error
            ? Outcome.HOLDS
            : distance > error ? Outcome.DOES_NOT_HOLD : Outcome.NOT_DECIDED;
    String within = String.format(Locale.ROOT, ", within %.1f %%", 100 * error);
    return new Verdict(claim, outcome, words(pairs, mean) + within);
  }

  private static double standardError(List<Pair> pairs, double meanLog) {
    double squares =
        pairs.stream().mapToDouble(pair -> Math.pow(Math.log(pair.ratio()) - meanLog, 2)).sum();
    return Math.sqrt(squares / (pairs.size() - 1) / pairs.size());
  }

  /** The mean ratio of left to right is in {@code least..most}. */
  public static Verdict ratio(String claim, List<Pair> all, double least, double most) {
    List<Pair> pairs = measured(all);
    if (pairs.isEmpty()) {
      return nothing(claim);
    }
    double mean = meanRatio(pairs);
    Outcome outcome =
        mean >= least && mean <= most
            ? Outcome.HOLDS
            : mean >= least * (1 - NOISE) && mean <= most * (1 + NOISE)
                ? Outcome.NOT_DECIDED
                : Outcome.DOES_NOT_HOLD;
    return new Verdict(claim, outcome, words(pairs, mean));
  }

  /** From the first to the last the values fall, and none is clearly above the one before. */
  public static Verdict falls(String claim, double[] values) {
    return trend(claim, values, 1);
  }

  /** From the first to the last the values rise, and none is clearly below the one before. */
  public static Verdict rises(String claim, double[] values) {
    return trend(claim, values, -1);
  }

  private static Verdict trend(String claim, double[] values, int sign) {
    List<String> words = new ArrayList<>();
    boolean bad = values.length < 2;
    for (double value : values) {
      words.add(Numbers.significant(value));
      bad |= !(value > 0);
    }
    if (bad) {
      return nothing(claim);
    }
    boolean against = false;
    for (int i = 1; i < values.length; i++) {
      against |= sign * Math.log(values[i] / values[i - 1]) > NOISE;
    }
    double whole = sign * Math.log(values[values.length - 1] / values[0]);
    Outcome outcome =
        whole < -NOISE && !against
            ? Outcome.HOLDS
            : whole > NOISE ? Outcome.DOES_NOT_HOLD : Outcome.NOT_DECIDED;
    return new Verdict(claim, outcome, String.join(", ", words));
  }

  /** The verdict on a claim of which nothing was measured. */
  public static Verdict nothing(String claim) {
    return new Verdict(claim, Outcome.NOT_DECIDED, "not measured");
  }

  /** Pairs of which both sides were measured. */
  private static List<Pair> measured(List<Pair> pairs) {
    return pairs.stream().filter(pair -> !Double.isNaN(pair.ratio())).toList();
  }

  private static double meanRatio(List<Pair> pairs) {
    return Math.exp(pairs.stream().mapToDouble(pair -> Math.log(pair.ratio())).average().orElse(0));
  }

  private static String words(List<Pair> pairs, double mean) {
    List<String> words = new ArrayList<>();
    for (Pair pair : pairs) {
      words.add(
          String.format(
              Locale.ROOT,
              "%s%s to %s, %.2fx",
              pair.where().isEmpty() ? "" : pair.where() + ": ",
              Numbers.significant(pair.left()),
              Numbers.significant(pair.right()),
              pair.ratio()));
    }
    String of = pairs.get(0).of();
    return (of.isEmpty() ? "" : of + ": ")
        + String.join("; ", words)
        + (pairs.size() > 1
            ? String.format(Locale.ROOT, "; mean %.2fx", mean)
            : "; one comparison alone");
  }
}
