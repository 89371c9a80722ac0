package io.isobardb.tuner.shape;

import java.util.ArrayList;
import java.util.List;

/**
 * The phases of a tree's workload, as its windows tell. Immutable.
 *
 * <p>A window whose operations differ is put aside. If the next one is like it, a phase began with
 * it; if the next one is like the phase again, it was chance. What stays different without being
 * alike is a phase after {@value #MOST_ASIDE} windows.
 *
 * @param now what was done in the phase so far
 * @param aside what was done since it may have ended
 * @param asideWindows in how many windows
 * @param began whether the last window showed that another phase had begun
 * @param past phases that have ended, the oldest first
 */
public record Phases(Window now, Window aside, int asideWindows, boolean began, List<Window> past) {
  /** Nothing was seen. */
  public static final Phases NONE = new Phases(Window.NONE, Window.NONE, 0, false, List.of());

  /** The part of the operations that must be others. */
  private static final double OTHER = 0.2;

  private static final int MOST_ASIDE = 4;

  /** So many phases are remembered. */
  private static final int MOST_PAST = 16;

  /** A stay is expected if so many phases like this one have ended. */
  private static final int FEW = 2;

  /**
   * Copies the list.
   *
   * @param now of the phase so far
   * @param aside since it may have ended
   * @param asideWindows 0 or more
   * @param began whether another phase had begun with the last window
   * @param past oldest first
   */
  public Phases {
    past = List.copyOf(past);
  }

  /**
   * {@return what is known after one more window}
   *
   * @param window the one that has just ended
   */
  public Phases after(Window window) {
    if (now.operations() == 0 || now.distance(window) <= OTHER) {
      return new Phases(now.plus(aside).plus(window), Window.NONE, 0, false, past);
    }
    if (asideWindows == 0) {
      return new Phases(now, window, 1, false, past);
    }
    Window others = aside.plus(window);
    boolean another = aside.distance(window) <= OTHER || asideWindows + 1 >= MOST_ASIDE;
    return another ? next(others) : new Phases(now, others, asideWindows + 1, false, past);
  }

  private Phases next(Window begun) {
    List<Window> ended = new ArrayList<>(past);
    ended.add(now);
    if (ended.size() > MOST_PAST) {
      ended.remove(0);
    }
    return new Phases(begun, Window.NONE, 0, true, ended);
  }

  /** {@return whether what was done last may not belong to the phase} */
  public boolean isDoubtful() {
    return asideWindows > 0;
  }

  /**
   * {@return how many operations the phase is still to last: as those like it did that lasted
   * longer than it has so far} NaN if too few were like it, or none lasted so long.
   */
  public double expectedStay() {
    double age = now.operations();
    double left = 0;
    int longer = 0;
    int alike = 0;
    for (Window phase : past) {
      if (phase.distance(now) <= OTHER) {
        alike++;
        if (phase.operations() > age) {
          left += phase.operations() - age;
          longer++;
        }
      }
    }
    return alike < FEW || longer == 0 ? Double.NaN : left / longer;
  }
}
