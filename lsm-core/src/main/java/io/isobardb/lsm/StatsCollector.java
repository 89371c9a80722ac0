package io.isobardb.lsm;

import io.isobardb.lsm.commit.Engine;
import io.isobardb.lsm.observe.StallReason;
import io.isobardb.lsm.recovery.StoreParts;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.state.TreeState;
import io.isobardb.lsm.tuning.TunerService;
import io.isobardb.lsm.version.Version;
import io.isobardb.tuner.memory.Decision;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Asks all parts of an open store for what {@link StoreStats} tells. */
final class StatsCollector {
  private StatsCollector() {}

  static StoreStats collect(StoreParts parts, Transactions transactions) {
    Engine engine = parts.engine();
    List<StoreStats.TreeStats> treeStats = new ArrayList<>();
    for (TreeHandle tree : byName(engine).values()) {
      TreeState state = tree.states().current();
      Version version = state.version();
      List<Long> levels = new ArrayList<>();
      for (int i = 1; i <= version.levelCount(); i++) {
        levels.add(version.level(i).sizeBytes());
      }
      treeStats.add(
          new StoreStats.TreeStats(
              tree.name(),
              state.memoryBytes(),
              state.memoryRunCount(),
              version.groups().size(),
              List.copyOf(levels),
              version.tableCount(),
              version.sizeBytes()));
    }
    Map<StallReason, Long> stalls = new EnumMap<>(StallReason.class);
    Map<StallReason, Long> stallNanos = new EnumMap<>(StallReason.class);
    for (StallReason reason : StallReason.values()) {
      stalls.put(reason, engine.gate().stalls(reason));
      stallNanos.put(reason, engine.gate().stallNanos(reason));
    }
    return new StoreStats(
        parts.pool().ledger(),
        parts.cache().stats(),
        engine.gate().usedBytes(),
        engine.gate().limitBytes(),
        engine.log().get().writtenBytes(),
        engine.log().get().syncs(),
        engine.log().sizeBytes(),
        parts.flusher().flushes(),
        parts.flusher().bytesWritten(),
        parts.merger().merges(),
        parts.merger().bytesRead(),
        parts.merger().bytesWritten(),
        parts.merger().memoryMerges(),
        stalls,
        stallNanos,
        transactions.stats(),
        tunerStats(parts),
        treeStats);
  }

  private static StoreStats.TunerStats tunerStats(StoreParts parts) {
    TunerService tuner = parts.tuner();
    Decision last = tuner == null ? null : tuner.last();
    return new StoreStats.TunerStats(
        tuner != null,
        tuner == null ? 0 : tuner.decisions(),
        parts.wall().targetBytes(),
        last == null ? 0 : last.seen().cycle(),
        last == null ? "" : last.method() + ": " + last.reason());
  }

  private static Map<String, TreeHandle> byName(Engine engine) {
    Map<String, TreeHandle> byName = new TreeMap<>();
    engine.catalog().trees().forEach(tree -> byName.put(tree.name(), tree));
    return byName;
  }
}
