package io.isobardb.lsm;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a list that fails shorter, as long as it fails: delta debugging after Zeller. Parts are
 * taken out, halves first, then quarters, down to single elements.
 */
final class ScriptReducer {
  private final int mostRuns;
  private int runs;

  /**
   * @param mostRuns after so many runs what was come to is good enough
   */
  ScriptReducer(int mostRuns) {
    this.mostRuns = mostRuns;
  }

  /**
   * @param list which fails
   * @param fails runs a list; must always give the same answer
   * @return a list that fails, from which, if there were runs enough, no element can be taken
   */
  <T> List<T> reduce(List<T> list, Predicate<List<T>> fails) {
    List<T> shortest = new ArrayList<>(list);
    int part = Math.max(1, shortest.size() / 2);
    while (runs < mostRuns) {
      boolean shorter = false;
      for (int from = 0; from < shortest.size() && runs < mostRuns; ) {
        List<T> rest = new ArrayList<>(shortest);
        rest.subList(from, Math.min(from + part, rest.size())).clear();
        runs++;
        if (fails.test(rest)) {
          shortest = rest;
          shorter = true;
        } else {
          from += part;
        }
      }
      if (part == 1 && !shorter) {
        break;
      }
      part = Math.max(1, part / 2);
    }
    return shortest;
  }
}
