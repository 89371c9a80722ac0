package io.isobardb.lsm.observe;

/**
 * What users have done to a tree, or to all trees of a store, since the store was opened. Each
 * operation counts when it is carried out; what opening the store replays from the log does not.
 *
 * @param gets keys looked up, each key of a {@code multiGet}, and what transactions and datasets
 *     look up; not what a transaction finds among its own writes
 * @param puts keys set, those of batches and commits included
 * @param deletes keys removed, those of batches and commits included
 * @param scans cursors opened
 * @param steps moves of cursors to the next entry or the one before; of an open cursor the last
 *     ones may be missing, 255 at most
 * @param bytesWritten bytes of the keys and values of puts and deletes
 */
public record OperationStats(
    long gets, long puts, long deletes, long scans, long steps, long bytesWritten) {
  /** Nothing was done. */
  public static final OperationStats NONE = new OperationStats(0, 0, 0, 0, 0, 0);

  /** The sum of these and others. */
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
