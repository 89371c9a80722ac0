package io.isobardb.bench.latency;

import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.simulation.DeviceStorage;
import io.isobardb.lsm.simulation.VirtualDevice;
import io.isobardb.lsm.simulation.VirtualDevice.Kind;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A storage that is as slow as a device with limits, on the real clock: reads, writes and syncs
 * pass one after the other, in pieces, in the order in which they come. The storage below must be
 * faster.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class LimitedStorage extends DeviceStorage {
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

  @Override
  protected void transfer(Kind kind, long bytes) {
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
}
