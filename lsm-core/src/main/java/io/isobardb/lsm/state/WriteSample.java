package io.isobardb.lsm.state;

import io.isobardb.tuner.model.LearntPopularity;
import io.isobardb.tuner.model.ReuseTimes;
import org.jspecify.annotations.Nullable;

/**
 * Learns from a tree's writes how popular its keys are. Time goes by the log: a writer has the LSN
 * at hand, and needs no counter that others write to. Most writes only compare a number.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class WriteSample {
  /** Its memory. More would tell short times better, which levels do not go by. */
  public static final int BYTES = ReuseTimes.LEAST_BYTES;

  /** The largest share of all keys that is looked at: what they cost is felt by the others. */
  private static final double MOST_KEPT = 1.0 / 16;

  private final OperationCounts counts;

  /** Guarded by this, but for {@link ReuseTimes#looksAt}. */
  private final ReuseTimes times;

  /**
   * @param counts of the tree's writes
   * @param window from which on a key counts as new, in bytes of the log
   * @param lsn where the log ends now
   */
  public WriteSample(OperationCounts counts, long window, long lsn) {
    this.counts = counts;
    this.times =
        new ReuseTimes(
            Math.max(1, Math.min(window, ReuseTimes.MAX_WINDOW)),
            BYTES,
            MOST_KEPT,
            lsn,
            counts.writes());
  }

  /** A key was written. */
  void learn(long hash, long lsn) {
    if (times.looksAt(hash)) {
      synchronized (this) {
        times.write(hash, lsn, counts::writes);
      }
    }
  }

  /** What was learnt, if that can be told yet; {@code lsn} is where the log ends. */
  public synchronized @Nullable LearntPopularity popularity(long lsn) {
    return times.isSettled() ? times.popularity(lsn, counts.writes()) : null;
  }
}
