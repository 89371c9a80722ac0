package io.isobardb.lsm.observe;

import io.isobardb.memory.stats.CacheStats;
import io.isobardb.memory.stats.Ledger;
import io.isobardb.memory.stats.Metric;
import io.isobardb.memory.stats.Metric.Kind;
import java.util.List;
import java.util.Map;

/**
 * What a store has done since it was opened, and what it holds. Sizes in bytes.
 *
 * <pre>{@code
 * StoreStats stats = store.stats();
 * Ledger memory = stats.ledger();
 * System.out.println(memory.allocatedBytes() + " of " + memory.limitBytes() + " bytes");
 * System.out.println("written for each byte put: " + stats.writeAmplification());
 * System.out.println("waited: " + stats.stallNanos() / 1_000_000 + " ms");
 * }</pre>
 *
 * <p>A {@link Metric} says what monitoring calls a figure, what it tells and in which unit. {@link
 * Figure} reads those figures by name.
 *
 * @param operations what users have done, to trees dropped since, too
 * @param batches batches written by {@code Store.write}
 * @param latencies how long calls took
 * @param ledger who holds how much memory
 * @param cache the buffer cache
 * @param logAllocatedBytes about what the log's files take on the disk: segments, spares and the
 *     ring, without what was never written to. It can be less than the files' lengths by far
 * @param unsyncedNanos about the age of the oldest write that a failure of the machine may lose, at
 *     most; 0 if there is none. Unlogged trees do not count
 * @param mergesVoided disk merges given up for more urgent ones that needed the same SSTables
 * @param memoryMerges memory merges begun
 * @param ioLimits what flushes and merges may read and write
 * @param stalls waits of writers, by each reason there is
 * @param writesRefused writes that would have waited longer than they might
 * @param transactions what became of transactions
 * @param readers what readers have open
 * @param files the SSTables' files
 * @param tuner what the memory tuner does
 * @param trees one by one, by name
 */
public record StoreStats(
    @Metric(
            value = "1 if the store has stopped writing and has to be opened again, else 0.",
            name = "failed")
        boolean failed,
    @Metric(value = "1 if there was no room on disk at the last write, else 0.", name = "disk.full")
        boolean diskFull,
    OperationStats operations,
    @Metric(value = "Batches written.", kind = Kind.COUNTER, unit = "operations", name = "batches")
        long batches,
    @Metric(json = Metric.INLINE) Latencies latencies,
    Ledger ledger,
    CacheStats cache,
    @Metric(value = "Write memory in use.", unit = "bytes", name = "write.memory.used")
        long writeMemoryBytes,
    @Metric(value = "The size of the write memory.", unit = "bytes", name = "write.memory.limit")
        long writeMemoryLimitBytes,
    @Metric(
            value = "Written to the log, rewritten blocks included.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "log.written")
        long logBytesWritten,
    @Metric(
            value = "Syncs of the log.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "log.syncs")
        long logSyncs,
    @Metric(
            value = "Length of log that a crash would make the store replay.",
            unit = "bytes",
            name = "log.size")
        long logSizeBytes,
    @Metric(
            value = "What the log's files take on the disk, about; their lengths may be more.",
            unit = "bytes",
            name = "log.allocated")
        long logAllocatedBytes,
    @Metric(
            value =
                "About the age of the oldest write that a failure of the machine may "
                    + "lose, at most.",
            unit = "nanoseconds",
            name = "log.unsynced.age")
        long unsyncedNanos,
    @Metric(value = "SSTables flushed.", kind = Kind.COUNTER, unit = "tables", name = "flushes")
        long flushes,
    @Metric(
            value = "Written by flushes.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "flush.written")
        long flushBytesWritten,
    @Metric(value = "Disk merges done.", kind = Kind.COUNTER, unit = "operations", name = "merges")
        long merges,
    @Metric(
            value = "Size of the SSTables that disk merges took in.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "merge.read")
        long mergeBytesRead,
    @Metric(
            value = "Written by disk merges.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "merge.written")
        long mergeBytesWritten,
    @Metric(
            value = "Disk merges given up for more urgent ones.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "merges.voided")
        long mergesVoided,
    @Metric(
            value = "Written by disk merges that were given up.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "merge.voided")
        long mergeBytesVoided,
    @Metric(
            value = "Deep merges put aside until `mergeSchedule` lets them go on.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "merges.paused")
        long mergesPaused,
    @Metric(
            value = "Flushes and merges put aside for more urgent ones.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "jobs.preempted")
        long jobsPreempted,
    @Metric(
            value =
                "Merges in memory and deeper ones put aside since clients used the "
                    + "processors; see `experiment.processorMinimum`.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "jobs.waited.for.processors")
        long processorWaits,
    @Metric(
            value =
                "How often the machine's clock, by which entries expire, was found "
                    + "to have leapt by more than a minute, either way, at opening or "
                    + "since.",
            kind = Kind.COUNTER,
            unit = "leaps",
            name = "clock.leaps")
        long clockLeaps,
    long memoryMerges,
    @Metric(
            value = "Read from files, by purpose.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "io.read",
            tag = "purpose",
            json = "ioRead")
        Map<IoPurpose, Long> ioBytesRead,
    @Metric(
            value = "Written to files, by purpose.",
            kind = Kind.COUNTER,
            unit = "bytes",
            name = "io.written",
            tag = "purpose",
            json = "ioWritten")
        Map<IoPurpose, Long> ioBytesWritten,
    IoLimitStats ioLimits,
    Map<StallReason, StallStats> stalls,
    @Metric(
            value = "Writes refused since they would have waited longer than their `writeTimeout`.",
            kind = Kind.COUNTER,
            unit = "operations",
            name = "writes.refused")
        long writesRefused,
    TransactionStats transactions,
    ReaderStats readers,
    FileStats files,
    TunerStats tuner,
    @Metric(value = "Trees.", unit = "trees", name = "trees") List<TreeStats> trees) {

  /**
   * How long calls took, waits for memory, locks and syncs included; of one call in 64.
   *
   * @param gets single gets
   * @param writes single puts and deletes
   * @param batches batches written by {@code Store.write}
   */
  public record Latencies(
      @Metric(
              value =
                  "Within how long that part of gets ended, in the last minute or two; "
                      + "one call in 64 is timed.",
              unit = "nanoseconds",
              name = "get.time",
              tag = "quantile",
              attribute = "GetNanos",
              json = "getNanos")
          LatencyStats gets,
      @Metric(
              value =
                  "Within how long that part of single puts and deletes ended, in the "
                      + "last minute or two; one call in 64 is timed.",
              unit = "nanoseconds",
              name = "write.time",
              tag = "quantile",
              attribute = "WriteNanos",
              json = "writeNanos")
          LatencyStats writes,
      @Metric(
              value =
                  "Within how long that part of batches ended, in the last minute or "
                      + "two; one call in 64 is timed.",
              unit = "nanoseconds",
              name = "batch.time",
              tag = "quantile",
              attribute = "BatchNanos",
              json = "batchNanos")
          LatencyStats batches) {
    /**
     * {@return the calls that were timed after an earlier look at the same store}
     *
     * @param earlier of the same store, or of the same tree
     */
    public Latencies since(Latencies earlier) {
      return new Latencies(
          gets.since(earlier.gets), writes.since(earlier.writes), batches.since(earlier.batches));
    }
  }

  /**
   * The transactions since the store was opened; plain writes count only where they failed.
   *
   * @param open not ended yet
   * @param oldestNanos how long the oldest of those has been open
   * @param conflicts failed, or had to start over, because of what others had changed
   * @param deadlocks chosen to give up
   * @param lockTimeouts waits for a lock that were in vain
   */
  public record TransactionStats(
      @Metric(
              value = "Transactions open.",
              unit = "handles",
              name = "transactions.open",
              attribute = "OpenTransactions")
          int open,
      long oldestNanos,
      @Metric(
              value = "Commits that succeeded.",
              kind = Kind.COUNTER,
              unit = "operations",
              name = "transactions.committed",
              attribute = "TransactionsCommitted")
          long committed,
      @Metric(
              value = "Transactions that their user rolled back.",
              kind = Kind.COUNTER,
              unit = "operations",
              name = "transactions.rolled.back",
              attribute = "TransactionsRolledBack")
          long rolledBack,
      long conflicts,
      long deadlocks,
      long lockTimeouts) {
    /** {@return conflicts, deadlocks and lock timeouts, summed up} */
    @Metric(
        value = "Conflicts, deadlocks, and waits for a lock that were in vain.",
        kind = Kind.COUNTER,
        unit = "operations",
        name = "transactions.failed",
        attribute = "TransactionsFailed")
    public long failed() {
      return conflicts + deadlocks + lockTimeouts;
    }
  }

  /** What flushes and merges may read and write now. */
  public record IoLimitStats(
      @Metric(
              value =
                  "What merges of L0 may read and write in a second, or each of both on a volume"
                      + " that is held to a rate; the largest number if it is not limited.",
              unit = "bytes",
              name = "io.limit.l0",
              attribute = "IoLimitL0",
              json = "l0")
          long l0BytesPerSecond,
      @Metric(
              value =
                  "What all flushes and merges may read and write in a second, or each of both on"
                      + " a volume that is held to a rate, which deeper merges wait for; the largest"
                      + " number if it is not limited.",
              unit = "bytes",
              name = "io.limit.deep",
              attribute = "IoLimitDeep",
              json = "deep")
          long deepBytesPerSecond,
      @Metric(
              value = "What flushes and merges read or write at once, at most.",
              unit = "bytes",
              name = "io.piece",
              attribute = "IoPiece")
          long pieceBytes,
      @Metric(
              value =
                  "What the device does in a second at least, as far as the store has seen, or the"
                      + " rate it is held to; 0 if it has seen too little, or if `ioBandwidth` is"
                      + " not `auto`.",
              unit = "bytes",
              name = "io.device.learnt",
              attribute = "IoDeviceLearnt",
              json = "deviceLearnt")
          long deviceBytesPerSecond,
      @Metric(
              value = "Merges put aside until they may read and write more.",
              kind = Kind.COUNTER,
              unit = "operations",
              name = "io.limit.waits",
              attribute = "IoLimitWaits")
          long waits,
      @Metric(
              value = "Why flushes and merges are limited as they are, or not limited.",
              kind = Kind.TEXT,
              attribute = "IoLimitReason")
          String reason) {}

  /** Waits of writers, for one reason. */
  public record StallStats(
      @Metric(
              value = "Waits of writers that have begun, by reason.",
              kind = Kind.COUNTER,
              unit = "operations",
              name = "stalls",
              tag = "reason",
              attribute = "Stalls")
          long count,
      @Metric(
              value = "How long writers have waited so far, by reason.",
              kind = Kind.COUNTER,
              unit = "nanoseconds",
              name = "stall.time",
              tag = "reason",
              attribute = "StallNanos")
          long nanos) {}

  /**
   * What readers have open; merges keep what they may read.
   *
   * @param cursors open cursors, those of transactions included
   * @param behindBytes bytes of log written since that state was taken: versions that came then may
   *     be kept beside those which they replaced
   */
  public record ReaderStats(
      @Metric(
              value = "Snapshots open.",
              unit = "handles",
              name = "snapshots.open",
              attribute = "OpenSnapshots")
          int snapshots,
      @Metric(
              value = "Cursors open.",
              unit = "handles",
              name = "cursors.open",
              attribute = "OpenCursors")
          int cursors,
      @Metric(
              value =
                  "The age of the oldest state that a snapshot, cursor or transaction "
                      + "sees; 0 if there is none.",
              unit = "nanoseconds",
              name = "reader.age",
              attribute = "OldestReaderNanos")
          long oldestNanos,
      @Metric(
              value = "Log written since that state was taken.",
              unit = "bytes",
              name = "reader.behind",
              attribute = "OldestReaderBehind",
              json = "behindBytes")
          long behindBytes) {}

  /**
   * What SSTables take outside of the budget.
   *
   * @param open descriptors that the files of the store hold now, see {@code maxOpenFiles}
   * @param heapBytes about what their descriptions and open files take on the heap
   */
  public record FileStats(
      @Metric(
              value = "Descriptors that files of the store hold.",
              unit = "files",
              name = "files.open",
              attribute = "OpenFiles")
          int open,
      @Metric(
              value = "About what SSTables take on the Java heap.",
              unit = "bytes",
              name = "files.heap",
              attribute = "FileHeap",
              json = "heapBytes")
          long heapBytes) {}

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
  public record TunerStats(
      boolean on,
      long decisions,
      @Metric(
              value = "The size of the write memory that the memory tuner wants.",
              unit = "bytes",
              name = "write.memory.target",
              attribute = "TunerTarget")
          long targetBytes,
      long cycle,
      @Metric(
              value = "How the memory tuner decided last, and why; empty if it has not.",
              kind = Kind.TEXT,
              attribute = "TunerDecision")
          String last) {}

  /**
   * One tree.
   *
   * @param operations what users have done to it
   * @param tierBytes bytes of each tier, from the newest on
   * @param levelBytes bytes of L1..Ln
   * @param mergeDebtBytes about what of that waits for disk merges, or is being merged
   * @param mergeChainBytes about what disk merges have to write for that: each byte that comes down
   *     is written with what it overlaps, and may make the next level too large
   * @param flushBytesWritten bytes of it that flushes wrote since the store was opened
   * @param mergeBytesWritten bytes of it that disk merges wrote since the store was opened
   * @param mergeForReadsBytesWritten those that were written because reads had lost as much as that
   *     costs: of trees that are scanned and not written to, and with {@code experiment.adaptation}
   * @param readers what lookups and cursors have looked into
   * @param expected what it costs by the sizes that its levels and filters are to have
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
      @Metric(value = "The name of the tree.", kind = Kind.TEXT) String name,
      OperationStats operations,
      @Metric(value = "Write memory in use.", unit = "bytes", name = "memory") long memoryBytes,
      @Metric(value = "Sealed runs in memory.", unit = "runs", name = "memory.runs") int memoryRuns,
      @Metric(value = "Groups in L0.", unit = "groups", name = "l0.groups") int l0Groups,
      @Metric(
              value = "Tiers on disk, between L0 and the levels.",
              unit = "tiers",
              name = "tiers",
              attribute = "Tiers",
              json = "tiers")
          List<Long> tierBytes,
      @Metric(
              value = "Levels on disk below L0.",
              unit = "levels",
              name = "levels",
              attribute = "Levels",
              json = "levels")
          List<Long> levelBytes,
      @Metric(value = "SSTables on disk.", unit = "tables", name = "tables") int tables,
      @Metric(value = "The size of its SSTables.", unit = "bytes", name = "disk.used")
          long diskBytes,
      @Metric(value = "About what waits for disk merges.", unit = "bytes", name = "merge.debt")
          long mergeDebtBytes,
      @Metric(
              value = "About what disk merges have to write until nothing waits for them.",
              unit = "bytes",
              name = "merge.chain")
          long mergeChainBytes,
      @Metric(
              value = "Written by flushes.",
              kind = Kind.COUNTER,
              unit = "bytes",
              name = "flush.written")
          long flushBytesWritten,
      @Metric(
              value = "Written by disk merges.",
              kind = Kind.COUNTER,
              unit = "bytes",
              name = "merge.written")
          long mergeBytesWritten,
      @Metric(
              value = "Written by disk merges that reads have paid for.",
              kind = Kind.COUNTER,
              unit = "bytes",
              name = "merge.for.reads.written")
          long mergeForReadsBytesWritten,
      RunStats readers,
      ExpectedCosts expected,
      long flushSweeps,
      long failedFolds,
      long rangeDeletes,
      List<Long> levelPlanBytes,
      String levelReason) {
    /** {@return bytes written for each byte of users; 0 if users wrote nothing} */
    @Metric(
        value =
            "What flushes and merges wrote by what users wrote, since the store " + "was opened.",
        unit = "ratio",
        name = "write.amplification")
    public double writeAmplification() {
      return ratio(flushBytesWritten + mergeBytesWritten, operations.bytesWritten());
    }

    /** {@return bytes held for each byte of the last level; 0 if the last level is empty} */
    @Metric(
        value = "What tiers and levels hold by what the last level does.",
        unit = "ratio",
        name = "space.amplification")
    public double spaceAmplification() {
      long levels = levelBytes.stream().mapToLong(Long::longValue).sum();
      long tiers = tierBytes.stream().mapToLong(Long::longValue).sum();
      return ratio(levels + tiers, levelBytes.get(levelBytes.size() - 1));
    }
  }

  /**
   * How many runs on disk readers of a tree look into, since the store was opened.
   *
   * @param lookups those that were counted: one single get in 64
   * @param lookupRuns runs whose filters let the keys of those pass
   * @param foundOnDisk those of {@code lookups} that a run on disk answered
   * @param absent those of {@code lookups} that nothing answered
   * @param scans how often a cursor has opened the tree's runs
   * @param scanRuns runs on disk that were opened then
   */
  public record RunStats(
      long lookups, long lookupRuns, long foundOnDisk, long absent, long scans, long scanRuns) {
    /** {@return runs for each lookup; 0 if there were no lookups} */
    @Metric(
        value =
            "Runs on disk that a single get looks into, those passed over by filters left out, "
                + "since the store was opened; one get in 64 is counted.",
        unit = "runs",
        name = "read.amplification")
    public double readAmplification() {
      return ratio(lookupRuns, lookups);
    }

    /** {@return runs for each cursor; 0 if there were no cursors} */
    @Metric(
        value = "Runs on disk that a cursor opens, since the store was opened.",
        unit = "runs",
        name = "scan.amplification")
    public double scanAmplification() {
      return ratio(scanRuns, scans);
    }
  }

  /**
   * What a tree costs as far as it follows from the sizes that its levels, tiers and filters are to
   * have, for what is written and read.
   *
   * @param writeAmplification given what flushes wrote; what newer versions hide counts as if they
   *     hid it in memory and L0 alone
   * @param readAmplification given how many gets were answered in memory
   */
  public record ExpectedCosts(
      @Metric(
              value =
                  "Write amplification that the sizes of levels and tiers let expect, for what "
                      + "flushes wrote.",
              unit = "ratio",
              name = "expected.write.amplification",
              attribute = "ExpectedWriteAmplification")
          double writeAmplification,
      @Metric(
              value = "Read amplification that the sizes of filters let expect.",
              unit = "runs",
              name = "expected.read.amplification",
              attribute = "ExpectedReadAmplification")
          double readAmplification,
      @Metric(
              value = "Space amplification that the sizes of levels and tiers let expect.",
              unit = "ratio",
              name = "expected.space.amplification",
              attribute = "ExpectedSpaceAmplification")
          double spaceAmplification) {}

  /** {@return bytes written for each byte of users; 0 if users wrote nothing} */
  @Metric(
      value =
          "What the log, flushes and merges wrote by what users wrote, since "
              + "the store was opened.",
      unit = "ratio",
      name = "write.amplification")
  public double writeAmplification() {
    return ratio(
        logBytesWritten + flushBytesWritten + mergeBytesWritten, operations.bytesWritten());
  }

  private static double ratio(long written, long byUsers) {
    return byUsers == 0 ? 0 : (double) written / byUsers;
  }

  /** {@return bytes, of all trees} */
  @Metric(value = "About what waits for disk merges.", unit = "bytes", name = "merge.debt")
  public long mergeDebtBytes() {
    return trees.stream().mapToLong(TreeStats::mergeDebtBytes).sum();
  }

  /** {@return about what disk merges have to write for that, of all trees, in bytes} */
  @Metric(
      value = "About what disk merges have to write until nothing waits for them.",
      unit = "bytes",
      name = "merge.chain")
  public long mergeChainBytes() {
    return trees.stream().mapToLong(TreeStats::mergeChainBytes).sum();
  }

  /** {@return how many there are, of all trees} */
  @Metric(value = "SSTables on disk.", unit = "tables", name = "tables")
  public long tables() {
    return trees.stream().mapToLong(TreeStats::tables).sum();
  }

  /** {@return bytes, of all trees} */
  @Metric(value = "The size of all SSTables on disk.", unit = "bytes", name = "disk.used")
  public long diskBytes() {
    return trees.stream().mapToLong(TreeStats::diskBytes).sum();
  }

  /** {@return nanoseconds that writers waited, for any reason} */
  public long stallNanos() {
    return stalls.values().stream().mapToLong(StallStats::nanos).sum();
  }

  /** {@return all of it as one JSON object} */
  public String toJson() {
    return Json.of(this);
  }
}
