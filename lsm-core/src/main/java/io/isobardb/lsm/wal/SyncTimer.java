package io.isobardb.lsm.wal;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.schedule.Service;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * When the log is synced though nobody waits for that: some time after the oldest record that is
 * not synced. Wakes the log's service then.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #attach} before the others.
 */
final class SyncTimer {
  private final Clock clock;
  private final long intervalNanos;

  /** Whether it runs; false only if nothing is unsynced, or about to be. */
  private final AtomicBoolean running = new AtomicBoolean();

  private volatile long deadlineNanos;
  private volatile long syncedNanos;
  private volatile Service.@Nullable Handle service;

  SyncTimer(Clock clock, long intervalNanos) {
    this.clock = clock;
    this.intervalNanos = intervalNanos;
    this.syncedNanos = clock.nanos();
  }

  /** Says whom to wake. */
  void attach(Service.Handle log) {
    service = log;
  }

  /** Ends the service. */
  void stop() {
    Service.Handle attached = service;
    if (attached != null) {
      attached.stop();
    }
  }

  boolean isRunning() {
    return running.get();
  }

  /** All that was finished by {@code now} is synced. */
  void onSynced(long now) {
    syncedNanos = now;
  }

  /** About how old the oldest unsynced record is, at most, if there is one. */
  long ageNanos() {
    long now = clock.nanos();
    long begun = deadlineNanos - intervalNanos;
    return running.get() ? Math.max(0, Math.min(now - begun, now - syncedNanos)) : 0;
  }

  boolean isDue(long now) {
    return running.get() && now - deadlineNanos >= 0;
  }

  /** Starts it unless it runs. */
  void start() {
    if (running.compareAndSet(false, true)) {
      deadlineNanos = clock.nanos() + intervalNanos;
      wakeWithin(intervalNanos);
    }
  }

  /** It was due, and has another interval. */
  void restart(long now) {
    deadlineNanos = now + intervalNanos;
  }

  /** Ends it: a writer that finds something unsynced afterwards has to start it again. */
  void end() {
    running.set(false);
  }

  /** Every run of the service uses up its alarm, whatever it ran for: this sets it again. */
  void setAlarm() {
    if (running.get()) {
      wakeWithin(Math.max(1, deadlineNanos - clock.nanos()));
    }
  }

  void wakeWithin(long nanos) {
    Service.Handle attached = service;
    if (attached != null) {
      attached.wakeWithin(nanos);
    }
  }

  void wake() {
    Service.Handle attached = service;
    if (attached != null) {
      attached.wake();
    }
  }
}
