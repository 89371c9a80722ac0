package io.isobardb.lsm.schedule;

import io.isobardb.lsm.error.WriteStalledException;
import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.observe.StallReason;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How long a write may wait until it has its place in the log, all its waits together. The time
 * runs from its first wait on, so that a write that need not wait looks at no clock.
 *
 * <p>Thread rule: the thread that writes.
 */
public final class WaitLimit {
  /** A timeout for ever, in nanoseconds. */
  public static final long FOREVER = Long.MAX_VALUE;

  /** Says that nothing tells how long a wait will be. */
  public static final long UNKNOWN = -1;

  private long timeoutNanos = FOREVER;
  private @Nullable String tree;
  private long endNanos;
  private boolean running;

  /**
   * Begins anew, for another write.
   *
   * @param timeout in nanoseconds; 0 or more, or {@link #FOREVER}
   * @param of the tree that is written to; null for several
   */
  public WaitLimit begin(long timeout, @Nullable String of) {
    timeoutNanos = timeout;
    tree = of;
    running = false;
    return this;
  }

  /** A timeout in nanoseconds: {@link #FOREVER} for a year or more. */
  public static long nanos(Duration timeout) {
    return timeout.toDays() >= 365 ? FOREVER : timeout.toNanos();
  }

  /** Whether waits have no end. */
  public boolean isForever() {
    return timeoutNanos == FOREVER;
  }

  /** How long the write may still wait; the time runs from the first call on. */
  public long leftNanos(Clock clock) {
    if (isForever()) {
      return FOREVER;
    }
    long now = clock.nanos();
    if (!running) {
      running = true;
      endNanos = now + timeoutNanos;
    }
    return Math.max(0, endNanos - now);
  }

  /**
   * Waits for a signal until {@code over} holds, or until there is no time left.
   *
   * @return whether it holds
   */
  public boolean await(Signal signal, Clock clock, BooleanSupplier over) {
    if (isForever()) {
      signal.await(over);
      return true;
    }
    return signal.await(over, leftNanos(clock));
  }

  /**
   * Says that the write would have waited too long.
   *
   * @param culprit the tree that it would have waited for; null for the one that it is for
   * @param expectedNanos the wait that was expected, or {@link #UNKNOWN}
   */
  public WriteStalledException refusal(
      StallReason reason, @Nullable String culprit, long expectedNanos) {
    return new WriteStalledException(
        reason.name(),
        culprit == null ? tree : culprit,
        expectedNanos == UNKNOWN ? null : Duration.ofNanos(expectedNanos),
        Duration.ofNanos(timeoutNanos));
  }
}
