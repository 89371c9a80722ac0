package io.isobardb.bench.search;

import io.isobardb.bench.search.Chooser.Choice;
import io.isobardb.bench.search.Chooser.Plan;
import io.isobardb.bench.search.Trial.Phase;
import io.isobardb.cli.console.ErrorText;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Shutdown;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Runs settings until the plan's evaluations are done, and compares the best one with the defaults.
 * What the journal has already is not run again. Used by one thread.
 */
final class Search {
  /** Seeds of pairs begin here, so that they are others than those that chose the best one. */
  private static final int PAIR_SEEDS = 100_000;

  private static final long END_MILLIS = 10_000;

  private final Load load;
  private final Space space;
  private final Plan plan;
  private final Journal journal;
  private final long timeoutMillis;
  private final Consumer<Trial> watcher;
  private final List<String> defaults = new ArrayList<>();

  /**
   * @param timeoutMillis after which a run has failed
   * @param watcher is told of each run
   */
  Search(
      Load load,
      Space space,
      Plan plan,
      Journal journal,
      long timeoutMillis,
      Consumer<Trial> watcher) {
    this.load = load;
    this.space = space;
    this.plan = plan;
    this.journal = journal;
    this.timeoutMillis = timeoutMillis;
    this.watcher = watcher;
    for (Knob knob : space.knobs()) {
      defaults.add(knob.known(load.defaultOf(knob.name())));
    }
  }

  /**
   * Searches, runs the best setting without each of its knobs, and in turns with the defaults.
   *
   * @param pairs so many turns
   * @throws FailedException if the defaults can't be run
   */
  Findings run(int pairs) throws IOException, InterruptedException {
    Chooser chooser = new Chooser(space, plan, defaults);
    for (Choice next = chooser.next(trials()); next != null; next = chooser.next(trials())) {
      run(next.phase(), next.setting(), seed());
    }
    Findings found = findings();
    List<String> best = found.best();
    if (best != null && !best.equals(defaults)) {
      leaveOut(best);
      pair(best, pairs);
    }
    return findings();
  }

  /** What is known by now. */
  Findings findings() {
    return new Findings(space, plan, defaults, trials());
  }

  private List<Trial> trials() {
    return journal.trials();
  }

  /** Another one for each run: what is luck with one seed must not look like a good setting. */
  private long seed() {
    return plan.seed() + trials().size();
  }

  private void leaveOut(List<String> best) throws IOException, InterruptedException {
    for (int i = 0; i < best.size(); i++) {
      List<String> without = Space.with(best, i, defaults.get(i));
      if (!without.equals(best)
          && !without.equals(defaults)
          && space.isTaken(without)
          && trials().stream().noneMatch(each -> isWithout(each, without))) {
        run(Phase.WITHOUT, without, seed());
      }
    }
  }

  private static boolean isWithout(Trial trial, List<String> setting) {
    return trial.phase() == Phase.WITHOUT && trial.setting().equals(setting);
  }

  private void pair(List<String> best, int pairs) throws IOException, InterruptedException {
    for (int i = 0; i < pairs; i++) {
      long seed = plan.seed() + PAIR_SEEDS + i;
      // In turns: who is first in one pair is second in the next.
      boolean bestFirst = i % 2 == 0;
      for (boolean isBest : new boolean[] {bestFirst, !bestFirst}) {
        Phase phase = isBest ? Phase.PAIR_BEST : Phase.PAIR_DEFAULTS;
        List<String> setting = isBest ? best : defaults;
        boolean done =
            trials().stream()
                .anyMatch(
                    each ->
                        each.phase() == phase
                            && each.seed() == seed
                            && each.setting().equals(setting));
        if (!done) {
          run(phase, setting, seed);
        }
      }
    }
  }

  private void run(Phase phase, List<String> setting, long seed)
      throws IOException, InterruptedException {
    // Defaults may follow from each other, and a store need not take each of them if it is set.
    Map<String, String> options = setting.equals(defaults) ? Map.of() : space.options(setting);
    long begin = System.nanoTime();
    String failure = "";
    Map<Metric, Double> figures = new EnumMap<>(Metric.class);
    try {
      figures.putAll(withinTime(options, seed));
      for (Metric metric : load.metrics()) {
        double figure = figures.getOrDefault(metric, Double.NaN);
        if (!Double.isFinite(figure) || figure < 0) {
          failure = "it has no " + metric.label();
          figures.clear();
        }
      }
    } catch (TimeoutException e) {
      failure = "it took longer than " + timeoutMillis / 1000.0 + " s";
    } catch (ExecutionException e) {
      failure = ErrorText.of(e.getCause() instanceof Exception cause ? cause : e);
    }
    if (Shutdown.isUnderWay()) {
      // The run was ended with this process: that says nothing of its setting.
      throw new InterruptedException("the process is being ended");
    }
    // As the journal has it: a search that goes on tells the same.
    double seconds = Math.round((System.nanoTime() - begin) / 1e6) / 1e3;
    Trial trial = new Trial(phase, setting, seed, seconds, failure, figures);
    if (phase == Phase.DEFAULTS && trial.isFailed()) {
      throw new FailedException(Exit.FAILURE, "the workload fails with the defaults: " + failure);
    }
    journal.add(trial);
    watcher.accept(trial);
  }

  private Map<Metric, Double> withinTime(Map<String, String> options, long seed)
      throws InterruptedException, TimeoutException, ExecutionException {
    FutureTask<Map<Metric, Double>> task = new FutureTask<>(() -> load.run(options, seed));
    Thread thread = new Thread(task, "tune-run");
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } finally {
      if (!task.isDone()) {
        task.cancel(true);
      }
      thread.join(END_MILLIS);
    }
  }
}
