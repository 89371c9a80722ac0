package io.isobardb.bench.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is known after some runs: of the metric, of each bound's metric, and so of the best setting.
 * Immutable.
 *
 * <p>A run that failed counts as one as bad as the worst.
 */
final class Knowledge {
  private final Space space;
  private final Goal goal;
  private final Map<List<String>, List<Trial>> runs = new LinkedHashMap<>();
  private final @Nullable Model metric;
  private final List<Model> bounds = new ArrayList<>();

  /**
   * Learns.
   *
   * @param method by which models are made; none by those that don't learn
   * @param trials in any phase; settings that the space has not, such as defaults that are out of a
   *     range, don't teach
   */
  Knowledge(Space space, Goal goal, Method method, List<Trial> trials, SplittableRandom random) {
    this.space = space;
    this.goal = goal;
    for (Trial trial : trials) {
      runs.computeIfAbsent(trial.setting(), setting -> new ArrayList<>()).add(trial);
    }
    List<Trial> teaching = trials.stream().filter(each -> space.has(each.setting())).toList();
    boolean any = method.learns() && teaching.stream().anyMatch(each -> !each.isFailed());
    metric = any ? model(goal.metric(), true, method, teaching, random) : null;
    for (int i = 0; any && i < goal.bounds().size(); i++) {
      bounds.add(model(goal.bounds().get(i).metric(), false, method, teaching, random));
    }
  }

  private Model model(
      Metric of, boolean failures, Method method, List<Trial> trials, SplittableRandom random) {
    double worst =
        trials.stream()
            .filter(each -> !each.isFailed())
            .mapToDouble(each -> of.modelled(each.figure(of)))
            .max()
            .orElse(0);
    List<Trial> used = trials.stream().filter(each -> failures || !each.isFailed()).toList();
    double[][] points =
        used.stream().map(each -> space.point(each.setting())).toArray(double[][]::new);
    double[] values =
        used.stream()
            .mapToDouble(each -> each.isFailed() ? worst : of.modelled(each.figure(of)))
            .toArray();
    return method == Method.FOREST
        ? new RandomForest(points, values, random)
        : new GaussianProcess(points, values, space.knobOfCoordinate());
  }

  /** Whether there is a model; there is none before the first run that did not fail. */
  boolean hasModel() {
    return metric != null;
  }

  /** What the model says of the metric, as {@link Metric#modelled}. */
  Prediction predicted(List<String> setting) {
    return model().at(space.point(setting));
  }

  /** The deviation of single runs, in the metric's logarithm; NaN if that is not known. */
  double noise() {
    return model().noise();
  }

  private Model model() {
    if (metric == null) {
      throw new IllegalStateException("there is no model yet");
    }
    return metric;
  }

  /** How likely a setting is to keep all bounds. */
  double chance(List<String> setting) {
    double chance = 1;
    for (int i = 0; i < bounds.size(); i++) {
      chance *= goal.bounds().get(i).chance(bounds.get(i).at(space.point(setting)));
    }
    return chance;
  }

  /** Settings that were run, and how often. */
  int runsOf(List<String> setting) {
    return runs.getOrDefault(setting, List.of()).size();
  }

  /** The mean of a setting's runs, as {@link Metric#modelled}; NaN if one failed. */
  private double mean(List<String> setting, Metric of) {
    return runs.get(setting).stream()
        .mapToDouble(each -> of.modelled(each.figure(of)))
        .average()
        .orElse(Double.NaN);
  }

  /** The geometric mean of the runs of a setting that was run; NaN if one failed. */
  double measured(List<String> setting, Metric of) {
    return of.measured(mean(setting, of));
  }

  /** How good a setting that was run is taken to be: by the model if there is one. */
  private double judged(List<String> setting) {
    return metric != null && space.has(setting)
        ? predicted(setting).mean()
        : mean(setting, goal.metric());
  }

  private boolean isWhole(List<String> setting) {
    return runs.get(setting).stream().noneMatch(Trial::isFailed);
  }

  /** The bounds that a setting that was run does not keep, in the mean of its runs. */
  List<Bound> broken(List<String> setting) {
    return goal.bounds().stream()
        .filter(bound -> !bound.isKept(measured(setting, bound.metric())))
        .toList();
  }

  /**
   * The best setting that was run: whose runs did not fail and keep all bounds. Null if there is
   * none.
   */
  @Nullable List<String> best() {
    return first(setting -> broken(setting).isEmpty());
  }

  /** The same among those that a search may try: defaults may be out of a knob's range. */
  @Nullable List<String> bestOfSpace() {
    return first(setting -> space.has(setting) && broken(setting).isEmpty());
  }

  /** The best one among those that were repeated, if there are any. */
  @Nullable List<String> believed() {
    List<String> repeated =
        first(setting -> broken(setting).isEmpty() && runs.get(setting).size() > 1);
    return repeated == null ? best() : repeated;
  }

  /** The same if there were no bounds. */
  @Nullable List<String> bestWithoutBounds() {
    return first(setting -> true);
  }

  private @Nullable List<String> first(Predicate<List<String>> among) {
    return ranked().stream().filter(among).findFirst().orElse(null);
  }

  /** Settings that were run and did not fail, the best ones first. */
  List<List<String>> ranked() {
    return runs.keySet().stream()
        .filter(this::isWhole)
        .sorted(Comparator.comparingDouble(this::judged))
        .toList();
  }
}
