package io.isobardb.lsm.simulation;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A storage whose reads, writes and syncs pass a device. What is buffered costs nothing when it is
 * written; the file's sync pays for it.
 *
 * <p>Thread rule: as that of the storage it passes on to.
 */
public abstract class DeviceStorage extends ForwardingStorage {
  /** A storage that passes on to another one. */
  protected DeviceStorage(Storage storage) {
    super(storage);
  }

  /** The calling thread begins a call of the storage below; {@link #transfer} follows. */
  protected void begins() {}

  /** Returns once the device has done it. */
  protected abstract void transfer(Kind kind, long bytes);

  /** Adds what is read or written now, or written to a buffer. */
  protected void seen(Kind kind, long bytes) {}

  @Override
  protected final DataFile wrap(DataFile file, IoMode mode) {
    return new DeviceFile(file, mode == IoMode.DIRECT);
  }

  @Override
  public final void syncDirectory() throws IOException {
    begins();
    super.syncDirectory();
    transfer(Kind.SYNC, 0);
  }

  private final class DeviceFile extends ForwardingFile {
    private final boolean direct;
    private final AtomicLong unsynced = new AtomicLong();

    DeviceFile(DataFile file, boolean direct) {
      super(file);
      this.direct = direct;
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      begins();
      int bytes = super.read(offset, target, targetOffset, length);
      seen(Kind.READ, bytes);
      transfer(Kind.READ, bytes);
      return bytes;
    }

    @Override
    public void write(long offset, Memory source, int sourceOffset, int length) throws IOException {
      begins();
      super.write(offset, source, sourceOffset, length);
      wrote(length);
    }

    @Override
    public void writeAll(long offset, Memory[] sources, int[] sourceOffsets, int count, int length)
        throws IOException {
      begins();
      super.writeAll(offset, sources, sourceOffsets, count, length);
      wrote((long) count * length);
    }

    private void wrote(long bytes) {
      seen(Kind.WRITE, bytes);
      if (direct) {
        transfer(Kind.WRITE, bytes);
      } else {
        unsynced.addAndGet(bytes);
      }
    }

    @Override
    public void sync() throws IOException {
      begins();
      super.sync();
      long bytes = unsynced.getAndSet(0);
      if (bytes > 0) {
        transfer(Kind.WRITE, bytes);
      }
      transfer(Kind.SYNC, 0);
    }
  }
}
