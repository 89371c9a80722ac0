package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.Clock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that moves only when told to.
 *
 * <p>Thread rule: any thread.
 */
public final class SimulatedClock implements Clock {
  private final AtomicLong nanos = new AtomicLong();

  @Override
  public long nanos() {
    return nanos.get();
  }

  /** Moves on by {@code nanos}, which is not negative. */
  public void advance(long nanos) {
    if (nanos < 0) {
      throw new IllegalArgumentException("time does not run backwards: " + nanos);
    }
    this.nanos.addAndGet(nanos);
  }

  /** Moves on to {@code nanos}, unless it is later already. */
  public void advanceTo(long nanos) {
    this.nanos.accumulateAndGet(nanos, Math::max);
  }
}
