package io.isobardb.lsm.state;

import io.isobardb.lsm.sstable.Filter;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.PlacedRun;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.model.FilterBits;
import java.util.List;

/**
 * How many runs on disk lookups ask in vain, as the filters that are there are sized: a filter of
 * so many bits per key takes this part of absent keys for present ones. Any key of the last level
 * is as likely as another. Pure; any thread.
 *
 * @param upper of the runs above the last level
 * @param last of the last level
 */
public record FilterRates(double upper, double last) {
  /** Those of a tree's SSTables. */
  public static FilterRates of(Version version) {
    List<PlacedRun> runs = version.placedRuns();
    double upper = 0;
    double lowest = 0;
    for (PlacedRun run : runs) {
      double rate = 0;
      for (SSTableMeta table : run.run().elements()) {
        rate += rate(table) * KeyShare.of(version, table);
      }
      if (run.place().isLevel() && run.place().height() == 0) {
        lowest = rate;
      } else {
        upper += rate;
      }
    }
    return new FilterRates(upper, lowest);
  }

  private static double rate(SSTableMeta table) {
    double filter = (double) table.filterBlocks() * Filter.BLOCK * Byte.SIZE;
    double bits = filter / Math.max(1, table.entries());
    return FilterBits.falsePositives(Math.min(FilterBits.MOST, bits));
  }
}
