package io.isobardb.bench.soak;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A storage that is slow at times, as shared disks are: a part of its calls waits.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class SlowStorage extends ForwardingStorage {
  private static final int SLOW_OF = 8;

  private volatile long delayNanos;

  SlowStorage(Storage real) {
    super(real);
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
  protected DataFile wrap(DataFile file, IoMode mode) {
    return new SlowFile(file);
  }

  @Override
  public void syncDirectory() throws IOException {
    pause();
    super.syncDirectory();
  }

  private final class SlowFile extends ForwardingFile {
    SlowFile(DataFile file) {
      super(file);
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      pause();
      return super.read(offset, target, targetOffset, length);
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      pause();
      super.write(offset, source, sourceOffset, length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      pause();
      super.writeAll(offset, sources, sourceOffsets, count, length);
    }

    @Override
    public void sync() throws IOException {
      pause();
      super.sync();
    }
  }
}
