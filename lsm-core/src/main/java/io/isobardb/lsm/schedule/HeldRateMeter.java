package io.isobardb.lsm.schedule;

import io.isobardb.lsm.schedule.BandwidthRules.Pressure;
import io.isobardb.lsm.schedule.HeldRate.Waits;
import io.isobardb.lsm.schedule.HeldRate.Window;

/**
 * Looks at what passes the device, and for how long calls stand still, and learns by {@link
 * HeldRate} to what rate it is held.
 *
 * <p>Thread rule: one thread at a time.
 */
final class HeldRateMeter {
  private static final long SPAN_NANOS = 1_000_000_000;

  private final MeteredStorage storage;
  private long sinceNanos;
  private Flow.Seen reads = Flow.Seen.NOTHING;
  private Flow.Seen writes = Flow.Seen.NOTHING;

  /** Whether merges fell behind since the last span. */
  private boolean pressed;

  private HeldRate rate = HeldRate.UNKNOWN;

  HeldRateMeter(MeteredStorage storage, long nanos) {
    this.storage = storage;
    this.sinceNanos = nanos;
  }

  /**
   * Looks again if it is time to.
   *
   * @param quickBytes per second that quick calls do
   */
  void look(long nanos, Pressure pressure, long quickBytes) {
    pressed |= pressure == Pressure.ALL;
    long passed = nanos - sinceNanos;
    if (passed < SPAN_NANOS) {
      return;
    }
    Flow.Seen read = storage.readsSeen();
    Flow.Seen written = storage.writesSeen();
    long bytes = Math.max(read.bytes() - reads.bytes(), written.bytes() - writes.bytes());
    Waits readWaits = Waits.between(reads, read);
    Waits writeWaits = Waits.between(writes, written);
    rate = rate.after(new Window(passed, bytes, quickBytes, pressed, readWaits, writeWaits));
    sinceNanos = nanos;
    pressed = false;
    reads = read;
    writes = written;
  }

  /** What the device is held to; 0 if it is not known to be held to a rate. */
  long bytesPerSecond() {
    return rate.bytes();
  }
}
