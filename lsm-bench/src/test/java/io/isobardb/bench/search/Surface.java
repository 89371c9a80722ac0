package io.isobardb.bench.search;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * A workload whose figures are known: a function of the places of some knobs, times noise that a
 * seed and a setting determine.
 */
final class Surface implements Load {
  private final List<Knob> knobs;
  private final double noise;
  private final Map<Metric, ToDoubleFunction<double[]>> truth = new EnumMap<>(Metric.class);
  private double ofDefaults = 1;
  int runs;

  /** A surface whose single runs deviate by so much, as a share. */
  Surface(List<Knob> knobs, double noise) {
    this.knobs = knobs;
    this.noise = noise;
  }

  Surface with(Metric metric, ToDoubleFunction<double[]> of) {
    truth.put(metric, of);
    return this;
  }

  /** Runs without options have so many times the figures. */
  Surface withDefaults(double times) {
    ofDefaults = times;
    return this;
  }

  Space space() {
    return new Space(knobs, options -> true);
  }

  double truth(Metric metric, List<String> setting) {
    return truth.get(metric).applyAsDouble(space().places(setting));
  }

  @Override
  public String description() {
    return "a surface";
  }

  @Override
  public Set<Metric> metrics() {
    return truth.keySet();
  }

  @Override
  public String lack(Metric metric) {
    return "it has none";
  }

  @Override
  public String costs() {
    return "nothing";
  }

  @Override
  public void check(Map<String, String> options) {}

  @Override
  public String defaultOf(String option) {
    if (ofDefaults != 1) {
      return "1GB";
    }
    return knobs.stream().filter(each -> each.name().equals(option)).findFirst().get().value(0.5);
  }

  @Override
  public Map<Metric, Double> run(Map<String, String> options, long seed) {
    runs++;
    double[] places = new double[knobs.size()];
    for (int i = 0; i < places.length; i++) {
      Knob knob = knobs.get(i);
      places[i] = knob.place(options.getOrDefault(knob.name(), defaultOf(knob.name())));
    }
    SplittableRandom random = new SplittableRandom(31 * options.hashCode() + seed);
    Map<Metric, Double> figures = new EnumMap<>(Metric.class);
    truth.forEach(
        (metric, of) ->
            figures.put(
                metric,
                (options.isEmpty() ? ofDefaults : 1)
                    * of.applyAsDouble(places)
                    * Math.exp(noise * random.nextGaussian())));
    return figures;
  }
}
