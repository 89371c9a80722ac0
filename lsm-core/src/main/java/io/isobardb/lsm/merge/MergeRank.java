package io.isobardb.lsm.merge;

import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;

/**
 * Which SSTable of a level that is too large is merged into the level below, by a {@link
 * MergeSelection}. Pure functions; any thread.
 */
final class MergeRank {
  /** How much less a merge seems to cost if its SSTable is all delete markers. */
  private static final double DELETE_BONUS = 0.75;

  private MergeRank() {}

  /** The SSTable with the lowest rank is merged first. */
  static double of(MergeSelection selection, SSTableMeta table, Level<SSTableMeta> below) {
    return switch (selection) {
      case GREEDY -> {
        long overlap = 0;
        for (SSTableMeta other : below.overlapping(table.minKey(), table.maxKey())) {
          overlap += other.sizeBytes();
        }
        yield overlap / (double) table.sizeBytes() * (1 - DELETE_BONUS * deleteShare(table));
      }
      case OLDEST -> table.fileNumber();
    };
  }

  /** The part of an SSTable's entries that are delete markers. */
  static double deleteShare(SSTableMeta table) {
    return table.entries() == 0 ? 0 : table.deletes() / (double) table.entries();
  }
}
