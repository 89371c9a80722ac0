package io.isobardb.lsm.state;

import io.isobardb.lsm.observe.StoreStats;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many runs on disk readers of a tree look into: what reads pay for several runs on a level.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class RunsAsked {
  private final LongAdder lookups = new LongAdder();
  private final LongAdder lookupRuns = new LongAdder();
  private final LongAdder foundOnDisk = new LongAdder();
  private final LongAdder absent = new LongAdder();
  private final LongAdder scans = new LongAdder();
  private final LongAdder scanRuns = new LongAdder();

  /**
   * A lookup that was chosen to be counted.
   *
   * @param runs that it looked into, filters passed
   * @param onDisk whether one of them answered
   * @param nowhere whether nothing did
   */
  public void lookup(int runs, boolean onDisk, boolean nowhere) {
    lookups.increment();
    lookupRuns.add(runs);
    if (onDisk) {
      foundOnDisk.increment();
    }
    if (nowhere) {
      absent.increment();
    }
  }

  /** A cursor has opened so many runs. */
  public void scan(int runs) {
    scans.increment();
    scanRuns.add(runs);
  }

  /** All of it. */
  public StoreStats.RunStats stats() {
    return new StoreStats.RunStats(
        lookups.sum(),
        lookupRuns.sum(),
        foundOnDisk.sum(),
        absent.sum(),
        scans.sum(),
        scanRuns.sum());
  }
}
