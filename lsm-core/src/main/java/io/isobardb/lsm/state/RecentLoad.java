package io.isobardb.lsm.state;

import io.isobardb.lsm.observe.OperationStats;
import io.isobardb.lsm.version.L0Rules.Load;

/**
 * What users did to a tree lately: means over some seconds, of looks a second apart.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class RecentLoad {
  private static final long LOOK_NANOS = 1_000_000_000;

  /** The weight of the last look among those before it. */
  private static final double RECENT = 1 / 4.0;

  private boolean looked;
  private long lookedNanos;
  private OperationStats seen = new OperationStats(0, 0, 0, 0, 0, 0);
  private volatile Load load = Load.NONE;

  /** What was done per second, as it is known now. */
  public Load load() {
    return load;
  }

  /** Looks again if it is time to. */
  public synchronized void look(long nanos, OperationCounts counts) {
    long passed = nanos - lookedNanos;
    if (looked && passed < LOOK_NANOS) {
      return;
    }
    OperationStats now = counts.stats();
    if (looked) {
      double seconds = passed / 1e9;
      Load before = load;
      load =
          new Load(
              mean(before.gets(), (now.gets() - seen.gets()) / seconds),
              mean(before.scans(), (now.scans() - seen.scans()) / seconds),
              mean(before.steps(), (now.steps() - seen.steps()) / seconds),
              mean(before.writes(), (writes(now) - writes(seen)) / seconds));
    }
    looked = true;
    lookedNanos = nanos;
    seen = now;
  }

  private static double mean(double before, double now) {
    return before + (now - before) * RECENT;
  }

  private static long writes(OperationStats stats) {
    return stats.puts() + stats.deletes();
  }
}
