package io.isobardb.bench.soak;

import io.isobardb.bench.process.ProcessCounters;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.lsm.observe.StoreStats;
import java.util.Locale;

/**
 * How a store under load stands at one moment. Sizes in bytes.
 *
 * @param seconds since the beginning
 * @param operations since the beginning
 * @param budget the memory budget
 * @param peak the most that was ever allocated of it
 * @param heap used, garbage included
 * @param resident the process's resident set; -1 if the system does not tell
 * @param log length
 * @param disk size of all files
 * @param groups in L0, of all trees
 * @param tiers of all trees
 * @param debt what waits for merges
 * @param stallMillis that writers have waited since the store was opened
 */
record SoakSample(
    long seconds,
    long operations,
    long budget,
    long peak,
    long heap,
    long resident,
    long log,
    long disk,
    int groups,
    int tiers,
    long debt,
    long stallMillis) {

  static SoakSample of(StoreStats stats, long seconds, long operations, long disk) {
    Runtime runtime = Runtime.getRuntime();
    return new SoakSample(
        seconds,
        operations,
        stats.ledger().limitBytes(),
        stats.ledger().peakBytes(),
        runtime.totalMemory() - runtime.freeMemory(),
        ProcessCounters.now().residentBytes(),
        stats.logSizeBytes(),
        disk,
        stats.trees().stream().mapToInt(StoreStats.TreeStats::l0Groups).sum(),
        stats.trees().stream().mapToInt(tree -> tree.tierBytes().size()).sum(),
        stats.mergeDebtBytes(),
        stats.stallNanos() / 1_000_000);
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "%6d s  %,12d operations  budget %s, peak %s  heap %s  resident %s  log %s  disk %s  L0 %d"
            + "  tiers %d  debt %s  stalls %d ms",
        seconds,
        operations,
        ByteSize.format(budget),
        ByteSize.format(peak),
        ByteSize.format(heap),
        resident < 0 ? "?" : ByteSize.format(resident),
        ByteSize.format(log),
        ByteSize.format(disk),
        groups,
        tiers,
        ByteSize.format(debt),
        stallMillis);
  }
}
