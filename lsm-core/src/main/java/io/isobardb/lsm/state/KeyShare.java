package io.isobardb.lsm.state;

import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Level;
import io.isobardb.lsm.version.Version;

/**
 * Which part of a tree's keys lies in the range of a run: by the bytes that the last level has
 * there, of which an SSTable that reaches beyond the range counts half. Pure functions; any thread.
 */
final class KeyShare {
  /** Of a run with more SSTables than that some are looked at, and stand for the others. */
  private static final int MOST_TABLES = 64;

  private KeyShare() {}

  /**
   * Of all SSTables of a run, above 0 to 1; 1 if it is empty, or there is no last level. A run is
   * never thicker than the last level: if it lies beyond that, its own keys count.
   */
  static double of(Version version, Level<SSTableMeta> run) {
    long lastBytes = version.atHeight(0).sizeBytes();
    if (run.isEmpty() || lastBytes == 0) {
      return 1;
    }
    int stride = (run.size() + MOST_TABLES - 1) / MOST_TABLES;
    double sum = 0;
    int seen = 0;
    for (int i = 0; i < run.size(); i += stride) {
      sum += of(version, run.meta(i));
      seen++;
    }
    double own = (double) run.sizeBytes() / lastBytes;
    return Math.min(1, Math.max(own, sum * run.size() / seen));
  }

  /** Of one SSTable, 0 to 1; 1 if there is no last level. */
  static double of(Version version, SSTableMeta table) {
    Level<SSTableMeta> last = version.atHeight(0);
    if (last.isEmpty()) {
      return 1;
    }
    double bytes = 0;
    for (SSTableMeta below : last.overlapping(table.minKey(), table.maxKey())) {
      boolean within =
          compare(version, table.minKey(), below.minKey()) <= 0
              && compare(version, below.maxKey(), table.maxKey()) <= 0;
      bytes += within ? below.sizeBytes() : below.sizeBytes() / 2.0;
    }
    return bytes / last.sizeBytes();
  }

  private static int compare(Version version, byte[] a, byte[] b) {
    return version.order().compare(a, 0, a.length, b, 0, b.length);
  }
}
