package io.isobardb.lsm.merge;

import java.util.ArrayList;
import java.util.List;

/**
 * The claim of a disk merge on its inputs. A more urgent merge may take them until this one
 * commits. Then it ends the step that is under way, lets go of the inputs, and tells those that
 * wait for them.
 *
 * <p>Thread rule: all methods may be called by any thread. The merge's steps come one at a time.
 */
final class InputClaim {
  private enum State {
    /** No step is under way. It can still be given up. */
    RESTING,
    /** A step is under way. It can still be given up. */
    IN_STEP,
    /** The outputs take the place of the inputs. */
    COMMITTING,
    /** It has failed, and ends by itself. */
    FAILED,
    /** It was given up within a step, which goes on to its end. */
    ENDING_STEP,
    /** It was given up, and still has its inputs. */
    GIVEN_UP,
    /** Somebody lets go of the inputs. */
    RELEASING,
    /** It has none of its inputs any more. */
    RELEASED
  }

  // Guarded by this.
  private State state = State.RESTING;
  private final List<Runnable> onReleased = new ArrayList<>();

  /** Begins a step; false if it was given up. */
  synchronized boolean enter() {
    if (state == State.RESTING) {
      state = State.IN_STEP;
    }
    return !hasGivenUp();
  }

  /** Ends a step, if one is under way. Whether it was given up: then the inputs are to go. */
  synchronized boolean leave() {
    if (state == State.IN_STEP) {
      state = State.RESTING;
    } else if (state == State.ENDING_STEP) {
      state = State.GIVEN_UP;
    }
    return hasGivenUp();
  }

  /** Has it end without a trace; false if it is too late for that. */
  synchronized boolean giveUp() {
    if (state == State.RESTING) {
      state = State.GIVEN_UP;
    } else if (state == State.IN_STEP) {
      state = State.ENDING_STEP;
    }
    return hasGivenUp();
  }

  /** Begins to commit, within a step; false if it was given up. */
  synchronized boolean commit() {
    if (state == State.IN_STEP) {
      state = State.COMMITTING;
    }
    return isCommitting();
  }

  /** It has failed: it can't be given up from now on. Whether it was: then the inputs are to go. */
  synchronized boolean fail() {
    if (state == State.ENDING_STEP) {
      state = State.GIVEN_UP;
    } else if (!hasGivenUp()) {
      state = State.FAILED;
    }
    return hasGivenUp();
  }

  /** Whether it can still be given up. */
  synchronized boolean isVoidable() {
    return state == State.RESTING || state == State.IN_STEP;
  }

  /** Whether its outputs take the place of its inputs, or have. */
  synchronized boolean isCommitting() {
    return state == State.COMMITTING;
  }

  synchronized boolean isGivenUp() {
    return hasGivenUp();
  }

  private boolean hasGivenUp() {
    return state.compareTo(State.FAILED) > 0;
  }

  /** Takes it on to let go of the inputs; false if another does, or a step goes on. */
  synchronized boolean beginRelease() {
    boolean now = state == State.GIVEN_UP;
    if (now) {
      state = State.RELEASING;
    }
    return now;
  }

  /** The inputs are let go of: tells those that wait. */
  void endRelease() {
    List<Runnable> actions;
    synchronized (this) {
      state = State.RELEASED;
      actions = List.copyOf(onReleased);
    }
    actions.forEach(Runnable::run);
  }

  /** Has an action run once the inputs are let go of, at once if they are. */
  void onReleased(Runnable action) {
    synchronized (this) {
      if (state != State.RELEASED) {
        onReleased.add(action);
        return;
      }
    }
    action.run();
  }
}
