package io.isobardb.lsm.observe;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a store tells by JMX, once {@link io.isobardb.lsm.Store#registerMXBean} was called; in
 * words, what {@link StoreStats} and its parts say. Sizes in bytes. Of a second's calls all but the
 * first are answered with what that has found.
 */
public interface StoreMXBean {
  /** The store's directory. */
  String getPath();

  /** What has stopped the store from writing; null if nothing has. */
  @Nullable String getFailure();

  long getMemoryBudget();

  long getMemoryAllocated();

  long getMemoryPeak();

  /** Bytes allocated, by purpose. */
  Map<String, Long> getMemoryByPurpose();

  long getWriteMemory();

  long getWriteMemoryLimit();

  /** Where the memory tuner wants the limit of the write memory. */
  long getTunerTarget();

  /** How the memory tuner decided last, and why; empty if it has not. */
  String getTunerDecision();

  long getCacheHits();

  /** Pages read, for queries and merges. */
  long getCacheMisses();

  long getCacheEvictions();

  long getLogBytesWritten();

  long getLogSyncs();

  long getLogSize();

  long getFlushes();

  long getFlushBytesWritten();

  long getMerges();

  long getMergeBytesRead();

  long getMergeBytesWritten();

  /** What waits for disk merges, about. */
  long getMergeDebt();

  /** How often writers waited, by reason. */
  Map<String, Long> getStalls();

  /** How long they waited, in nanoseconds, by reason. */
  Map<String, Long> getStallNanos();

  long getTransactionsCommitted();

  long getTransactionsRolledBack();

  /** Conflicts, deadlocks and waits for a lock that were in vain. */
  long getTransactionsFailed();

  int getOpenTransactions();

  int getOpenSnapshots();

  int getOpenCursors();

  /** The age of the oldest state that somebody still sees, in nanoseconds; 0 if there is none. */
  long getOldestReaderNanos();

  /** Bytes of log written since then. */
  long getOldestReaderBehind();

  /**
   * What users have open, from the oldest on, with where it was taken; empty unless the JVM was
   * started with {@code -Disobar.leaks=true}.
   */
  List<String> getOpenHandles();

  int getTrees();

  /** SSTables on disk. */
  long getTables();

  /** The size of all SSTables on disk. */
  long getDisk();

  int getOpenFiles();

  /** About what SSTables take on the heap. */
  long getFileHeap();

  /** All of {@link StoreStats} as JSON, tree by tree. */
  String getJson();
}
