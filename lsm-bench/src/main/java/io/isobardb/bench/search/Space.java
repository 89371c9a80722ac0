package io.isobardb.bench.search;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * All settings that a search may try: a value for each knob, as far as a store takes them together.
 * A setting is a list of values in the order of the knobs. Immutable.
 *
 * @param knobs at least one
 * @param taken whether a store takes the options of a setting together
 */
record Space(List<Knob> knobs, Predicate<Map<String, String>> taken) {
  /** Tries before a setting that a store takes is given up. */
  private static final int TRIES = 1000;

  Space {
    knobs = List.copyOf(knobs);
  }

  /** A setting as options by name. */
  Map<String, String> options(List<String> setting) {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i < knobs.size(); i++) {
      options.put(knobs.get(i).name(), setting.get(i));
    }
    return options;
  }

  boolean isTaken(List<String> setting) {
    return taken.test(options(setting));
  }

  /** Whether each value is among those of its knob. */
  boolean has(List<String> setting) {
    for (int i = 0; i < knobs.size(); i++) {
      if (!knobs.get(i).has(setting.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** The setting at places, one for each knob. */
  List<String> at(double[] places) {
    List<String> setting = new ArrayList<>();
    for (int i = 0; i < places.length; i++) {
      setting.add(knobs.get(i).value(places[i]));
    }
    return List.copyOf(setting);
  }

  /** The places of a setting that this space has. */
  double[] places(List<String> setting) {
    double[] places = new double[knobs.size()];
    for (int i = 0; i < places.length; i++) {
      places[i] = knobs.get(i).place(setting.get(i));
    }
    return places;
  }

  /** A setting as a point of a model. */
  double[] point(List<String> setting) {
    double[] point = new double[coordinates()];
    int at = 0;
    for (int i = 0; i < knobs.size(); i++) {
      knobs.get(i).put(setting.get(i), point, at);
      at += knobs.get(i).coordinates();
    }
    return point;
  }

  private int coordinates() {
    return knobs.stream().mapToInt(Knob::coordinates).sum();
  }

  /** Which knob each coordinate of a point belongs to. */
  int[] knobOfCoordinate() {
    int[] of = new int[coordinates()];
    int at = 0;
    for (int i = 0; i < knobs.size(); i++) {
      for (int c = 0; c < knobs.get(i).coordinates(); c++) {
        of[at++] = i;
      }
    }
    return of;
  }

  /** Any setting that a store takes. */
  List<String> random(SplittableRandom random) {
    List<String> setting = List.of();
    for (int i = 0; i < TRIES; i++) {
      double[] places = random.doubles(knobs.size()).toArray();
      for (int k = 0; k < places.length; k++) {
        int choices = knobs.get(k).choices().size();
        // The two at the ends would be half as likely as others.
        places[k] = choices == 0 ? places[k] : random.nextInt(choices) / (choices - 1.0);
      }
      setting = at(places);
      if (isTaken(setting)) {
        return setting;
      }
    }
    return setting;
  }

  /** A setting of the same values but for one. */
  static List<String> with(List<String> setting, int knob, String value) {
    List<String> other = new ArrayList<>(setting);
    other.set(knob, value);
    return List.copyOf(other);
  }

  /** All combinations of values spread evenly, at most so many, that a store takes. */
  List<List<String>> grid(int most) {
    int count = 2;
    while (product(count + 1) <= most && count < most) {
      count++;
    }
    List<List<String>> all = List.of(List.of());
    for (Knob knob : knobs) {
      List<List<String>> longer = new ArrayList<>();
      for (List<String> begun : all) {
        for (String value : knob.spread(count)) {
          List<String> setting = new ArrayList<>(begun);
          setting.add(value);
          longer.add(List.copyOf(setting));
        }
      }
      all = longer;
    }
    return all.stream().filter(this::isTaken).toList();
  }

  /** Settings of a grid with so many values of each range. */
  private long product(int count) {
    long product = 1;
    for (Knob knob : knobs) {
      product *= knob.spread(count).size();
    }
    return product;
  }
}
