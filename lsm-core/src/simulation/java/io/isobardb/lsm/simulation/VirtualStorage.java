package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.Clock;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import org.jspecify.annotations.Nullable;

/**
 * A storage whose reads, writes and syncs cost time on a {@link VirtualScheduler}'s device.
 *
 * <p>Thread rule: as that of its scheduler.
 */
public final class VirtualStorage extends DeviceStorage {
  private static final int PRIORITIES = Job.Priority.values().length;

  private final VirtualScheduler scheduler;

  /** By the priority of the job that wrote or read; last what no job did. */
  private final long[] written = new long[PRIORITIES + 1];

  /** What all calls have taken so far, without waiting for the device. */
  private long callNanos;

  private final long[] read = new long[PRIORITIES + 1];

  /** A storage that passes on to another one. */
  public VirtualStorage(Storage storage, VirtualScheduler scheduler) {
    super(storage);
    this.scheduler = scheduler;
  }

  /** Bytes written by jobs of a priority; by clients and services if it is null. */
  public long bytesWritten(Job.@Nullable Priority by) {
    return written[index(by)];
  }

  /** Bytes read by jobs of a priority; by clients and services if it is null. */
  public long bytesRead(Job.@Nullable Priority by) {
    return read[index(by)];
  }

  private static int index(Job.@Nullable Priority by) {
    return by == null ? PRIORITIES : by.ordinal();
  }

  @Override
  public Clock callClock(Clock clock) {
    return new Clock() {
      @Override
      public long nanos() {
        return callNanos;
      }

      @Override
      public long wallMillis() {
        return clock.wallMillis();
      }

      @Override
      public long waitedNanos() {
        return clock.waitedNanos();
      }
    };
  }

  @Override
  protected void transfer(Kind kind, long bytes) {
    callNanos += scheduler.transfer(kind, bytes);
  }

  @Override
  protected void seen(Kind kind, long bytes) {
    (kind == Kind.READ ? read : written)[index(scheduler.steppedNow())] += bytes;
  }
}
