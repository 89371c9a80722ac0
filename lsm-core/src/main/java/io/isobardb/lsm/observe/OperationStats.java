package io.isobardb.lsm.observe;

import io.isobardb.memory.stats.Metric;
import io.isobardb.memory.stats.Metric.Kind;

/**
 * What users have done to a tree, or to all trees of a store, since the store was opened. Each
 * operation counts when it is carried out; what opening the store replays from the log does not.
 *
 * @param gets keys looked up, each key of a {@code multiGet}, and what transactions and datasets
 *     look up; not what a transaction finds among its own writes
 * @param puts keys set or merged into, in batches and commits, too; not those of bulk loads
 * @param deletes keys and ranges of keys removed, in batches and commits, too
 * @param scans cursors opened
 * @param steps moves of cursors to the next entry or the one before; of an open cursor the last
 *     ones may be missing, 255 at most
 * @param bytesWritten bytes of the keys and values of puts, merges and deletes
 */
public record OperationStats(
    @Metric(value = "Keys looked up.", kind = Kind.COUNTER, unit = "operations", name = "gets")
        long gets,
    @Metric(
            value = "Keys set or merged into, in batches and commits, too.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "puts")
        long puts,
    @Metric(
            value = "Keys and ranges removed, in batches and commits, too.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "deletes")
        long deletes,
    @Metric(value = "Cursors opened.", kind = Kind.COUNTER, unit = "operations", name = "scans")
        long scans,
    @Metric(
            value = "Moves of cursors to the next entry or the one before.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "scan.steps")
        long steps,
    @Metric(
            value = "Keys and values that users wrote.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "user.written",
            attribute = "UserBytesWritten")
        long bytesWritten) {
  /** Nothing was done. */
  public static final OperationStats NONE = new OperationStats(0, 0, 0, 0, 0, 0);

  /**
   * {@return the sum of these and others}
   *
   * @param others of another tree, or of others
   */
  public OperationStats plus(OperationStats others) {
    return new OperationStats(
        gets + others.gets,
        puts + others.puts,
        deletes + others.deletes,
        scans + others.scans,
        steps + others.steps,
        bytesWritten + others.bytesWritten);
  }
}
