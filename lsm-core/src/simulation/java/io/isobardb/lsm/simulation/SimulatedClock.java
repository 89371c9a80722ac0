package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.Clock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that moves only when told to.
 *
 * <p>Thread rule: any thread.
 */
public final class SimulatedClock implements Clock {
  /** Where wall time starts: the second of 2026-01-01T00:00:00Z, in milliseconds. */
  private static final long WALL_ORIGIN_MILLIS = 1_767_225_600_000L;

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong wallJumpMillis = new AtomicLong();
  private final AtomicLong waitedNanos = new AtomicLong();

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public long wallMillis() {
    return WALL_ORIGIN_MILLIS + wallJumpMillis.get() + nanos.get() / 1_000_000;
  }

  @Override
  public long waitedNanos() {
    return waitedNanos.get();
  }

  /** Moves on by {@code nanos}, in which all threads wait for a processor. */
  public void advanceWaiting(long nanos) {
    waitedNanos.addAndGet(nanos);
    advance(nanos);
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

  /** Moves the wall clock alone, forwards or backwards, as an administrator does. */
  public void jumpWall(long millis) {
    wallJumpMillis.addAndGet(millis);
  }
}
