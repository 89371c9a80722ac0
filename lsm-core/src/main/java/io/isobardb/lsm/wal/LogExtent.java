package io.isobardb.lsm.wal;

/**
 * What is known of a log before it is read, by the manifest.
 *
 * @param startLsn where it must begin: the position of a record, or the log's end. It must have
 *     been {@link Log#durable} when it was noted, and so must all below it
 * @param syncedLsn all below was synced, so that the log can't end before it: the end of a record;
 *     0 if that is not known
 * @param treeChanges how many changes of trees the manifest has: the log ends at a fence that asks
 *     for more
 */
public record LogExtent(long startLsn, long syncedLsn, long treeChanges) {
  /** A log that has no fences, or is read beyond them. */
  public LogExtent(long startLsn, long syncedLsn) {
    this(startLsn, syncedLsn, Long.MAX_VALUE);
  }

  /** A log of which only the start is known. */
  public static LogExtent from(long startLsn) {
    return new LogExtent(startLsn, 0);
  }
}
