package io.isobardb.lsm.observe;

import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Purpose;
import java.util.List;
import java.util.Map;

/**
 * What a store has done since it was opened, and what it holds. Sizes in bytes.
 *
 * @param failed whether it has stopped writing, and has to be opened again
 * @param diskFull whether there was no room on disk when it last wrote
 * @param operations what users have done, to trees dropped since, too
 * @param batches batches written by {@code Store.write}
 * @param latencies how long calls took
 * @param ledger who holds how much memory
 * @param cache the buffer cache
 * @param writeMemoryBytes write memory in use
 * @param writeMemoryLimitBytes the size of the write memory
 * @param logBytesWritten bytes written to the log, rewritten blocks included
 * @param logSyncs syncs of the log
 * @param logSizeBytes length of log that a crash would make the store replay
 * @param logAllocatedBytes about what the log's files take on the disk: segments, spares and the
 *     ring, without what was never written to. It can be less than the files' lengths by far
 * @param unsyncedNanos about the age of the oldest write that a failure of the machine may lose, at
 *     most; 0 if there is none. Unlogged trees do not count
 * @param flushes SSTables flushed
 * @param flushBytesWritten bytes written by flushes
 * @param merges disk merges done
 * @param mergeBytesRead bytes of SSTables that disk merges took in
 * @param mergeBytesWritten bytes written by disk merges
 * @param mergesVoided disk merges given up for more urgent ones that needed the same SSTables
 * @param mergeBytesVoided bytes that those had written, which were not used
 * @param mergesPaused how often deep merges were put aside since {@code mergeSchedule} let none go
 *     on
 * @param jobsPreempted how often flushes and merges were put aside for more urgent ones
 * @param processorWaits how often merges in memory and deeper ones were put aside since clients
 *     used the processors
 * @param clockLeaps how often the machine's clock, by which entries expire, was found to have leapt
 *     by more than a minute, either way, at opening or since
 * @param memoryMerges memory merges begun
 * @param ioBytesRead bytes read from files, by purpose
 * @param ioBytesWritten bytes written to files, by purpose
 * @param ioLimits what flushes and merges may read and write
 * @param stalls how often writers waited, by reason
 * @param stallNanos how long they waited, by reason
 * @param transactions what became of transactions
 * @param readers what readers have open
 * @param files the SSTables' files
 * @param tuner what the memory tuner does
 * @param trees one by one, by name
 */
public record StoreStats(
    boolean failed,
    boolean diskFull,
    OperationStats operations,
    long batches,
    Latencies latencies,
    Ledger ledger,
    CacheStats cache,
    long writeMemoryBytes,
    long writeMemoryLimitBytes,
    long logBytesWritten,
    long logSyncs,
    long logSizeBytes,
    long logAllocatedBytes,
    long unsyncedNanos,
    long flushes,
    long flushBytesWritten,
    long merges,
    long mergeBytesRead,
    long mergeBytesWritten,
    long mergesVoided,
    long mergeBytesVoided,
    long mergesPaused,
    long jobsPreempted,
    long processorWaits,
    long clockLeaps,
    long memoryMerges,
    Map<IoPurpose, Long> ioBytesRead,
    Map<IoPurpose, Long> ioBytesWritten,
    IoLimitStats ioLimits,
    Map<StallReason, Long> stalls,
    Map<StallReason, Long> stallNanos,
    TransactionStats transactions,
    ReaderStats readers,
    FileStats files,
    TunerStats tuner,
    List<TreeStats> trees) {

  /**
   * How long calls took, waits for memory, locks and syncs included; of one call in 64.
   *
   * @param gets single gets
   * @param writes single puts and deletes
   * @param batches batches written by {@code Store.write}
   */
  public record Latencies(LatencyStats gets, LatencyStats writes, LatencyStats batches) {}

  /**
   * The transactions since the store was opened; plain writes count only where they failed.
   *
   * @param open not ended yet
   * @param oldestNanos how long the oldest of those has been open
   * @param committed commits that succeeded
   * @param rolledBack rolled back by the user
   * @param conflicts failed, or had to start over, because of what others had changed
   * @param deadlocks chosen to give up
   * @param lockTimeouts waits for a lock that were in vain
   */
  public record TransactionStats(
      int open,
      long oldestNanos,
      long committed,
      long rolledBack,
      long conflicts,
      long deadlocks,
      long lockTimeouts) {}

  /**
   * What flushes and merges may read and write now.
   *
   * @param l0BytesPerSecond of merges of L0; {@link Long#MAX_VALUE} for no limit
   * @param deepBytesPerSecond of all, which deeper merges wait for; {@link Long#MAX_VALUE} for no
   *     limit
   * @param pieceBytes what is read or written at once, at most
   * @param reason why, in words
   * @param waits how often a merge was put aside for it
   */
  public record IoLimitStats(
      long l0BytesPerSecond, long deepBytesPerSecond, int pieceBytes, String reason, long waits) {}

  /**
   * What readers have open; merges keep what they may read.
   *
   * @param snapshots open snapshots
   * @param cursors open cursors, those of transactions included
   * @param oldestNanos how long ago the oldest state was taken that a snapshot, cursor or
   *     transaction still sees
   * @param behindBytes bytes of log written since: versions that came then may be kept beside those
   *     which they replaced
   */
  public record ReaderStats(int snapshots, int cursors, long oldestNanos, long behindBytes) {}

  /**
   * What SSTables take outside of the budget.
   *
   * @param open descriptors that the files of the store hold now, see {@code maxOpenFiles}
   * @param heapBytes about what their descriptions and open files take on the heap
   */
  public record FileStats(int open, long heapBytes) {}

  /**
   * The memory tuner.
   *
   * @param on whether there is one
   * @param decisions what it has decided since the store was opened
   * @param targetBytes the size that the write memory is to have; it may be on its way there
   * @param cycle number of the cycle last decided on, in the store's life; 0 if none was
   * @param last how that was decided and why, or by what the tuner was stopped; empty if nothing
   *     was decided
   */
  public record TunerStats(boolean on, long decisions, long targetBytes, long cycle, String last) {}

  /**
   * One tree.
   *
   * @param name its name
   * @param operations what users have done to it
   * @param memoryBytes write memory it holds
   * @param memoryRuns sealed runs in memory
   * @param l0Groups groups in L0
   * @param levelBytes bytes of L1..Ln
   * @param tables SSTables on disk
   * @param diskBytes their size
   * @param mergeDebtBytes about what of that waits for disk merges, or is being merged
   * @param flushBytesWritten bytes of it that flushes wrote since the store was opened
   * @param mergeBytesWritten bytes of it that disk merges wrote since the store was opened
   * @param flushSweeps how often flushes have come to the end of its keys since the store was
   *     opened
   * @param failedFolds how often its merge operator has failed since the store was opened: each
   *     read, flush or merge that comes to a key that can't be merged counts
   * @param rangeDeletes about how many range deletes it has on the heap: those that the manifest
   *     does not have, and those that no newer one covers, or that a snapshot needs
   * @param levelPlanBytes what L1..Ln are planned to hold, with {@code levels=OPTIMISED}; empty if
   *     they follow what L0 delivers at a time
   * @param levelReason why they are planned so, or what a decision waits for; empty without {@code
   *     levels=OPTIMISED}, and until the tuner has looked at the tree
   */
  public record TreeStats(
      String name,
      OperationStats operations,
      long memoryBytes,
      int memoryRuns,
      int l0Groups,
      List<Long> levelBytes,
      int tables,
      long diskBytes,
      long mergeDebtBytes,
      long flushBytesWritten,
      long mergeBytesWritten,
      long flushSweeps,
      long failedFolds,
      long rangeDeletes,
      List<Long> levelPlanBytes,
      String levelReason) {
    /**
     * What flushes and disk merges have written, by what users wrote, since the store was opened; 0
     * if they wrote nothing.
     */
    public double writeAmplification() {
      return ratio(flushBytesWritten + mergeBytesWritten, operations.bytesWritten());
    }
  }

  /**
   * What the log, flushes and disk merges have written, by what users wrote, since the store was
   * opened; 0 if they wrote nothing.
   */
  public double writeAmplification() {
    return ratio(
        logBytesWritten + flushBytesWritten + mergeBytesWritten, operations.bytesWritten());
  }

  private static double ratio(long written, long byUsers) {
    return byUsers == 0 ? 0 : (double) written / byUsers;
  }

  /** What waits for disk merges, of all trees; about. */
  public long mergeDebtBytes() {
    return trees.stream().mapToLong(TreeStats::mergeDebtBytes).sum();
  }

  /** All of it as one JSON object. */
  public String toJson() {
    StringBuilder json = new StringBuilder(1024);
    json.append("{\"failed\":").append(failed).append(",\"diskFull\":").append(diskFull);
    append(json, operations);
    field(json, "batches", batches);
    append(json, "getNanos", latencies.gets());
    append(json, "writeNanos", latencies.writes());
    append(json, "batchNanos", latencies.batches());
    json.append(",\"ledger\":{\"limit\":").append(ledger.limitBytes());
    field(json, "allocated", ledger.allocatedBytes());
    field(json, "peak", ledger.peakBytes());
    for (Purpose purpose : Purpose.values()) {
      field(json, purpose.name().toLowerCase(java.util.Locale.ROOT), ledger.bytes(purpose));
    }
    json.append('}');
    json.append(",\"cache\":{\"hits\":").append(cache.hits());
    field(json, "queryMisses", cache.queryMisses());
    field(json, "mergeMisses", cache.mergeMisses());
    field(json, "queryGhostHits", cache.queryGhostHits());
    field(json, "mergeGhostHits", cache.mergeGhostHits());
    field(json, "failedLoads", cache.failedLoads());
    field(json, "evictions", cache.evictions());
    field(json, "adoptions", cache.adoptions());
    field(json, "waits", cache.waits());
    field(json, "heldPages", cache.heldPages());
    field(json, "heldAtMisses", cache.heldAtMisses());
    field(json, "targetPages", cache.targetPages());
    field(json, "entryHits", cache.entryHits());
    field(json, "entryPages", cache.entryPages());
    field(json, "ghostPages", cache.ghostPages());
    field(json, "ghostCapacityPages", cache.ghostCapacityPages());
    json.append('}');
    field(json, "writeMemory", writeMemoryBytes);
    field(json, "writeMemoryLimit", writeMemoryLimitBytes);
    field(json, "logBytesWritten", logBytesWritten);
    field(json, "logSyncs", logSyncs);
    field(json, "logSize", logSizeBytes);
    field(json, "logAllocated", logAllocatedBytes);
    field(json, "unsyncedNanos", unsyncedNanos);
    field(json, "flushes", flushes);
    field(json, "flushBytesWritten", flushBytesWritten);
    field(json, "merges", merges);
    field(json, "mergeBytesRead", mergeBytesRead);
    field(json, "mergeBytesWritten", mergeBytesWritten);
    field(json, "mergesVoided", mergesVoided);
    field(json, "mergeBytesVoided", mergeBytesVoided);
    field(json, "mergesPaused", mergesPaused);
    field(json, "jobsPreempted", jobsPreempted);
    field(json, "processorWaits", processorWaits);
    field(json, "clockLeaps", clockLeaps);
    field(json, "memoryMerges", memoryMerges);
    append(json, "ioRead", ioBytesRead);
    append(json, "ioWritten", ioBytesWritten);
    json.append(",\"ioLimits\":{\"l0\":").append(ioLimits.l0BytesPerSecond());
    field(json, "deep", ioLimits.deepBytesPerSecond());
    field(json, "piece", ioLimits.pieceBytes());
    field(json, "waits", ioLimits.waits());
    quoted(json.append(",\"reason\":"), ioLimits.reason());
    json.append('}');
    json.append(",\"stalls\":{");
    for (StallReason reason : StallReason.values()) {
      json.append(reason.ordinal() == 0 ? "\"" : ",\"").append(reason).append("\":{\"count\":");
      json.append(stalls.getOrDefault(reason, 0L));
      field(json, "nanos", stallNanos.getOrDefault(reason, 0L));
      json.append('}');
    }
    json.append("},\"transactions\":{\"open\":").append(transactions.open());
    field(json, "oldestNanos", transactions.oldestNanos());
    field(json, "committed", transactions.committed());
    field(json, "rolledBack", transactions.rolledBack());
    field(json, "conflicts", transactions.conflicts());
    field(json, "deadlocks", transactions.deadlocks());
    field(json, "lockTimeouts", transactions.lockTimeouts());
    json.append("},\"readers\":{\"snapshots\":").append(readers.snapshots());
    field(json, "cursors", readers.cursors());
    field(json, "oldestNanos", readers.oldestNanos());
    field(json, "behindBytes", readers.behindBytes());
    json.append("},\"files\":{\"open\":").append(files.open());
    field(json, "heapBytes", files.heapBytes());
    json.append("},\"tuner\":{\"on\":").append(tuner.on());
    field(json, "decisions", tuner.decisions());
    field(json, "target", tuner.targetBytes());
    field(json, "cycle", tuner.cycle());
    quoted(json.append(",\"last\":"), tuner.last());
    json.append("},\"trees\":[");
    for (int i = 0; i < trees.size(); i++) {
      append(json.append(i == 0 ? "" : ","), trees.get(i));
    }
    return json.append("]}").toString();
  }

  private static void append(StringBuilder json, String name, Map<IoPurpose, Long> bytes) {
    json.append(",\"").append(name).append("\":{");
    for (IoPurpose purpose : IoPurpose.values()) {
      json.append(purpose.ordinal() == 0 ? "\"" : ",\"").append(purpose).append("\":");
      json.append(bytes.getOrDefault(purpose, 0L));
    }
    json.append('}');
  }

  private static void append(StringBuilder json, TreeStats tree) {
    quoted(json.append("{\"name\":"), tree.name());
    append(json, tree.operations());
    field(json, "memory", tree.memoryBytes());
    field(json, "memoryRuns", tree.memoryRuns());
    field(json, "l0Groups", tree.l0Groups());
    json.append(",\"levels\":").append(tree.levelBytes());
    field(json, "tables", tree.tables());
    field(json, "disk", tree.diskBytes());
    field(json, "mergeDebt", tree.mergeDebtBytes());
    field(json, "flushBytesWritten", tree.flushBytesWritten());
    field(json, "mergeBytesWritten", tree.mergeBytesWritten());
    field(json, "flushSweeps", tree.flushSweeps());
    field(json, "failedFolds", tree.failedFolds());
    field(json, "rangeDeletes", tree.rangeDeletes());
    json.append(",\"levelPlan\":").append(tree.levelPlanBytes());
    quoted(json.append(",\"levelReason\":"), tree.levelReason());
    json.append('}');
  }

  private static void append(StringBuilder json, OperationStats done) {
    json.append(",\"operations\":{\"gets\":").append(done.gets());
    field(json, "puts", done.puts());
    field(json, "deletes", done.deletes());
    field(json, "scans", done.scans());
    field(json, "steps", done.steps());
    field(json, "bytesWritten", done.bytesWritten());
    json.append('}');
  }

  private static void append(StringBuilder json, String name, LatencyStats timed) {
    json.append(",\"").append(name).append("\":{\"timed\":").append(timed.count());
    field(json, "p50", timed.quantileNanos(0.5));
    field(json, "p99", timed.quantileNanos(0.99));
    field(json, "p999", timed.quantileNanos(0.999));
    json.append('}');
  }

  private static void quoted(StringBuilder json, String text) {
    json.append('"');
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append(String.format(java.util.Locale.ROOT, "\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }

  private static void field(StringBuilder json, String name, long value) {
    json.append(",\"").append(name).append("\":").append(value);
  }
}
