package io.isobardb.bench.search;

import io.isobardb.bench.search.Chooser.Plan;
import io.isobardb.bench.search.Trial.Phase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What the runs of a search say. Immutable. */
final class Findings {
  /** Values of a knob that are looked at to see how much it matters. */
  private static final int LOOKS = 9;

  private final Space space;
  private final Plan plan;
  private final List<String> defaults;
  private final List<Trial> trials;
  private final Knowledge known;
  private final @Nullable List<String> best;
  private final Knowledge surface;

  /**
   * One of the best setting and one of the defaults with the same seed.
   *
   * @param ratio of the metric, the best one's divided by the defaults'
   */
  record Pair(double best, double defaults, double ratio) {}

  /**
   * How good something is without one knob.
   *
   * @param ratio of the metric, the best setting's divided by the one's with the knob's default
   */
  record Without(Knob knob, double ratio) {}

  /**
   * How much a knob matters around the best setting.
   *
   * @param times the worst value of the metric over its range, by the best one; at least 1
   */
  record Weight(Knob knob, double times) {}

  Findings(Space space, Plan plan, List<String> defaults, List<Trial> trials) {
    this.space = space;
    this.plan = plan;
    this.defaults = List.copyOf(defaults);
    this.trials = List.copyOf(trials);
    List<Trial> evaluations = Chooser.evaluations(trials);
    known =
        new Knowledge(
            space, plan.goal(), plan.method(), evaluations, new SplittableRandom(plan.seed()));
    best = known.believed();
    // Whatever the method was: a smooth surface with what it does not know.
    surface =
        new Knowledge(space, plan.goal(), Method.GP, trials, new SplittableRandom(plan.seed()));
  }

  Space space() {
    return space;
  }

  Plan plan() {
    return plan;
  }

  Metric metric() {
    return plan.goal().metric();
  }

  List<String> defaults() {
    return defaults;
  }

  List<Trial> trials() {
    return trials;
  }

  /** The best setting that keeps all bounds; null if there is none. */
  @Nullable List<String> best() {
    return best;
  }

  /** How often the best setting was run while it was searched for. */
  int runsOfBest() {
    return best == null ? 0 : known.runsOf(best);
  }

  /** The mean of the runs of a setting; NaN if one failed. */
  double measured(List<String> setting, Metric of) {
    return known.measured(setting, of);
  }

  /** The bounds that the best of all settings that were run breaks: what they cost. */
  List<Bound> binding() {
    List<String> free = known.bestWithoutBounds();
    return free == null ? List.of() : known.broken(free);
  }

  /** The best setting that was run if there were no bounds; null if all failed. */
  @Nullable List<String> bestWithoutBounds() {
    return known.bestWithoutBounds();
  }

  /** Whether a model could be made, with which {@link #weights} and {@link #predicted} answer. */
  boolean hasSurface() {
    return surface.hasModel() && best != null && space.has(best);
  }

  /** What the surface says of a setting. */
  Prediction predicted(List<String> setting) {
    return surface.predicted(setting);
  }

  /** The relative deviation of single runs. */
  double noise() {
    return surface.noise();
  }

  /** Knobs, those that matter most around the best setting first. */
  List<Weight> weights() {
    List<Weight> weights = new ArrayList<>();
    for (int i = 0; i < space.knobs().size(); i++) {
      int knob = i;
      double[] means =
          space.knobs().get(i).spread(LOOKS).stream()
              .mapToDouble(value -> predicted(Space.with(best, knob, value)).mean())
              .sorted()
              .toArray();
      weights.add(new Weight(space.knobs().get(i), Math.exp(means[means.length - 1] - means[0])));
    }
    weights.sort(Comparator.comparingDouble(Weight::times).reversed());
    return weights;
  }

  /** What the best setting loses without each of its knobs, as far as that was run. */
  List<Without> without() {
    List<Without> all = new ArrayList<>();
    if (best == null) {
      return all;
    }
    double with = measured(best, metric());
    for (int i = 0; i < best.size(); i++) {
      List<String> setting = Space.with(best, i, defaults.get(i));
      // With a single knob turned, it is the defaults that are left.
      Phase phase = setting.equals(defaults) ? Phase.DEFAULTS : Phase.WITHOUT;
      for (Trial trial : trials) {
        if (trial.phase() == phase && trial.setting().equals(setting) && !setting.equals(best)) {
          all.add(new Without(space.knobs().get(i), with / trial.figure(metric())));
        }
      }
    }
    return all;
  }

  /** The best setting and the defaults, in turns. A pair of which one failed is left out. */
  List<Pair> pairs() {
    List<Pair> pairs = new ArrayList<>();
    for (Trial one : trials) {
      if (one.phase() == Phase.PAIR_BEST && one.setting().equals(best)) {
        trials.stream()
            .filter(each -> each.phase() == Phase.PAIR_DEFAULTS && each.seed() == one.seed())
            .filter(each -> !each.isFailed() && !one.isFailed())
            .forEach(
                each -> {
                  double ours = one.figure(metric());
                  double theirs = each.figure(metric());
                  pairs.add(new Pair(ours, theirs, ours / theirs));
                });
      }
    }
    return pairs;
  }

  /** The median of the pairs' ratios; NaN without any. */
  double ratio() {
    double[] ratios = pairs().stream().mapToDouble(Pair::ratio).sorted().toArray();
    int middle = ratios.length / 2;
    if (ratios.length == 0) {
      return Double.NaN;
    }
    return ratios.length % 2 == 1 ? ratios[middle] : Math.sqrt(ratios[middle - 1] * ratios[middle]);
  }

  /** In how many pairs the best setting was better. */
  long won() {
    return pairs().stream().filter(each -> isBetter(each.ratio())).count();
  }

  /** Whether a ratio of the metric is for the better. */
  boolean isBetter(double ratio) {
    return metric().isMoreBetter() ? ratio > 1 : ratio < 1;
  }

  /** The number of each run after which the best one yet was as good as told, of those searched. */
  List<Double> bestSoFar() {
    List<Double> soFar = new ArrayList<>();
    double least = Double.POSITIVE_INFINITY;
    for (Trial trial : Chooser.evaluations(trials)) {
      boolean keeps =
          !trial.isFailed()
              && plan.goal().bounds().stream()
                  .allMatch(bound -> bound.isKept(trial.figure(bound.metric())));
      if (keeps) {
        least = Math.min(least, metric().modelled(trial.figure(metric())));
      }
      soFar.add(Double.isInfinite(least) ? Double.NaN : metric().measured(least));
    }
    return soFar;
  }

  /** Runs that failed. */
  int failures() {
    return (int) IntStream.range(0, trials.size()).filter(i -> trials.get(i).isFailed()).count();
  }
}
