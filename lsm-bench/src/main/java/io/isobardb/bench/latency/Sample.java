package io.isobardb.bench.latency;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.observe.IoPurpose;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.StoreStats.TreeStats;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a store says of itself at a time. Sums are since it was opened.
 *
 * @param seconds when
 * @param logBytes written to the log
 * @param flushBytes written by flushes
 * @param mergeReadBytes that merges took in
 * @param mergeWrittenBytes that they wrote
 * @param deepWrittenBytes the part of that which merges below L0 wrote
 * @param l0Groups of the tree
 * @param levelBytes of L0, then of L1 and deeper
 * @param debtBytes what waits for merges
 * @param chainBytes what merges have to write for that
 * @param heldBytes all memory that the store holds
 * @param pagesRead of files, by queries and merges
 * @param pagesFound pages of files that queries found in the cache
 * @param pagesMissed those that they had to read
 * @param memoryBytes write memory in use
 * @param stallMillis how long writers waited, by reason
 */
record Sample(
    double seconds,
    long logBytes,
    long flushBytes,
    long mergeReadBytes,
    long mergeWrittenBytes,
    long deepWrittenBytes,
    int l0Groups,
    List<Long> levelBytes,
    long debtBytes,
    long chainBytes,
    long heldBytes,
    long pagesRead,
    long pagesFound,
    long pagesMissed,
    long memoryBytes,
    Map<StallReason, Double> stallMillis) {
  /** As it is now. */
  static Sample of(Store store, double seconds) {
    StoreStats stats = store.stats();
    TreeStats tree = stats.trees().get(0);
    long deeper = tree.levelBytes().stream().mapToLong(Long::longValue).sum();
    long tiers = tree.tierBytes().stream().mapToLong(Long::longValue).sum();
    List<Long> levels = new ArrayList<>(List.of(tree.diskBytes() - deeper - tiers));
    if (tiers > 0) {
      levels.add(tiers);
    }
    levels.addAll(tree.levelBytes());
    Map<StallReason, Double> stalls = new EnumMap<>(StallReason.class);
    stats.stalls().forEach((reason, waits) -> stalls.put(reason, waits.nanos() / 1e6));
    return new Sample(
        seconds,
        stats.logBytesWritten(),
        stats.flushBytesWritten(),
        stats.mergeBytesRead(),
        stats.mergeBytesWritten(),
        stats.ioBytesWritten().get(IoPurpose.MERGE_DEEP),
        tree.l0Groups(),
        levels,
        stats.mergeDebtBytes(),
        tree.mergeChainBytes(),
        stats.ledger().allocatedBytes(),
        stats.cache().queryMisses() + stats.cache().mergeMisses(),
        stats.cache().hits(),
        stats.cache().queryMisses(),
        stats.writeMemoryBytes(),
        stalls);
  }

  /** All of the tree on disk. */
  long diskBytes() {
    return levelBytes.stream().mapToLong(Long::longValue).sum();
  }

  /** How long writers waited, for whatever reason. */
  double stalledMillis() {
    return stallMillis.values().stream().mapToDouble(Double::doubleValue).sum();
  }
}
