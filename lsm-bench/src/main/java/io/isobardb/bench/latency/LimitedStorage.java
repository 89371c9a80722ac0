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
 * pass one after the other, in pieces, in the order in which they come. What the storage below
 * takes counts as the device's time, unless it takes longer.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class LimitedStorage extends DeviceStorage {
  /** Shorter waits would take longer than they should; they are made up for by later ones. */
  private static final long SHORTEST_WAIT_NANOS = 200_000;

  /** What a thread does between two calls of one stream takes no longer. */
  private static final long STREAM_NANOS = 1_000_000;

  private final VirtualDevice device;
  private final LongSupplier nanoTime;
  private final LongConsumer park;

  /** What is known of a thread's calls. */
  private static final class Calls {
    /** When the last one ended. */
    private long endNanos = Long.MIN_VALUE / 2;

    /** By how much a sleep ended too late, as far as that was not made up for. */
    private long lateNanos;

    /** When the device gets the next piece, or has done the last one. */
    private long beginNanos;
  }

  private final ThreadLocal<Calls> calls = ThreadLocal.withInitial(Calls::new);

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

  /**
   * {@inheritDoc} One that follows a sleep at once comes as if that had ended in time: the system
   * may wake a thread milliseconds too late, and the device has nothing to do with that.
   */
  @Override
  protected void begins() {
    Calls own = calls.get();
    long now = nanoTime.getAsLong();
    if (now - own.endNanos >= STREAM_NANOS) {
      own.lateNanos = 0;
    }
    own.beginNanos = now - own.lateNanos;
  }

  @Override
  protected void transfer(Kind kind, long bytes) {
    Calls own = calls.get();
    long left = bytes;
    do {
      long piece = Math.min(left, VirtualDevice.PIECE_BYTES);
      own.beginNanos = serve(own.beginNanos, kind, piece);
      awaitUntil(own.beginNanos, own);
      left -= piece;
    } while (left > 0);
    long now = nanoTime.getAsLong();
    own.lateNanos = Math.max(0, Math.min(own.lateNanos, now - own.beginNanos));
    own.endNanos = now;
  }

  private long serve(long beginNanos, Kind kind, long bytes) {
    synchronized (device) {
      return device.serve(beginNanos, kind, bytes);
    }
  }

  /** An interrupt does not end it, as it does not end I/O; the flag is kept. */
  private void awaitUntil(long nanos, Calls own) {
    long now = nanoTime.getAsLong();
    if (nanos - now < SHORTEST_WAIT_NANOS) {
      return;
    }
    boolean interrupted = Thread.interrupted();
    while (now < nanos) {
      park.accept(nanos - now);
      interrupted |= Thread.interrupted();
      now = nanoTime.getAsLong();
    }
    own.lateNanos = now - nanos;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
