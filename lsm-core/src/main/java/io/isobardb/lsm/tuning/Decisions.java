package io.isobardb.lsm.tuning;

import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.workload.LevelDecision;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What is decided for a store by itself: one thing is changed after another, since each would take
 * what another one does for its own doing. What was decided is kept in {@link TunerFile}.
 *
 * <p>The runs of a tree are changed while the wall stands still and no level is on its way to other
 * sizes. Meanwhile these wait, and so do the runs of other trees.
 *
 * <p>Thread rule: all methods may be called by any thread. The monitor is held while the file is
 * read or written.
 */
public final class Decisions {
  private final TunerFile file;
  private final Set<Change> underWay = EnumSet.noneOf(Change.class);

  /** What can be changed. */
  enum Change {
    /** How memory is divided. */
    WALL,
    /** What levels hold. */
    LEVELS,
    /** How many runs a tree has on its levels. */
    RUNS
  }

  /** Decisions of a store, kept in its file. */
  public Decisions(TunerFile file) {
    this.file = file;
  }

  /** Whether such a change may begin now. If so it is under way, until {@link #note} says else. */
  synchronized boolean begin(Change change) {
    boolean isFree = change == Change.RUNS ? underWay.isEmpty() : !underWay.contains(Change.RUNS);
    if (isFree) {
      underWay.add(change);
    }
    return isFree;
  }

  /** Such a change is, or is not, under way. */
  synchronized void note(Change change, boolean going) {
    if (going) {
      underWay.add(change);
    } else {
      underWay.remove(change);
    }
  }

  synchronized TunerHistory readMemory() {
    return file.read();
  }

  synchronized List<LevelDecision> readLevels() {
    return file.readLevels();
  }

  synchronized List<ShapeDecision> readShapes() {
    return file.readShapes();
  }

  synchronized void keep(Decision decision) {
    file.append(decision);
  }

  synchronized void keep(LevelDecision decision) {
    file.append(decision);
  }

  synchronized void keep(ShapeDecision decision) {
    file.append(decision);
  }
}
