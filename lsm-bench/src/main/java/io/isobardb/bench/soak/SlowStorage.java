package io.isobardb.bench.soak;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A storage that is slow at times, as shared disks are: a part of its calls waits.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SlowStorage implements Storage {
  private static final int SLOW_OF = 8;

  private final Storage real;
  private volatile long delayNanos;

  SlowStorage(Storage real) {
    this.real = real;
  }

  /** From now on every eighth call waits up to twice as long; 0 for none. */
  void delay(long nanos) {
    delayNanos = nanos;
  }

  private void pause() {
    long most = delayNanos;
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (most > 0 && random.nextInt(SLOW_OF) == 0) {
      // Ends early for an interrupt, whose flag is kept.
      LockSupport.parkNanos(random.nextLong(2 * most));
    }
  }

  @Override
  public String path() {
    return real.path();
  }

  @Override
  public boolean supportsDirect() {
    return real.supportsDirect();
  }

  @Override
  public DataFile create(String name, IoMode mode) throws IOException {
    return new SlowFile(real.create(name, mode));
  }

  @Override
  public DataFile open(String name, IoMode mode) throws IOException {
    return new SlowFile(real.open(name, mode));
  }

  @Override
  public List<String> list() throws IOException {
    return real.list();
  }

  @Override
  public boolean exists(String name) throws IOException {
    return real.exists(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    real.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    real.delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    pause();
    real.syncDirectory();
  }

  @Override
  public long usableBytes() throws IOException {
    return real.usableBytes();
  }

  @Override
  public void lock() throws IOException {
    real.lock();
  }

  @Override
  public @Nullable String lockToRead() throws IOException {
    return real.lockToRead();
  }

  @Override
  public void close() throws IOException {
    real.close();
  }

  private final class SlowFile implements DataFile {
    private final DataFile file;

    SlowFile(DataFile file) {
      this.file = file;
    }

    @Override
    public String name() {
      return file.name();
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      pause();
      return file.read(offset, target, targetOffset, length);
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      pause();
      file.write(offset, source, sourceOffset, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      pause();
      file.writeAll(offset, sources, sourceOffsets, count, length);
    }

    @Override
    public Memory map(long offset, int length) throws IOException {
      return file.map(offset, length);
    }

    @Override
    public void sync() throws IOException {
      pause();
      file.sync();
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
