package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A storage whose reads, writes and syncs cost time on a {@link VirtualScheduler}'s device. What is
 * buffered costs nothing when it is written; the file's sync writes it.
 *
 * <p>Thread rule: as that of its scheduler.
 */
public final class VirtualStorage extends ForwardingStorage {
  private static final int PRIORITIES = Job.Priority.values().length;

  private final VirtualScheduler scheduler;

  /** By the priority of the job that wrote or read; last what no job did. */
  private final long[] written = new long[PRIORITIES + 1];

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
  protected DataFile wrap(DataFile file, IoMode mode) {
    return new TimedFile(file, mode);
  }

  @Override
  public void syncDirectory() throws IOException {
    super.syncDirectory();
    scheduler.transfer(Kind.SYNC, 0);
  }

  private final class TimedFile extends ForwardingFile {
    private final IoMode mode;
    private long unsynced;

    TimedFile(DataFile file, IoMode mode) {
      super(file);
      this.mode = mode;
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      int bytes = super.read(offset, target, targetOffset, length);
      read[index(scheduler.steppedNow())] += bytes;
      scheduler.transfer(Kind.READ, bytes);
      return bytes;
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      super.write(offset, source, sourceOffset, length);
      wrote(length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      super.writeAll(offset, sources, sourceOffsets, count, length);
      wrote((long) count * length);
    }

    private void wrote(long bytes) {
      written[index(scheduler.steppedNow())] += bytes;
      if (mode == IoMode.DIRECT) {
        scheduler.transfer(Kind.WRITE, bytes);
      } else {
        unsynced += bytes;
      }
    }

    @Override
    public void sync() throws IOException {
      super.sync();
      if (unsynced > 0) {
        scheduler.transfer(Kind.WRITE, unsynced);
        unsynced = 0;
      }
      scheduler.transfer(Kind.SYNC, 0);
    }
  }
}
