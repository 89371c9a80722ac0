package io.isobardb.lsm.observe;

import io.isobardb.lsm.observe.Metric.Kind;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a store tells by JMX, once {@link io.isobardb.lsm.Store#registerMXBean} was called, and by
 * {@link io.isobardb.lsm.Store#metrics}; in words, what {@link StoreStats} and its parts say. Each
 * attribute has a {@link Metric}, which JMX shows. Counters begin when the store is opened. Of a
 * second's calls all but the first are answered with what that has found. {@link #backup} is the
 * one operation.
 *
 * <p>Thread rule: all methods may be called by any thread. After the store was closed they throw
 * {@code StoreClosedException}.
 */
public interface StoreMXBean {
  @Metric(value = "The directory of the store.", kind = Kind.TEXT)
  String getPath();

  @Metric(value = "What has stopped the store from writing; null if nothing has.", kind = Kind.TEXT)
  @Nullable String getFailure();

  @Metric(
      value = "1 if the store has stopped writing and has to be opened again, else 0.",
      name = "failed")
  int getFailed();

  @Metric(value = "1 if there was no room on disk at the last write, else 0.", name = "disk.full")
  int getDiskFull();

  @Metric(value = "Keys looked up.", kind = Kind.COUNTER, unit = "operations", name = "gets")
  long getGets();

  @Metric(
      value = "Keys set, in batches and commits, too.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "puts")
  long getPuts();

  @Metric(
      value = "Keys removed, in batches and commits, too.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "deletes")
  long getDeletes();

  @Metric(value = "Batches written.", kind = Kind.COUNTER, unit = "operations", name = "batches")
  long getBatches();

  @Metric(value = "Cursors opened.", kind = Kind.COUNTER, unit = "operations", name = "scans")
  long getScans();

  @Metric(
      value = "Moves of cursors to the next entry or the one before.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "scan.steps")
  long getSteps();

  @Metric(
      value = "Keys and values that users wrote.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "user.written")
  long getUserBytesWritten();

  @Metric(
      value =
          "What the log, flushes and merges wrote by what users wrote, since the "
              + "store was opened.",
      unit = "ratio",
      name = "write.amplification")
  double getWriteAmplification();

  @Metric(
      value =
          "Within how long that part of gets ended, in the last minute or two; "
              + "one call in 64 is timed.",
      unit = "nanoseconds",
      name = "get.time",
      tag = "quantile")
  Map<String, Long> getGetNanos();

  @Metric(
      value =
          "Within how long that part of single puts and deletes ended, in the "
              + "last minute or two; one call in 64 is timed.",
      unit = "nanoseconds",
      name = "write.time",
      tag = "quantile")
  Map<String, Long> getWriteNanos();

  @Metric(
      value =
          "Within how long that part of batches ended, in the last minute or "
              + "two; one call in 64 is timed.",
      unit = "nanoseconds",
      name = "batch.time",
      tag = "quantile")
  Map<String, Long> getBatchNanos();

  @Metric(value = "The memory budget.", unit = "bytes", name = "memory.budget")
  long getMemoryBudget();

  @Metric(value = "Memory allocated.", unit = "bytes", name = "memory.allocated")
  long getMemoryAllocated();

  @Metric(
      value = "The most that was allocated since the store was opened.",
      unit = "bytes",
      name = "memory.peak")
  long getMemoryPeak();

  @Metric(
      value = "Memory allocated, by purpose.",
      unit = "bytes",
      name = "memory.used",
      tag = "purpose")
  Map<String, Long> getMemoryByPurpose();

  @Metric(value = "Write memory in use.", unit = "bytes", name = "write.memory.used")
  long getWriteMemory();

  @Metric(value = "The size of the write memory.", unit = "bytes", name = "write.memory.limit")
  long getWriteMemoryLimit();

  @Metric(
      value = "The size of the write memory that the memory tuner wants.",
      unit = "bytes",
      name = "write.memory.target")
  long getTunerTarget();

  @Metric(
      value = "How the memory tuner decided last, and why; empty if it has not.",
      kind = Kind.TEXT)
  String getTunerDecision();

  @Metric(
      value = "Pages that the cache had.",
      kind = Kind.COUNTER,
      unit = "pages",
      name = "cache.hits")
  long getCacheHits();

  @Metric(
      value = "Pages read from disk, for queries and merges.",
      kind = Kind.COUNTER,
      unit = "pages",
      name = "cache.misses")
  long getCacheMisses();

  @Metric(
      value = "Pages that made room for others.",
      kind = Kind.COUNTER,
      unit = "pages",
      name = "cache.evictions")
  long getCacheEvictions();

  @Metric(
      value = "Written to the log, rewritten blocks included.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "log.written")
  long getLogBytesWritten();

  @Metric(value = "Syncs of the log.", kind = Kind.COUNTER, unit = "operations", name = "log.syncs")
  long getLogSyncs();

  @Metric(
      value = "Length of log that a crash would make the store replay.",
      unit = "bytes",
      name = "log.size")
  long getLogSize();

  @Metric(
      value = "What the log's files take on the disk, about; their lengths may be more.",
      unit = "bytes",
      name = "log.allocated")
  long getLogAllocated();

  @Metric(
      value =
          "About the age of the oldest write that a failure of the machine may " + "lose, at most.",
      unit = "nanoseconds",
      name = "log.unsynced.age")
  long getUnsyncedNanos();

  @Metric(value = "SSTables flushed.", kind = Kind.COUNTER, unit = "tables", name = "flushes")
  long getFlushes();

  @Metric(
      value = "Written by flushes.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "flush.written")
  long getFlushBytesWritten();

  @Metric(value = "Disk merges done.", kind = Kind.COUNTER, unit = "operations", name = "merges")
  long getMerges();

  @Metric(
      value = "Size of the SSTables that disk merges took in.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "merge.read")
  long getMergeBytesRead();

  @Metric(
      value = "Written by disk merges.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "merge.written")
  long getMergeBytesWritten();

  @Metric(
      value = "Disk merges given up for more urgent ones.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "merges.voided")
  long getMergesVoided();

  @Metric(
      value = "Written by disk merges that were given up.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "merge.voided")
  long getMergeBytesVoided();

  @Metric(
      value = "Deep merges put aside until `mergeSchedule` lets them go on.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "merges.paused")
  long getMergesPaused();

  @Metric(
      value = "Flushes and merges put aside for more urgent ones.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "jobs.preempted")
  long getJobsPreempted();

  @Metric(
      value =
          "Merges in memory and deeper ones put aside since clients used the processors; see "
              + "`processorMinimum`.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "jobs.waited.for.processors")
  long getProcessorWaits();

  @Metric(
      value =
          "How often the machine's clock, by which entries expire, was found to have leapt by more"
              + " than a minute, either way, at opening or since.",
      kind = Kind.COUNTER,
      unit = "leaps",
      name = "clock.leaps")
  long getClockLeaps();

  @Metric(
      value =
          "What merges of L0 may read and write in a second; the largest number if it is not"
              + " limited.",
      unit = "bytes",
      name = "io.limit.l0")
  long getIoLimitL0();

  @Metric(
      value =
          "What all flushes and merges may read and write in a second, which deeper merges wait"
              + " for; the largest number if it is not limited.",
      unit = "bytes",
      name = "io.limit.deep")
  long getIoLimitDeep();

  @Metric(
      value = "What flushes and merges read or write at once, at most.",
      unit = "bytes",
      name = "io.piece")
  long getIoPiece();

  @Metric(
      value = "Why flushes and merges are limited as they are, or not limited.",
      kind = Kind.TEXT)
  String getIoLimitReason();

  @Metric(
      value = "Merges put aside until they may read and write more.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "io.limit.waits")
  long getIoLimitWaits();

  @Metric(value = "About what waits for disk merges.", unit = "bytes", name = "merge.debt")
  long getMergeDebt();

  @Metric(
      value = "Read from files, by purpose.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "io.read",
      tag = "purpose")
  Map<String, Long> getIoBytesRead();

  @Metric(
      value = "Written to files, by purpose.",
      kind = Kind.COUNTER,
      unit = "bytes",
      name = "io.written",
      tag = "purpose")
  Map<String, Long> getIoBytesWritten();

  @Metric(
      value = "Waits of writers, by reason.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "stalls",
      tag = "reason")
  Map<String, Long> getStalls();

  @Metric(
      value = "How long writers waited, by reason.",
      kind = Kind.COUNTER,
      unit = "nanoseconds",
      name = "stall.time",
      tag = "reason")
  Map<String, Long> getStallNanos();

  @Metric(
      value = "Commits that succeeded.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "transactions.committed")
  long getTransactionsCommitted();

  @Metric(
      value = "Transactions that their user rolled back.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "transactions.rolled.back")
  long getTransactionsRolledBack();

  @Metric(
      value = "Conflicts, deadlocks, and waits for a lock that were in vain.",
      kind = Kind.COUNTER,
      unit = "operations",
      name = "transactions.failed")
  long getTransactionsFailed();

  @Metric(value = "Transactions open.", unit = "handles", name = "transactions.open")
  int getOpenTransactions();

  @Metric(value = "Snapshots open.", unit = "handles", name = "snapshots.open")
  int getOpenSnapshots();

  @Metric(value = "Cursors open.", unit = "handles", name = "cursors.open")
  int getOpenCursors();

  @Metric(
      value =
          "The age of the oldest state that a snapshot, cursor or transaction "
              + "sees; 0 if there is none.",
      unit = "nanoseconds",
      name = "reader.age")
  long getOldestReaderNanos();

  @Metric(value = "Log written since that state was taken.", unit = "bytes", name = "reader.behind")
  long getOldestReaderBehind();

  @Metric(
      value =
          "What users have open, the oldest first, with where it was taken; "
              + "empty unless the JVM has -Disobar.leaks=true.",
      kind = Kind.TEXT)
  List<String> getOpenHandles();

  @Metric(value = "Trees.", unit = "trees", name = "trees")
  int getTrees();

  @Metric(value = "SSTables on disk.", unit = "tables", name = "tables")
  long getTables();

  @Metric(value = "The size of all SSTables on disk.", unit = "bytes", name = "disk.used")
  long getDisk();

  @Metric(value = "Descriptors that files of the store hold.", unit = "files", name = "files.open")
  int getOpenFiles();

  @Metric(value = "About what SSTables take on the Java heap.", unit = "bytes", name = "files.heap")
  long getFileHeap();

  @Metric(value = "All of StoreStats as JSON, tree by tree.", kind = Kind.TEXT)
  String getJson();

  /**
   * Backs the store up, as {@link io.isobardb.lsm.Backups#create} does, without a limit to the
   * rate, and for whoever may use JMX: the directory is any that the store's process may write.
   *
   * @param directory of backups, or empty, or not there yet; its full path on the store's machine
   * @return the ID of the backup
   * @throws IllegalArgumentException if the path is not a full one, or within the store
   * @throws IllegalStateException if no backup was made; the message says why. It has no cause, so
   *     that a console needs no class of Isobar
   */
  @Metric(
      value = "Backs the store up, as of one moment over all trees; returns the backup's ID.",
      kind = Kind.TEXT)
  long backup(String directory);

  /**
   * As {@link #backup(String)}, with a limit to the rate.
   *
   * @param directory of backups, or empty, or not there yet; its full path on the store's machine
   * @param bytesPerSecond how much of the store is read in a second, at least 1
   * @return the ID of the backup
   * @throws IllegalArgumentException for the reasons of {@link #backup(String)}, or if the rate is
   *     less than 1
   * @throws IllegalStateException if no backup was made
   */
  @Metric(
      value =
          "Backs the store up, reading at most so many bytes in a second; returns the backup's ID.",
      kind = Kind.TEXT)
  long backup(String directory, long bytesPerSecond);
}
