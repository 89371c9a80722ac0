package io.isobardb.tuner.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The last decisions of a tuner, oldest first, {@value #MAX_DECISIONS} at most. The next decision
 * depends on the last one and on nothing before it, so that a tuner may go on from a history that
 * was cut or read from a file.
 */
public record TunerHistory(List<Decision> decisions) {
  /** How many decisions are kept. */
  public static final int MAX_DECISIONS = 256;

  /** Nothing decided yet. */
  public static final TunerHistory EMPTY = new TunerHistory(List.of());

  /**
   * Copies the list.
   *
   * @param decisions oldest first
   */
  public TunerHistory {
    int from = Math.max(0, decisions.size() - MAX_DECISIONS);
    decisions = List.copyOf(decisions.subList(from, decisions.size()));
  }

  /** {@return the newest decision, null if there is none} */
  public @Nullable Decision last() {
    return decisions.isEmpty() ? null : decisions.get(decisions.size() - 1);
  }

  /**
   * {@return the number of the next cycle; 1 again where the numbers end, as those of a bad file
   * may}
   */
  public long nextCycle() {
    Decision last = last();
    return last == null ? 1 : last.seen().cycle() % Long.MAX_VALUE + 1;
  }

  /**
   * {@return the history of decisions read from a file, oldest first, with what came of each}
   *
   * @param recorded oldest first
   */
  public static TunerHistory of(List<Decision> recorded) {
    TunerHistory history = EMPTY;
    for (Decision decision : recorded) {
      history = history.and(decision);
    }
    return history;
  }

  /** This and one more decision, whose cost is what the one before has come to. */
  TunerHistory and(Decision next) {
    List<Decision> all = new ArrayList<>(decisions);
    if (!all.isEmpty() && next.seen().operations() > 0) {
      int last = all.size() - 1;
      all.set(last, all.get(last).found(next.pressure().cost()));
    }
    all.add(next);
    return new TunerHistory(all);
  }
}
