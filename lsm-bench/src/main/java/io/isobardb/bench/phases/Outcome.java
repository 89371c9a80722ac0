package io.isobardb.bench.phases;

import io.isobardb.lsm.observe.StoreListener;
import java.util.List;

/**
 * What a workload has cost with one contender and one seed.
 *
 * @param phases pages of each phase, by parts of it
 * @param runs that the tree had at the end of each phase
 * @param decisions what the store has decided
 */
record Outcome(
    String contender,
    long seed,
    List<List<PhasedStore.Pages>> phases,
    List<String> runs,
    List<Decision> decisions) {
  /** A phase is measured in so many parts. */
  static final int PARTS = 10;

  /**
   * What a store has decided.
   *
   * @param operations since the first phase began; below 0 before
   */
  record Decision(long operations, StoreListener.Shape shape) {
    Decision since(long begin) {
      return new Decision(operations - begin, shape);
    }
  }

  Outcome {
    phases = List.copyOf(phases);
    runs = List.copyOf(runs);
    decisions = List.copyOf(decisions);
  }

  /** Pages of a phase without its first parts. */
  PhasedStore.Pages pages(int phase, int skipped) {
    return phases.get(phase).stream()
        .skip(skipped)
        .reduce(PhasedStore.Pages.NONE, PhasedStore.Pages::plus);
  }

  /** Pages of all phases. */
  double all() {
    double sum = 0;
    for (int i = 0; i < phases.size(); i++) {
      sum += pages(i, 0).all();
    }
    return sum;
  }
}
