package io.isobardb.lsm.simulation;

import org.jspecify.annotations.Nullable;

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

  /**
   * What a volume that is held to a rate lets pass in each turn, at its own pace. What comes when
   * that is spent stands still until a later turn. Reads and writes have budgets of their own.
   *
   * @param readBytes per second
   * @param writeBytes per second
   * @param turnNanos how long a turn is
   */
  public record Held(long readBytes, long writeBytes, long turnNanos) {}

  /** What is left of a budget. */
  private static final class Budget {
    private final long bytesPerTurn;
    private final long turnNanos;
    private long turn;
    private long left;

    Budget(long bytesPerSecond, long turnNanos) {
      this.bytesPerTurn = (long) (bytesPerSecond * (turnNanos / 1e9));
      this.turnNanos = turnNanos;
      this.left = bytesPerTurn;
    }

    /** When bytes may pass that come now. */
    long take(long now, long bytes) {
      if (now / turnNanos > turn) {
        turn = now / turnNanos;
        left = bytesPerTurn;
      }
      while (left <= 0) {
        turn++;
        left += bytesPerTurn;
      }
      left -= bytes;
      return Math.max(now, turn * turnNanos);
    }
  }

  private @Nullable Budget reads;
  private @Nullable Budget writes;
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

  /** What comes from now on is held to a rate; to none if it is null. */
  public void hold(@Nullable Held held) {
    reads = held == null ? null : new Budget(held.readBytes(), held.turnNanos());
    writes = held == null ? null : new Budget(held.writeBytes(), held.turnNanos());
  }

  /** When a piece that comes at {@code now} may be {@linkplain #serve served}. */
  public long admit(long now, Kind kind, long bytes) {
    Budget budget =
        switch (kind) {
          case READ -> reads;
          case WRITE -> writes;
          case SYNC -> null;
        };
    return budget == null ? now : budget.take(now, bytes);
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
