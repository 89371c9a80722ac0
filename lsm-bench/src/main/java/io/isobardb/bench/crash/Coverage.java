package io.isobardb.bench.crash;

import io.isobardb.lsm.observe.StoreListener;
import io.isobardb.lsm.simulation.Fault;
import io.isobardb.lsm.simulation.FaultPlan;
import io.isobardb.lsm.simulation.Operation;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Counts what happened. A plan without faults, it sees all calls of a simulated disk. */
final class Coverage implements StoreListener, FaultPlan {
  private final long[] counts = new long[Happening.values().length];

  void count(Happening happening) {
    counts[happening.ordinal()]++;
  }

  void add(Coverage other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
  }

  Map<Happening, Long> counts() {
    Map<Happening, Long> map = new EnumMap<>(Happening.class);
    for (Happening happening : Happening.values()) {
      map.put(happening, counts[happening.ordinal()]);
    }
    return map;
  }

  Set<Happening> missing() {
    Set<Happening> missing = EnumSet.noneOf(Happening.class);
    counts().forEach((happening, count) -> addIf(missing, happening, count == 0));
    return missing;
  }

  private static void addIf(Set<Happening> set, Happening happening, boolean wanted) {
    if (wanted) {
      set.add(happening);
    }
  }

  @Override
  public void onFlushed(Flush event) {
    count(
        switch (event.kind()) {
          case PARTIAL -> Happening.PARTIAL_FLUSH;
          case OLDEST -> Happening.OLDEST_FLUSH;
          case FULL -> Happening.FULL_FLUSH;
        });
  }

  @Override
  public void onMerged(Merge event) {
    count(
        switch (event.kind()) {
          case MEMORY -> Happening.MEMORY_MERGE;
          case WITHIN_L0 -> Happening.WITHIN_L0_MERGE;
          case WITHIN_TIERS -> Happening.TIERS_MERGED;
          case L0 -> Happening.L0_MERGE;
          case LEVEL -> Happening.LEVEL_MERGE;
          case MOVE -> Happening.TABLE_MOVED;
          case ADD_LEVEL -> Happening.L1_ADDED;
          case DROP_LEVEL -> Happening.L1_DROPPED;
          case DROP_TABLES -> Happening.TABLES_DROPPED;
        });
  }

  @Override
  public void onStalled(Stall event) {
    count(Happening.WRITER_STALLED);
  }

  @Override
  public Fault faultOf(Operation operation, String file, long index) {
    if (operation == Operation.RENAME && file.endsWith(".spare")) {
      count(Happening.LOG_ROTATED);
    } else if (operation == Operation.RENAME && file.endsWith(".log")) {
      count(Happening.LOG_RECYCLED);
    } else if (operation == Operation.RENAME && file.startsWith("CURRENT")) {
      count(Happening.MANIFEST_ROLLED);
    } else if (operation == Operation.DELETE && file.endsWith(".sst")) {
      count(Happening.TABLE_DELETED);
    }
    return Fault.NONE;
  }

  /** A plan without faults that sees the calls of a recovery. */
  FaultPlan ofRecovery() {
    return (operation, file, index) -> {
      if (operation == Operation.WRITE && file.endsWith(".log")) {
        count(Happening.LOG_CUT);
      }
      return Fault.NONE;
    };
  }
}
