package io.isobardb.lsm.simulation;

/**
 * A device with limits, in virtual time or beside a real one: it serves one piece after the other,
 * in the order in which they come.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class VirtualDevice {
  /** Larger reads and writes pass in pieces of this size, so that others come in between. */
  public static final int PIECE_BYTES = 128 << 10;

  /** What a piece is. */
  public enum Kind {
    READ,
    WRITE,
    SYNC
  }

  /**
   * What the device does in a second.
   *
   * @param readBytes bytes read at most
   * @param writeBytes bytes written at most
   * @param totalBytes bytes of both at most
   * @param operations pieces at most
   * @param syncNanos what a sync takes, besides writing what is not written yet
   */
  public record Limits(
      long readBytes, long writeBytes, long totalBytes, long operations, long syncNanos) {
    /** Checks the numbers. */
    public Limits {
      if (readBytes < 1 || writeBytes < 1 || totalBytes < 1 || operations < 1 || syncNanos < 0) {
        throw new IllegalArgumentException(
            "a device reads, writes and does something in each second: "
                + readBytes
                + ", "
                + writeBytes
                + ", "
                + totalBytes
                + " bytes, "
                + operations
                + " operations, sync "
                + syncNanos
                + " ns");
      }
    }
  }

  private Limits limits;
  private long freeNanos;
  private long busyNanos;

  /** An idle device. */
  public VirtualDevice(Limits limits) {
    this.limits = limits;
  }

  /** What comes from now on is served at another pace. */
  void change(Limits now) {
    limits = now;
  }

  /** Takes a piece that comes at {@code now}. Returns when it is done. */
  public long serve(long now, Kind kind, long bytes) {
    long nanos = nanos(kind, bytes);
    busyNanos += nanos;
    freeNanos = Math.max(now, freeNanos) + nanos;
    return freeNanos;
  }

  /** How long it works for a piece. */
  long nanos(Kind kind, long bytes) {
    double seconds = 1.0 / limits.operations();
    switch (kind) {
      case READ -> seconds = Math.max(seconds, (double) bytes / limits.readBytes());
      case WRITE -> seconds = Math.max(seconds, (double) bytes / limits.writeBytes());
      case SYNC -> seconds = Math.max(seconds, limits.syncNanos() / 1e9);
    }
    seconds = Math.max(seconds, (double) bytes / limits.totalBytes());
    return (long) (seconds * 1e9);
  }

  /** How long it has been busy. */
  long busyNanos() {
    return busyNanos;
  }
}
