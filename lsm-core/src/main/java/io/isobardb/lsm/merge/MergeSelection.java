package io.isobardb.lsm.merge;

import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;

/**
 * Which SSTable of a level that is too large is merged into the level below. Pure functions; any
 * thread.
 */
public enum MergeSelection {
  /**
   * The one that makes the least work for what it moves: with the fewest bytes below it for its
   * size, deletes counting in its favour.
   */
  GREEDY {
    @Override
    double rank(SSTableMeta table, Level<SSTableMeta> below) {
      long overlap = 0;
      for (SSTableMeta other : below.overlapping(table.minKey(), table.maxKey())) {
        overlap += other.sizeBytes();
      }
      double deletes = table.entries() == 0 ? 0 : table.deletes() / (double) table.entries();
      return overlap / (double) table.sizeBytes() * (1 - DELETE_BONUS * deletes);
    }
  },

  /**
   * The one that was written first: goes round the keys as they are written anew, so that none
   * stays in a level for long.
   */
  OLDEST {
    @Override
    double rank(SSTableMeta table, Level<SSTableMeta> below) {
      return table.fileNumber();
    }
  };

  /** How much less a merge seems to cost if its SSTable is all delete markers. */
  private static final double DELETE_BONUS = 0.75;

  /** The SSTable with the lowest rank is merged first. */
  abstract double rank(SSTableMeta table, Level<SSTableMeta> below);
}
