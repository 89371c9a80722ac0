package io.isobardb.bench.phases;

import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.Adaptation;

/**
 * A way to choose a tree's runs.
 *
 * @param runs that it keeps, or begins with
 * @param adaptation whether the store changes them
 */
record Contender(Runs runs, Adaptation adaptation) {
  /** A tree keeps its runs. */
  static Contender of(Runs runs) {
    return new Contender(runs, Adaptation.OFF);
  }

  String name() {
    return adaptation == Adaptation.OFF ? runs.toString() : "adaptation " + adaptation;
  }
}
