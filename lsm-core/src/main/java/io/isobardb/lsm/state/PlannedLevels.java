package io.isobardb.lsm.state;

import io.isobardb.tuner.workload.LevelShares;
import org.jspecify.annotations.Nullable;

/**
 * What the levels of a tree are planned to hold.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
public final class PlannedLevels {
  private volatile @Nullable LevelShares plan;
  private volatile String reason = "";

  /** The plan, or null if there is none. */
  public @Nullable LevelShares plan() {
    return plan;
  }

  public void setPlan(@Nullable LevelShares shares) {
    plan = shares;
  }

  /** Why the levels are planned as they are, or why not yet; empty if nobody has looked. */
  public String reason() {
    return reason;
  }

  public void setReason(String text) {
    reason = text;
  }
}
