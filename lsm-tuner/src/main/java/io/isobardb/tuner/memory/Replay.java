package io.isobardb.tuner.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Decides anew on recorded statistics, and compares. */
public final class Replay {
  private Replay() {}

  /**
   * Decides again on what each decision has seen, with its options and after the decision recorded
   * before it, and tells how the answers differ, one line each: none, if the tuner decides today as
   * it did then. The first decision only serves as the past of the second, unless it is of the
   * first cycle a tuner saw; so does one that follows a gap.
   *
   * @param recorded oldest first, as a file has them
   * @param fromStart whether the first decision was made without a history
   * @return a line for each decision that would be another today; empty if none would
   */
  public static List<String> differences(List<Decision> recorded, boolean fromStart) {
    List<String> differences = new ArrayList<>();
    for (int i = 0; i < recorded.size(); i++) {
      if (!isKnownBefore(recorded, i, fromStart)) {
        continue;
      }
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

  /**
   * {@return how many decisions {@link #differences} replays: those of which the one before is
   * known}
   *
   * @param recorded oldest first, as a file has them
   * @param fromStart whether the first decision was made without a history
   */
  public static int count(List<Decision> recorded, boolean fromStart) {
    return (int)
        IntStream.range(0, recorded.size())
            .filter(i -> isKnownBefore(recorded, i, fromStart))
            .count();
  }

  private static boolean isKnownBefore(List<Decision> recorded, int i, boolean fromStart) {
    return i == 0
        ? fromStart
        : recorded.get(i - 1).seen().cycle() + 1 == recorded.get(i).seen().cycle();
  }

  private static String summary(Decision decision) {
    return decision.method() + " to " + decision.toBytes() + " (" + decision.reason() + ")";
  }
}
