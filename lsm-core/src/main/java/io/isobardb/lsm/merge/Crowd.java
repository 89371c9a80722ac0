package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tiers of about one size that are too many in a column of keys.
 *
 * <p>A tier's size is counted there by its part of what the level below has in the same keys. So a
 * thin run over all keys and a slice that is as thin count alike. What all tiers may hold is the
 * size of the largest ones together. Those a step above are as many times smaller as the step below
 * may have runs, and so on.
 *
 * <p>A step that has too many runs becomes one run of the next step. Newer tiers on top of it,
 * which are smaller, go along: they cost little, and are runs, too. Pure functions; any thread.
 *
 * @param inputs SSTables of tiers to be merged; with what is below them, if they are the largest
 * @param goesDown whether they are the largest: then they go to the level below
 * @param runs how many there are of one size
 * @param most how many there may be
 */
record Crowd(InputSet inputs, boolean goesDown, int runs, int most) {
  /** By how much there are too many: above 1. */
  double score() {
    return (double) runs / most;
  }

  /**
   * The fullest column, of those that can be merged now and are not too large for one merge, or the
   * smallest of all; null if no column is too full.
   *
   * @param allowed how many runs of a size there may be
   * @param share the part of the level below that all tiers may hold
   * @param maxInputBytes what a merge should take at most
   */
  static @Nullable Crowd find(
      MergeView view, Set<Long> busy, Runs allowed, double share, long maxInputBytes) {
    List<PlacedRun> tiers = view.version().tiers();
    Crowd best = null;
    for (int newest = 0; newest + 1 < tiers.size(); newest++) {
      Level<SSTableMeta> run = tiers.get(newest).run();
      for (int i = 0; i < run.size(); i++) {
        Crowd found = in(view.version(), busy, allowed, share, newest, i);
        if (found != null && (best == null || found.isBetter(best, maxInputBytes))) {
          best = found;
        }
      }
    }
    return best;
  }

  private boolean isBetter(Crowd other, long maxInputBytes) {
    boolean large = inputs.upperBytes() > maxInputBytes;
    if (large != other.inputs.upperBytes() > maxInputBytes) {
      return !large;
    }
    return large
        ? inputs.upperBytes() < other.inputs.upperBytes()
        : score() > other.score()
            || score() == other.score() && inputs.groups() > other.inputs.groups();
  }

  /** The column of one SSTable and its elders, if it has too many runs of a size. */
  private static @Nullable Crowd in(
      Version version, Set<Long> busy, Runs allowed, double share, int newest, int i) {
    List<PlacedRun> tiers = version.tiers();
    InputSet column = new InputSet(version, tiers, busy);
    column.takeWithElders(newest, i);
    if (column.groups() <= allowed.above(0)) {
      return null;
    }
    double bound = share * bytesBelow(version, column);
    for (int step = 0; ; step++) {
      int most = allowed.above(step);
      double next = bound == 0 ? 0 : bound / most;
      int count = 0;
      int smaller = 0;
      int oldest = -1;
      for (int tier = newest; tier < tiers.size(); tier++) {
        long bytes = column.bytesOf(tier);
        if (bytes == 0) {
          continue;
        }
        if (step > 0 && bytes > bound) {
          break;
        }
        if (bytes > next) {
          count++;
          oldest = tier;
        } else {
          smaller++;
        }
      }
      if (count > most) {
        InputSet inputs = new InputSet(version, tiers, busy);
        inputs.takeWithElders(newest, i, step == 0 ? tiers.size() : oldest + 1);
        return inputs.blocked() || inputs.groups() < 2
            ? null
            : new Crowd(inputs, step == 0, count, most);
      }
      if (smaller <= 1) {
        return null;
      }
      bound = next;
    }
  }

  /** What the level below has in a column; half of an SSTable that reaches beyond it. */
  private static double bytesBelow(Version version, InputSet column) {
    double bytes = 0;
    for (SSTableMeta table : version.level(1).overlapping(column.minKey(), column.maxKey())) {
      boolean within =
          compare(version, column.minKey(), table.minKey()) <= 0
              && compare(version, table.maxKey(), column.maxKey()) <= 0;
      bytes += within ? table.sizeBytes() : table.sizeBytes() / 2.0;
    }
    return bytes;
  }

  private static int compare(Version version, byte[] a, byte[] b) {
    return version.order().compare(a, 0, a.length, b, 0, b.length);
  }
}
