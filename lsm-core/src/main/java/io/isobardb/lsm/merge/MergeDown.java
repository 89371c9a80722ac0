package io.isobardb.lsm.merge;

import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A user's wish that a range of a tree be merged down to the last level, and rid there of what is
 * deleted or has expired. What is written meanwhile does not belong to it, so it ends.
 *
 * <p>Immutable.
 *
 * @param from the first key, null for no bound
 * @param to the key behind the last one, null for no bound
 * @param belowLsn entries with lower LSNs are to go down
 * @param belowFile SSTables of the last level with higher numbers were written since, and so are
 *     rid of what is deleted
 * @param expiredBy what has expired by then is so for all readers
 */
public record MergeDown(
    byte @Nullable [] from, byte @Nullable [] to, long belowLsn, long belowFile, long expiredBy) {

  /** Whether nothing is left to do. */
  public boolean isDone(Version version) {
    if (anyGoesDown(version, version.groups()) || anyGoesDown(version, version.tiers())) {
      return false;
    }
    for (int height = version.levelCount() - 1; height > 0; height--) {
      if (!above(version, height).isEmpty()) {
        return false;
      }
    }
    return toClean(version).isEmpty();
  }

  private boolean anyGoesDown(Version version, List<PlacedRun> runs) {
    return runs.stream()
        .flatMap(placed -> placed.run().elements().stream())
        .anyMatch(table -> goesDown(version, table));
  }

  /** The SSTables of a level above the last one that have to go down. */
  List<SSTableMeta> above(Version version, int height) {
    return version.atHeight(height).elements().stream()
        .filter(table -> goesDown(version, table))
        .toList();
  }

  /** The SSTables of the last level that have to be rewritten where they stand. */
  List<SSTableMeta> toClean(Version version) {
    return version.atHeight(0).elements().stream()
        .filter(table -> isToBeCleaned(version, table))
        .toList();
  }

  /** Whether an SSTable above the last level is to go down. */
  boolean goesDown(Version version, SSTableMeta table) {
    return table.minLsn() < belowLsn && meets(version.order(), table);
  }

  private boolean isToBeCleaned(Version version, SSTableMeta table) {
    return table.fileNumber() < belowFile
        && meets(version.order(), table)
        && (table.deletes() > 0
            || table.expiring().expired(expiredBy) > 0
            || isHiddenInPart(version.rangeDeletes(), table));
  }

  private static boolean isHiddenInPart(RangeDeletes deletes, SSTableMeta table) {
    return deletes.newest().max(table.minKey(), table.maxKey()) > table.minLsn();
  }

  private boolean meets(KeyOrder order, SSTableMeta table) {
    byte[] low = from;
    byte[] high = to;
    byte[] min = table.minKey();
    byte[] max = table.maxKey();
    return (low == null || order.compare(max, 0, max.length, low, 0, low.length) >= 0)
        && (high == null || order.compare(min, 0, min.length, high, 0, high.length) < 0);
  }
}
