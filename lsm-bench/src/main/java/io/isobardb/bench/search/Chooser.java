package io.isobardb.bench.search;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the next run of a search. What it chooses follows from the plan and the runs before, and
 * from nothing else, so that a search that was killed goes on as if it had not been.
 */
final class Chooser {
  /** Runs after which the best setting is believed. */
  static final int BELIEVED = 3;

  /** Of so many runs of a forest one is anywhere: exploration to exploitation as 1 to 10. */
  private static final int EXPLORES = 11;

  private static final int CANDIDATES = 150;
  private static final int NEIGHBOURS = 20;
  private static final int NEIGHBOURED = 3;
  private static final double[] RADII = {0.2, 0.07, 0.02};
  private static final int LINE_BEGINNING = 4;
  private static final long STEP_SEED = 0x9E3779B97F4A7C15L;

  private final Space space;
  private final Plan plan;
  private final List<String> defaults;

  /**
   * What is to be done.
   *
   * @param evaluations runs of the search: one of the defaults, and repeats, are among them
   * @param isOneByOne whether each knob is turned alone, in their order, and left at its best
   */
  record Plan(Goal goal, Method method, int evaluations, boolean isOneByOne, long seed) {
    /** Runs at the end that are kept for the best setting. */
    int repeats() {
      return evaluations < 2 * BELIEVED ? 1 : Math.max(2, evaluations / 10);
    }
  }

  /** The next run. */
  record Choice(Trial.Phase phase, List<String> setting) {}

  /**
   * @param defaults the values that the knobs have if nothing is set
   */
  Chooser(Space space, Plan plan, List<String> defaults) {
    this.space = space;
    this.plan = plan;
    this.defaults = defaults;
  }

  /** Runs that count as evaluations. */
  static List<Trial> evaluations(List<Trial> trials) {
    return trials.stream()
        .filter(
            each ->
                each.phase() == Trial.Phase.DEFAULTS
                    || each.phase() == Trial.Phase.SEARCH
                    || each.phase() == Trial.Phase.REPEAT)
        .toList();
  }

  /** The next one; null if the search is at its end. */
  @Nullable Choice next(List<Trial> all) {
    List<Trial> trials = evaluations(all);
    int left = plan.evaluations() - trials.size();
    if (left <= 0) {
      return null;
    }
    if (trials.isEmpty()) {
      return new Choice(Trial.Phase.DEFAULTS, defaults);
    }
    SplittableRandom random = new SplittableRandom(plan.seed() + STEP_SEED * trials.size());
    if (left <= plan.repeats()) {
      List<String> best = knowledge(trials, random).best();
      if (best != null && runs(trials, best) < BELIEVED) {
        return new Choice(Trial.Phase.REPEAT, best);
      }
    }
    List<String> setting = search(trials, random);
    if (setting != null) {
      return new Choice(Trial.Phase.SEARCH, setting);
    }
    List<String> best = knowledge(trials, random).best();
    return best != null && runs(trials, best) < BELIEVED
        ? new Choice(Trial.Phase.REPEAT, best)
        : null;
  }

  private static long runs(List<Trial> trials, List<String> setting) {
    return trials.stream().filter(each -> each.setting().equals(setting)).count();
  }

  private Knowledge knowledge(List<Trial> trials, SplittableRandom random) {
    return new Knowledge(space, plan.goal(), plan.method(), trials, random);
  }

  /** A setting that was not run; null if there is none left. */
  private @Nullable List<String> search(List<Trial> trials, SplittableRandom random) {
    int searched = 0;
    for (Trial trial : trials) {
      searched += trial.phase() == Trial.Phase.SEARCH ? 1 : 0;
    }
    int room = Math.max(1, plan.evaluations() - 1 - plan.repeats());
    if (!plan.isOneByOne()) {
      return joint(trials, searched, room, random);
    }
    int knobs = space.knobs().size();
    int knob = Math.min(knobs - 1, (int) ((long) searched * knobs / room));
    int begun = (int) (((long) knob * room + knobs - 1) / knobs);
    return alone(trials, knob, searched - begun, Math.max(1, room / knobs), begun, random);
  }

  private @Nullable List<String> joint(
      List<Trial> trials, int searched, int room, SplittableRandom random) {
    Set<List<String>> seen = seen(trials);
    switch (plan.method()) {
      case GRID -> {
        return space.grid(room).stream()
            .filter(each -> !seen.contains(each))
            .findFirst()
            .orElse(null);
      }
      case RANDOM -> {
        return fresh(seen, random);
      }
      default -> {
        int design = design(room);
        if (searched < design) {
          List<String> setting = spread(searched, design);
          return seen.contains(setting) || !space.isTaken(setting) ? fresh(seen, random) : setting;
        }
        if (plan.method() == Method.FOREST && searched % EXPLORES == EXPLORES - 1) {
          return fresh(seen, random);
        }
        List<List<String>> candidates = new ArrayList<>();
        for (int i = 0; i < CANDIDATES * space.knobs().size(); i++) {
          candidates.add(space.random(random));
        }
        return mostPromising(trials, candidates, -1, random);
      }
    }
  }

  /** Runs before a model is asked. */
  private int design(int room) {
    return Math.min(2 * space.knobs().size() + 2, Math.max(2, room / 3));
  }

  /** The setting of a number in a Latin hypercube: each knob has each part of its range once. */
  private List<String> spread(int number, int all) {
    SplittableRandom random = new SplittableRandom(plan.seed());
    double[] places = new double[space.knobs().size()];
    for (int knob = 0; knob < places.length; knob++) {
      int[] order = random.ints(0, all).distinct().limit(all).toArray();
      double[] within = random.doubles(all).toArray();
      places[knob] = (order[number] + within[number]) / all;
    }
    return space.at(places);
  }

  private static Set<List<String>> seen(List<Trial> trials) {
    Set<List<String>> seen = new HashSet<>();
    trials.forEach(trial -> seen.add(trial.setting()));
    return seen;
  }

  private @Nullable List<String> fresh(Set<List<String>> seen, SplittableRandom random) {
    for (int i = 0; i < CANDIDATES; i++) {
      List<String> setting = space.random(random);
      if (!seen.contains(setting) && space.isTaken(setting)) {
        return setting;
      }
    }
    return null;
  }

  /** One knob alone, the others where they were left. */
  private @Nullable List<String> alone(
      List<Trial> trials, int knob, int number, int room, int begun, SplittableRandom random) {
    List<String> base = base(trials, begun);
    List<Trial> line = trials.stream().filter(each -> isOnLine(each, base, knob)).toList();
    Set<List<String>> seen = seen(trials);
    boolean isGrid = plan.method() == Method.GRID;
    if (isGrid || plan.method().learns() && number < LINE_BEGINNING) {
      List<List<String>> few = fresh(base, knob, isGrid ? room : LINE_BEGINNING, seen);
      if (isGrid || !few.isEmpty()) {
        return few.isEmpty() ? null : few.get(0);
      }
    }
    List<List<String>> candidates = fresh(base, knob, CANDIDATES, seen);
    if (candidates.isEmpty()) {
      return null;
    }
    return plan.method().learns()
        ? mostPromising(line, candidates, knob, random)
        : candidates.get(random.nextInt(candidates.size()));
  }

  /** So many values of a knob, spread evenly, without those that were run. */
  private List<List<String>> fresh(
      List<String> base, int knob, int values, Set<List<String>> seen) {
    return space.knobs().get(knob).spread(values).stream()
        .map(value -> Space.with(base, knob, value))
        .filter(setting -> !seen.contains(setting) && space.isTaken(setting))
        .toList();
  }

  /** Where all knobs are when so many settings were searched; each has a value that it may. */
  private List<String> base(List<Trial> trials, int searched) {
    List<Trial> before = new ArrayList<>();
    int count = 0;
    for (Trial trial : trials) {
      boolean isSearch = trial.phase() == Trial.Phase.SEARCH;
      if (isSearch && count == searched) {
        break;
      }
      count += isSearch ? 1 : 0;
      before.add(trial);
    }
    Knowledge known =
        new Knowledge(space, plan.goal(), Method.RANDOM, before, new SplittableRandom(0));
    List<String> best = known.best();
    List<String> base = new ArrayList<>();
    for (int i = 0; i < space.knobs().size(); i++) {
      Knob knob = space.knobs().get(i);
      String value = best == null ? defaults.get(i) : best.get(i);
      base.add(knob.has(value) ? value : knob.value(0.5));
    }
    return List.copyOf(base);
  }

  private static boolean isOnLine(Trial trial, List<String> base, int knob) {
    for (int i = 0; i < base.size(); i++) {
      if (i != knob && !trial.setting().get(i).equals(base.get(i))) {
        return false;
      }
    }
    return true;
  }

  /**
   * The candidate, or a neighbour of one, with the most expected improvement that keeps the bounds.
   *
   * @param knob the only one that may be turned; -1 for all
   */
  private @Nullable List<String> mostPromising(
      List<Trial> trials, List<List<String>> candidates, int knob, SplittableRandom random) {
    Set<List<String>> seen = seen(trials);
    Knowledge known = knowledge(trials, random);
    if (!known.hasModel()) {
      return candidates.stream().filter(each -> !seen.contains(each)).findFirst().orElse(null);
    }
    List<String> best = known.bestOfSpace();
    double least = best == null ? Double.NaN : known.predicted(best).mean();
    List<List<String>> all = new ArrayList<>(candidates);
    known.ranked().stream()
        .filter(space::has)
        .limit(NEIGHBOURED)
        .forEach(each -> addNeighbours(all, each, knob, random));
    List<String> found = null;
    double most = -1;
    for (int round = 0; round <= 1; round++) {
      for (List<String> each : all) {
        if (!seen.contains(each) && space.isTaken(each)) {
          double score = score(known, each, least);
          if (score > most) {
            most = score;
            found = each;
          }
        }
      }
      all.clear();
      if (found != null) {
        addNeighbours(all, found, knob, random);
      }
    }
    return found;
  }

  private static double score(Knowledge known, List<String> setting, double least) {
    double chance = known.chance(setting);
    return Double.isNaN(least) ? chance : chance * known.predicted(setting).improvement(least);
  }

  private void addNeighbours(
      List<List<String>> all, List<String> setting, int knob, SplittableRandom random) {
    double[] places = space.places(setting);
    for (double radius : RADII) {
      for (int i = 0; i < NEIGHBOURS; i++) {
        double[] moved = places.clone();
        for (int k = 0; k < moved.length; k++) {
          if (knob < 0 || knob == k) {
            moved[k] = moved(space.knobs().get(k), places[k], radius, random);
          }
        }
        all.add(space.at(moved));
      }
    }
  }

  /** A place nearby; now and then any choice. */
  private static double moved(Knob knob, double place, double radius, SplittableRandom random) {
    if (!knob.isRange()) {
      int choices = knob.choices().size();
      return random.nextInt(3) == 0 ? random.nextInt(choices) / (choices - 1.0) : place;
    }
    return Math.max(0, Math.min(1, place + radius * random.nextGaussian()));
  }
}
