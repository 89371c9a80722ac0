package io.isobardb.bench.analytic;

import io.isobardb.tuner.model.Popularity;
import io.isobardb.tuner.model.WriteCost;
import io.isobardb.tuner.model.WriteModel;
import java.util.Arrays;

/**
 * LevelDB: a memtable of the log's size, overlapping tables in level 0, and levels that are merged
 * downwards one table at a time, round the key space (Algorithm 1 of the paper).
 *
 * <p>It counts what a table is merged with beyond its own keys (false overlaps) as one more write
 * of the merged entries. It leaves out what LevelDB does against that, and level sizes that are
 * exceeded for a while. Levels smaller than the memtable are misjudged.
 */
public final class LevelDbModel implements WriteModel {
  private static final int LEVEL0_TABLES = 4;
  private static final double MEBIBYTE = 1 << 20;
  private static final double BUFFER_BYTES = 4 * MEBIBYTE;
  private static final double FIRST_LEVEL_BYTES = 10 * MEBIBYTE;
  private static final double RATIO = 10;

  private final double bufferEntries;
  private final int level0Tables;
  private final double[] levelEntries;

  /**
   * @param bufferEntries requests that a log file holds, and so a memtable; more than 0
   * @param level0Tables tables in level 0 that start a merge; 1 or more
   * @param levelEntries entries in each level from level 1 on, ascending; the last level holds all
   *     keys
   */
  public LevelDbModel(double bufferEntries, int level0Tables, double[] levelEntries) {
    if (!(bufferEntries > 0)) {
      throw new IllegalArgumentException("the buffer must hold more than 0, not " + bufferEntries);
    }
    if (level0Tables < 1) {
      throw new IllegalArgumentException("level 0 needs 1 table or more, not " + level0Tables);
    }
    this.bufferEntries = bufferEntries;
    this.level0Tables = level0Tables;
    this.levelEntries = LevelSizes.checked(levelEntries);
  }

  /** LevelDB as it comes: a buffer of 4 MiB and levels of 10 MiB times powers of ten. */
  public static LevelDbModel standard(double keys, double entryBytes) {
    double[] levels = LevelSizes.geometric(FIRST_LEVEL_BYTES / entryBytes, RATIO, keys);
    return new LevelDbModel(BUFFER_BYTES / entryBytes, LEVEL0_TABLES, levels);
  }

  /** The same design with other level sizes. */
  public LevelDbModel withLevels(double[] entries) {
    return new LevelDbModel(bufferEntries, level0Tables, entries);
  }

  /** Entries in each level from level 1 on. */
  public double[] levelEntries() {
    return levelEntries.clone();
  }

  /** Requests that a memtable takes. */
  public double bufferEntries() {
    return bufferEntries;
  }

  /** Tables in level 0 that start a merge. */
  public int level0Tables() {
    return level0Tables;
  }

  @Override
  public WriteCost cost(Popularity popularity) {
    LevelSizes.checkLast(levelEntries, popularity.keys());
    double flush = popularity.unique(bufferEntries) / bufferEntries;
    double[] levels = new double[levelEntries.length];
    double interval = bufferEntries * level0Tables;
    levels[0] = popularity.merge(popularity.unique(interval), levelEntries[0]) / interval;
    for (int l = 1; l < levels.length; l++) {
      // Interval(l) includes what has come since the levels above were visited last.
      interval += popularity.sweptUniqueInverse(levelEntries[l - 1]);
      double moved = popularity.unique(interval);
      levels[l] = (popularity.merge(moved, levelEntries[l]) + moved) / interval;
    }
    return new WriteCost(1, flush, levels);
  }

  @Override
  public String toString() {
    return "LevelDB[buffer="
        + bufferEntries
        + ", level0Tables="
        + level0Tables
        + ", levels="
        + Arrays.toString(levelEntries)
        + "]";
  }
}
