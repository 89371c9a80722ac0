package io.isobardb.lsm.store;

import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.observe.StoreStats;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The statistics that monitoring is told. A bridge that asks for all figures, one after another,
 * gets them of one moment. The times of calls are those of the last minute or two.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class RecentStats {
  private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long RECENT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final OpenStore open;
  private @Nullable Look last;

  /** What times of calls are counted from on. */
  private @Nullable Timed older;

  private @Nullable Timed newer;

  /** Statistics, and when they were asked for. */
  private record Look(long nanos, StoreStats stats, Map<String, StoreStats.TreeStats> trees) {
    static Look of(long nanos, StoreStats stats) {
      Map<String, StoreStats.TreeStats> trees = new HashMap<>();
      stats.trees().forEach(tree -> trees.put(tree.name(), tree));
      return new Look(nanos, stats, trees);
    }
  }

  /** How long calls took from the opening of the store up to a moment. */
  private record Timed(long nanos, StoreStats.Latencies latencies) {}

  RecentStats(OpenStore open) {
    this.open = open;
  }

  private synchronized Look look(long keptNanos) {
    open.operations().checkOpen();
    long now = open.engine().nanos();
    Look look = last;
    if (look == null || now - look.nanos() >= keptNanos) {
      look = Look.of(now, open.stats(this::recent));
      last = look;
    }
    return look;
  }

  /** The monitor is held. */
  private StoreStats.Latencies recent(StoreStats.Latencies all) {
    long now = open.engine().nanos();
    Timed begun = newer;
    if (begun == null || now - begun.nanos() >= RECENT_NANOS) {
      older = begun;
      newer = new Timed(now, all);
    }
    Timed from = older;
    return from == null ? all : all.since(from.latencies());
  }

  /** Statistics of the whole store, at most a second old. */
  StoreStats stats() {
    return look(KEPT_NANOS).stats();
  }

  /** Statistics of a tree, at most a second old. */
  StoreStats.TreeStats tree(String name) {
    StoreStats.TreeStats tree = look(KEPT_NANOS).trees().get(name);
    if (tree == null) {
      // It may be new.
      tree = look(0).trees().get(name);
    }
    if (tree == null) {
      throw new TreeDroppedException(name);
    }
    return tree;
  }
}
