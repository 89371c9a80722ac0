package io.isobardb.lsm.store;

import io.isobardb.lsm.error.TreeDroppedException;
import io.isobardb.lsm.observe.LatencyStats;
import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.observe.TreeMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What monitoring is told of a store and its trees. Whoever asks for all attributes, one after
 * another, gets them of one moment.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class Beans {
  private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long RECENT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final OpenStore open;
  private final StoreBean store;
  private @Nullable Look last;

  /** What latencies were counted from on: those of the last minute or two are wanted. */
  private @Nullable Look older;

  private @Nullable Look newer;

  /** Statistics, and when they were asked for. */
  private record Look(long nanos, StoreStats stats, Map<String, StoreStats.TreeStats> trees) {
    static Look of(long nanos, StoreStats stats) {
      Map<String, StoreStats.TreeStats> trees = new HashMap<>();
      stats.trees().forEach(tree -> trees.put(tree.name(), tree));
      return new Look(nanos, stats, trees);
    }
  }

  Beans(OpenStore open) {
    this.open = open;
    this.store = new StoreBean(open, this);
  }

  private synchronized Look look(long keptNanos) {
    long now = open.engine().nanos();
    Look look = last;
    if (look == null || now - look.nanos() >= keptNanos) {
      look = Look.of(now, open.stats());
      last = look;
      Look begun = newer;
      if (begun == null || now - begun.nanos() >= RECENT_NANOS) {
        older = begun;
        newer = look;
      }
    }
    return look;
  }

  StoreStats stats() {
    return look(KEPT_NANOS).stats();
  }

  /** The calls of the last minute or two, as far as anybody has asked meanwhile. */
  synchronized LatencyStats recent(Function<StoreStats.Latencies, LatencyStats> of) {
    LatencyStats all = of.apply(stats().latencies());
    Look begun = older;
    return begun == null ? all : all.since(of.apply(begun.stats().latencies()));
  }

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

  /** The store's bean. */
  public StoreMXBean store() {
    return store;
  }

  /** The beans of the trees there are, by name. */
  public Map<String, TreeMXBean> trees() {
    Map<String, TreeMXBean> beans = new TreeMap<>();
    look(0).trees().keySet().forEach(name -> beans.put(name, new TreeBean(name, this)));
    return beans;
  }
}
