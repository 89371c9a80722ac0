package io.isobardb.tuner.memory;

import java.util.ArrayList;
import java.util.List;

/** Decides anew on recorded statistics, and compares. */
public final class Replay {
  private Replay() {}

  /**
   * Decides again on what each decision has seen, with its options and after the decision recorded
   * before it, and tells how the answers differ, one line each: none, if the tuner decides today as
   * it did then. The first decision only serves as the past of the second, unless it is of the
   * first cycle a tuner saw.
   *
   * @param fromStart whether the first decision was made without a history
   */
  public static List<String> differences(List<Decision> recorded, boolean fromStart) {
    List<String> differences = new ArrayList<>();
    for (int i = fromStart ? 0 : 1; i < recorded.size(); i++) {
      Decision then = recorded.get(i);
      Decision before = i == 0 ? null : recorded.get(i - 1);
      Decision now = new Deliberation(then.options(), before, then.seen()).decide();
      if (!now.equals(then.found(Double.NaN))) {
        differences.add(
            "cycle "
                + then.seen().cycle()
                + ": recorded "
                + summary(then)
                + ", decided now "
                + summary(now));
      }
    }
    return differences;
  }

  private static String summary(Decision decision) {
    return decision.method() + " to " + decision.toBytes() + " (" + decision.reason() + ")";
  }
}
