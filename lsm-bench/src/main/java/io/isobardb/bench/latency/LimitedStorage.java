package io.isobardb.bench.latency;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.ForwardingStorage;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import io.isobardb.memory.page.Memory;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A storage that is as slow as a device with limits, on the real clock: reads, writes and syncs
 * pass one after the other, in pieces, in the order in which they come. What is buffered costs
 * nothing when it is written; the file's sync pays for it. The storage below must be faster.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class LimitedStorage extends ForwardingStorage {
  /** Shorter waits would take longer than they should; they are made up for by later ones. */
  private static final long SHORTEST_WAIT_NANOS = 200_000;

  private final VirtualDevice device;
  private final LongSupplier nanoTime;
  private final LongConsumer park;

  LimitedStorage(Storage real, VirtualDevice.Limits limits) {
    this(real, limits, System::nanoTime, LockSupport::parkNanos);
  }

  /** With a clock, and what waits so many nanoseconds, or less. */
  LimitedStorage(
      Storage real, VirtualDevice.Limits limits, LongSupplier nanoTime, LongConsumer park) {
    super(real);
    this.park = park;
    long origin = nanoTime.getAsLong();
    this.device = new VirtualDevice(limits);
    this.nanoTime = () -> nanoTime.getAsLong() - origin;
  }

  private void pass(Kind kind, long bytes) {
    long left = bytes;
    do {
      long piece = Math.min(left, VirtualDevice.PIECE_BYTES);
      awaitUntil(serve(kind, piece));
      left -= piece;
    } while (left > 0);
  }

  private long serve(Kind kind, long bytes) {
    synchronized (device) {
      return device.serve(nanoTime.getAsLong(), kind, bytes);
    }
  }

  /** An interrupt does not end it, as it does not end I/O; the flag is kept. */
  private void awaitUntil(long nanos) {
    if (nanos - nanoTime.getAsLong() < SHORTEST_WAIT_NANOS) {
      return;
    }
    boolean interrupted = Thread.interrupted();
    for (long left = nanos - nanoTime.getAsLong(); left > 0; left = nanos - nanoTime.getAsLong()) {
      park.accept(left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  protected DataFile wrap(DataFile file, IoMode mode) {
    return new LimitedFile(file, mode);
  }

  @Override
  public void syncDirectory() throws IOException {
    super.syncDirectory();
    pass(Kind.SYNC, 0);
  }

  private final class LimitedFile extends ForwardingFile {
    private final boolean direct;
    private final AtomicLong unsynced = new AtomicLong();

    LimitedFile(DataFile file, IoMode mode) {
      super(file);
      this.direct = mode == IoMode.DIRECT;
    }

    @Override
    public int read(long offset, Memory target, int targetOffset, int length) throws IOException {
      int bytes = super.read(offset, target, targetOffset, length);
      pass(Kind.READ, bytes);
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
      if (direct) {
        pass(Kind.WRITE, bytes);
      } else {
        unsynced.addAndGet(bytes);
      }
    }

    @Override
    public void sync() throws IOException {
      super.sync();
      long bytes = unsynced.getAndSet(0);
      if (bytes > 0) {
        pass(Kind.WRITE, bytes);
      }
      pass(Kind.SYNC, 0);
    }
  }
}
