package io.isobardb.tuner.workload;

import io.isobardb.tuner.model.Popularity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LevelTuner} looks at: one tree, at the end of a cycle. Sizes are in entries, lengths
 * of time in writes to the tree.
 *
 * @param cycle its number
 * @param tree the tree's number
 * @param sizes of what the levels are made of
 * @param now what the levels are to hold now, whoever says so
 * @param usual what they would hold without a plan
 * @param popularity of the keys that are written; null while it is not known
 * @param mostSpace what all levels may hold together, by what the last one does
 * @param work what was done since the last decision but those to wait
 */
public record LevelView(
    long cycle,
    int tree,
    Sizes sizes,
    LevelShares now,
    LevelShares usual,
    @Nullable Popularity popularity,
    double mostSpace,
    Work work) {

  /**
   * Sizes.
   *
   * @param last of the last level
   * @param table of an SSTable that a merge writes
   * @param slice of one that a flush writes
   * @param round writes from one flush of a key to the next; 0 if that is not known
   * @param depth how many rounds a merge of L0 takes at a time; 0 if that is not known
   */
  public record Sizes(double last, double table, double slice, double round, double depth) {
    boolean known() {
      return last > 1 && table > 0 && slice > 0 && round >= 1 && depth >= 1;
    }
  }

  /**
   * What was done.
   *
   * @param writes entries put or deleted
   * @param merged entries that merges wrote to each level, by height
   * @param withinL0 entries that merges of groups of L0 wrote to L0
   */
  public record Work(double writes, List<Double> merged, double withinL0) {
    /**
     * Copies the list.
     *
     * @param writes 0 or more
     * @param merged by height
     * @param withinL0 0 or more
     */
    public Work {
      merged = List.copyOf(merged);
    }

    /** Entries that merges wrote for each entry put. */
    double perWrite() {
      double all = withinL0;
      for (double each : merged) {
        all += each;
      }
      return all / writes;
    }
  }

  /** What has to be found out before anything can be decided; empty if nothing has. */
  String missing() {
    if (popularity == null) {
      return "how popular its keys are is not known: two windows of its writes tell";
    }
    if (!(sizes.round() >= 1)) {
      return "flushes have not come by the end of its keys twice";
    }
    if (!(sizes.depth() >= 1)) {
      return "no merge of L0 has ended";
    }
    return sizes.known() ? "" : "its last level is empty";
  }

  /** How often merges have gone round the last level. */
  double turnovers() {
    return work.writes() > 0 && sizes.last() > 0 && !work.merged().isEmpty()
        ? work.merged().get(0) / sizes.last()
        : 0;
  }
}
