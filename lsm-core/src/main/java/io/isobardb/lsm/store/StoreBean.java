package io.isobardb.lsm.store;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.observe.LatencyStats;
import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store seen by JMX. Thread rule: all methods may be called by any thread. */
final class StoreBean implements StoreMXBean {
  private static final double[] PARTS = {0.5, 0.99, 0.999};

  private final OpenStore open;
  private final Beans source;

  StoreBean(OpenStore open, Beans source) {
    this.open = open;
    this.source = source;
  }

  private StoreStats stats() {
    return source.stats();
  }

  private static Map<String, Long> byName(Map<? extends Enum<?>, Long> values) {
    Map<String, Long> named = new TreeMap<>();
    values.forEach((key, value) -> named.put(key.name(), value));
    return named;
  }

  @Override
  public String getPath() {
    return open.engine().environment().storage().path();
  }

  @Override
  public @Nullable String getFailure() {
    Throwable failure = open.engine().failure().cause();
    return failure == null ? null : failure.toString();
  }

  @Override
  public Map<String, Long> getMemoryByPurpose() {
    Map<String, Long> named = new TreeMap<>();
    for (Purpose purpose : Purpose.values()) {
      named.put(purpose.name(), stats().ledger().bytes(purpose));
    }
    return named;
  }

  @Override
  public Map<String, Long> getIoBytesRead() {
    return byName(stats().ioBytesRead());
  }

  @Override
  public Map<String, Long> getIoBytesWritten() {
    return byName(stats().ioBytesWritten());
  }

  @Override
  public long getIoLimitL0() {
    return stats().ioLimits().l0BytesPerSecond();
  }

  @Override
  public long getIoLimitDeep() {
    return stats().ioLimits().deepBytesPerSecond();
  }

  @Override
  public long getIoPiece() {
    return stats().ioLimits().pieceBytes();
  }

  @Override
  public String getIoLimitReason() {
    return stats().ioLimits().reason();
  }

  @Override
  public long getIoLimitWaits() {
    return stats().ioLimits().waits();
  }

  @Override
  public Map<String, Long> getStalls() {
    return byName(stats().stalls());
  }

  @Override
  public Map<String, Long> getStallNanos() {
    return byName(stats().stallNanos());
  }

  @Override
  public List<String> getOpenHandles() {
    return open.openHandles();
  }

  @Override
  public int getFailed() {
    return stats().failed() ? 1 : 0;
  }

  @Override
  public int getDiskFull() {
    return stats().diskFull() ? 1 : 0;
  }

  @Override
  public long getGets() {
    return stats().operations().gets();
  }

  @Override
  public long getPuts() {
    return stats().operations().puts();
  }

  @Override
  public long getDeletes() {
    return stats().operations().deletes();
  }

  @Override
  public long getBatches() {
    return stats().batches();
  }

  @Override
  public long getScans() {
    return stats().operations().scans();
  }

  @Override
  public long getSteps() {
    return stats().operations().steps();
  }

  @Override
  public long getUserBytesWritten() {
    return stats().operations().bytesWritten();
  }

  @Override
  public double getWriteAmplification() {
    return stats().writeAmplification();
  }

  @Override
  public Map<String, Long> getGetNanos() {
    return quantiles(StoreStats.Latencies::gets);
  }

  @Override
  public Map<String, Long> getWriteNanos() {
    return quantiles(StoreStats.Latencies::writes);
  }

  @Override
  public Map<String, Long> getBatchNanos() {
    return quantiles(StoreStats.Latencies::batches);
  }

  private Map<String, Long> quantiles(Function<StoreStats.Latencies, LatencyStats> of) {
    LatencyStats recent = source.recent(of);
    Map<String, Long> named = new TreeMap<>();
    for (double part : PARTS) {
      named.put(String.valueOf(part), recent.quantileNanos(part));
    }
    return named;
  }

  @Override
  public long getUnsyncedNanos() {
    return stats().unsyncedNanos();
  }

  @Override
  public long getMemoryBudget() {
    return stats().ledger().limitBytes();
  }

  @Override
  public long getMemoryAllocated() {
    return stats().ledger().allocatedBytes();
  }

  @Override
  public long getMemoryPeak() {
    return stats().ledger().peakBytes();
  }

  @Override
  public long getWriteMemory() {
    return stats().writeMemoryBytes();
  }

  @Override
  public long getWriteMemoryLimit() {
    return stats().writeMemoryLimitBytes();
  }

  @Override
  public long getTunerTarget() {
    return stats().tuner().targetBytes();
  }

  @Override
  public String getTunerDecision() {
    return stats().tuner().last();
  }

  @Override
  public long getCacheHits() {
    return stats().cache().hits();
  }

  @Override
  public long getCacheMisses() {
    return stats().cache().queryMisses() + stats().cache().mergeMisses();
  }

  @Override
  public long getCacheEvictions() {
    return stats().cache().evictions();
  }

  @Override
  public long getLogBytesWritten() {
    return stats().logBytesWritten();
  }

  @Override
  public long getLogSyncs() {
    return stats().logSyncs();
  }

  @Override
  public long getLogSize() {
    return stats().logSizeBytes();
  }

  @Override
  public long getLogAllocated() {
    return stats().logAllocatedBytes();
  }

  @Override
  public long getFlushes() {
    return stats().flushes();
  }

  @Override
  public long getFlushBytesWritten() {
    return stats().flushBytesWritten();
  }

  @Override
  public long getMerges() {
    return stats().merges();
  }

  @Override
  public long getMergeBytesRead() {
    return stats().mergeBytesRead();
  }

  @Override
  public long getMergeBytesWritten() {
    return stats().mergeBytesWritten();
  }

  @Override
  public long getMergesVoided() {
    return stats().mergesVoided();
  }

  @Override
  public long getMergeBytesVoided() {
    return stats().mergeBytesVoided();
  }

  @Override
  public long getMergesPaused() {
    return stats().mergesPaused();
  }

  @Override
  public long getClockLeaps() {
    return stats().clockLeaps();
  }

  @Override
  public long getProcessorWaits() {
    return stats().processorWaits();
  }

  @Override
  public long getJobsPreempted() {
    return stats().jobsPreempted();
  }

  @Override
  public long getMergeDebt() {
    return stats().mergeDebtBytes();
  }

  @Override
  public long getTransactionsCommitted() {
    return stats().transactions().committed();
  }

  @Override
  public long getTransactionsRolledBack() {
    return stats().transactions().rolledBack();
  }

  @Override
  public long getTransactionsFailed() {
    StoreStats.TransactionStats transactions = stats().transactions();
    return transactions.conflicts() + transactions.deadlocks() + transactions.lockTimeouts();
  }

  @Override
  public int getOpenTransactions() {
    return stats().transactions().open();
  }

  @Override
  public int getOpenSnapshots() {
    return stats().readers().snapshots();
  }

  @Override
  public int getOpenCursors() {
    return stats().readers().cursors();
  }

  @Override
  public long getOldestReaderNanos() {
    return stats().readers().oldestNanos();
  }

  @Override
  public long getOldestReaderBehind() {
    return stats().readers().behindBytes();
  }

  @Override
  public int getTrees() {
    return stats().trees().size();
  }

  @Override
  public long getTables() {
    return stats().trees().stream().mapToLong(StoreStats.TreeStats::tables).sum();
  }

  @Override
  public long getDisk() {
    return stats().trees().stream().mapToLong(StoreStats.TreeStats::diskBytes).sum();
  }

  @Override
  public int getOpenFiles() {
    return stats().files().open();
  }

  @Override
  public long getFileHeap() {
    return stats().files().heapBytes();
  }

  @Override
  public String getJson() {
    return stats().toJson();
  }

  @Override
  public long backup(String directory) {
    return backup(directory, Long.MAX_VALUE);
  }

  @Override
  public long backup(String directory, long bytesPerSecond) {
    open.operations().checkOpen();
    Objects.requireNonNull(directory, "directory");
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be at least 1, not " + bytesPerSecond);
    }
    try (BackupDirectory backups =
        BackupDirectory.open(NewDirectory.forBackups(directory, FileAccess.OWNER))) {
      return open.backup(backups, bytesPerSecond).id();
    } catch (IsobarException | IOException e) {
      // A console may lack the classes of Isobar, so it gets the message in one that it has.
      System.getLogger(StoreBean.class.getName())
          .log(Level.WARNING, getPath() + " could not be backed up to " + directory, e);
      throw new IllegalStateException("no backup was made in " + directory + ": " + e.getMessage());
    }
  }
}
