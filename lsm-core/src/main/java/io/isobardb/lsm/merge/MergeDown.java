package io.isobardb.lsm.merge;

import io.isobardb.lsm.range.RangeDeletes;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Place;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A wish that something of a tree be merged down, though it need not be. What is written meanwhile
 * does not belong to it, so it ends. Immutable.
 */
public sealed interface MergeDown {
  /**
   * An SSTable of fewer pages is mostly what every SSTable has besides entries. It counts what they
   * are before they are compressed, as the size does at which merges end an SSTable: else all that
   * becomes of small ones could be as small, and be joined for ever.
   */
  int SMALL_PAGES = 8;

  /** So much becomes one SSTable at a time. */
  long MOST_JOINED_BYTES = 16 << 20;

  /** Whether an SSTable that stands there, above the last level, is to go down. */
  boolean goesDown(Version version, Place place, SSTableMeta table);

  /** The SSTables of the last level that have to be rewritten where they stand. */
  default List<SSTableMeta> toClean(Version version) {
    return List.of();
  }

  /**
   * Neighbours in the last level that are to become one SSTable: each has little but what every
   * SSTable has. Empty if there are none.
   */
  default List<SSTableMeta> toJoin(Version version) {
    return List.of();
  }

  /** The first neighbours in the last level that are such; empty if none has another beside it. */
  private static List<SSTableMeta> neighbours(Version version, Predicate<SSTableMeta> joins) {
    List<SSTableMeta> joined = new ArrayList<>();
    long bytes = 0;
    for (SSTableMeta table : version.atHeight(0).elements()) {
      if (joins.test(table) && bytes < MOST_JOINED_BYTES) {
        joined.add(table);
        bytes += table.sizeBytes();
      } else if (joined.size() > 1) {
        break;
      } else {
        joined.clear();
        bytes = 0;
      }
    }
    return joined.size() > 1 ? joined : List.of();
  }

  /** Why, for events. */
  String reason();

  /** Whether it is done because reads have lost as much as it costs. */
  default boolean isForReads() {
    return true;
  }

  /** Whether nothing is left to do. */
  default boolean isDone(Version version) {
    for (PlacedRun placed : version.placedRuns()) {
      boolean isLast = placed.place().equals(Place.level(0));
      if (!isLast && !toGoDown(version, placed).isEmpty()) {
        return false;
      }
    }
    return toClean(version).isEmpty() && toJoin(version).isEmpty();
  }

  /** The SSTables of a run above the last level that have to go down. */
  default List<SSTableMeta> toGoDown(Version version, PlacedRun placed) {
    return placed.run().elements().stream()
        .filter(table -> goesDown(version, placed.place(), table))
        .toList();
  }

  /**
   * A user's wish that a range be merged down to the last level, and rid there of what is deleted
   * or has expired.
   *
   * @param from the first key, null for no bound
   * @param to the key behind the last one, null for no bound
   * @param belowLsn entries with lower LSNs are to go down
   * @param belowFile SSTables of the last level with higher numbers were written since, and so are
   *     rid of what is deleted
   * @param expiredBy what has expired by then is so for all readers
   * @param smallPages neighbours of the last level that have fewer become one
   */
  record Range(
      byte @Nullable [] from,
      byte @Nullable [] to,
      long belowLsn,
      long belowFile,
      long expiredBy,
      long smallPages)
      implements MergeDown {
    @Override
    public boolean goesDown(Version version, Place place, SSTableMeta table) {
      return table.minLsn() < belowLsn && meets(version, table);
    }

    @Override
    public List<SSTableMeta> toClean(Version version) {
      return version.atHeight(0).elements().stream()
          .filter(table -> isToBeCleaned(version, table))
          .toList();
    }

    @Override
    public List<SSTableMeta> toJoin(Version version) {
      return neighbours(version, table -> table.pageCount() < smallPages && meets(version, table));
    }

    private boolean isToBeCleaned(Version version, SSTableMeta table) {
      return table.fileNumber() < belowFile
          && meets(version, table)
          && (table.deletes() > 0
              || table.expiring().expired(expiredBy) > 0
              || isHiddenInPart(version.rangeDeletes(), table));
    }

    private static boolean isHiddenInPart(RangeDeletes deletes, SSTableMeta table) {
      return deletes.newest().max(table.minKey(), table.maxKey()) > table.minLsn();
    }

    private boolean meets(Version version, SSTableMeta table) {
      byte[] low = from;
      byte[] high = to;
      byte[] min = table.minKey();
      byte[] max = table.maxKey();
      return (low == null || version.order().compare(max, 0, max.length, low, 0, low.length) >= 0)
          && (high == null
              || version.order().compare(min, 0, min.length, high, 0, high.length) < 0);
    }

    @Override
    public String reason() {
      return "a range is to be merged down";
    }

    @Override
    public boolean isForReads() {
      return false;
    }
  }

  /**
   * The store's wish that an SSTable leave its place for the level below: reads have lost as much
   * by passing it as that costs.
   *
   * @param place where it stands
   * @param file its number
   */
  record Passed(Place place, long file) implements MergeDown {
    @Override
    public boolean goesDown(Version version, Place at, SSTableMeta table) {
      return table.fileNumber() == file && at.equals(place);
    }

    @Override
    public String reason() {
      return "reads have paid for it";
    }
  }

  /**
   * The store's wish that all of a tree become one run: see {@link Settler}.
   *
   * @param belowLsn entries with lower LSNs are to go down
   */
  record Settled(long belowLsn) implements MergeDown {
    @Override
    public boolean goesDown(Version version, Place place, SSTableMeta table) {
      return table.minLsn() < belowLsn;
    }

    @Override
    public String reason() {
      return "reads have paid for one run";
    }
  }

  /**
   * The store's wish that small SSTables which overlap nothing become larger ones: see {@link
   * SmallTables}.
   *
   * @param belowFile those with higher numbers were written since
   * @param smallPages those that have fewer are small
   */
  record Small(long belowFile, long smallPages) implements MergeDown {
    /** In other runs, that is: nothing is rewritten for it on the way down. */
    @Override
    public boolean goesDown(Version version, Place place, SSTableMeta table) {
      return isSmall(table)
          && version.placedRuns().stream()
              .noneMatch(
                  other ->
                      !other.place().equals(place)
                          && other.run().overlaps(table.minKey(), table.maxKey()));
    }

    @Override
    public List<SSTableMeta> toJoin(Version version) {
      return neighbours(version, this::isSmall);
    }

    private boolean isSmall(SSTableMeta table) {
      return table.fileNumber() < belowFile && table.pageCount() < smallPages;
    }

    @Override
    public String reason() {
      return "many small SSTables";
    }

    @Override
    public boolean isForReads() {
      return false;
    }
  }
}
