package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.schedule.Job;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A storage whose reads, writes and syncs cost time on a {@link VirtualScheduler}'s device. What is
 * buffered costs nothing when it is written; the file's sync writes it.
 *
 * <p>Thread rule: as that of its scheduler.
 */
public final class VirtualStorage implements Storage {
  private static final int PRIORITIES = Job.Priority.values().length;

  private final Storage storage;
  private final VirtualScheduler scheduler;

  /** By the priority of the job that wrote or read; last what no job did. */
  private final long[] written = new long[PRIORITIES + 1];

  private final long[] read = new long[PRIORITIES + 1];

  /** A storage that passes on to another one. */
  public VirtualStorage(Storage storage, VirtualScheduler scheduler) {
    this.storage = storage;
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
  public String path() {
    return storage.path();
  }

  @Override
  public boolean supportsDirect() {
    return storage.supportsDirect();
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    return new TimedFile(storage.create(name, mode), mode);
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    return new TimedFile(storage.open(name, mode), mode);
  }

  @Override
  public List<String> list() throws IOException {
    return storage.list();
  }

  @Override
  public boolean exists(String name) throws IOException {
    return storage.exists(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    storage.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    storage.delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    storage.syncDirectory();
    scheduler.transfer(Kind.SYNC, 0);
  }

  @Override
  public long usableBytes() throws IOException {
    return storage.usableBytes();
  }

  @Override
  public void lock() throws IOException {
    storage.lock();
  }

  @Override
  public @Nullable String lockToRead() throws IOException {
    return storage.lockToRead();
  }

  @Override
  public void close() throws IOException {
    storage.close();
  }

  private final class TimedFile implements DataFile {
    private final DataFile file;
    private final IoMode mode;
    private long unsynced;

    TimedFile(DataFile file, IoMode mode) {
      this.file = file;
      this.mode = mode;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      int bytes = file.read(offset, target, targetOffset, length);
      read[index(scheduler.steppedNow())] += bytes;
      scheduler.transfer(Kind.READ, bytes);
      return bytes;
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      file.write(offset, source, sourceOffset, length);
      wrote(length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      file.writeAll(offset, sources, sourceOffsets, count, length);
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
    public Memory map(long offset, int length) throws IOException {
      return file.map(offset, length);
    }

    @Override
    public void sync() throws IOException {
      file.sync();
      if (unsynced > 0) {
        scheduler.transfer(Kind.WRITE, unsynced);
        unsynced = 0;
      }
      scheduler.transfer(Kind.SYNC, 0);
    }

    @Override
    public boolean holdsDescriptor() {
      return file.holdsDescriptor();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
