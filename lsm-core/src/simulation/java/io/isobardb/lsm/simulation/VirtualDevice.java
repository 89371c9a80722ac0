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
   * @param operations of those at most
   * @param operationBytes what an operation reads or writes at most: a larger piece is several
   * @param syncNanos what a sync takes, besides writing what is not written yet
   */
  public record Limits(
      long readBytes,
      long writeBytes,
      long totalBytes,
      long operations,
      long operationBytes,
      long syncNanos) {
    /** Checks the numbers. */
    public Limits {
      if (readBytes < 1
          || writeBytes < 1
          || totalBytes < 1
          || operations < 1
          || operationBytes < 1
          || syncNanos < 0) {
        throw new IllegalArgumentException(
            "a device reads, writes and does something in each second: "
                + readBytes
                + ", "
                + writeBytes
                + ", "
                + totalBytes
                + " bytes, "
                + operations
                + " operations of "
                + operationBytes
                + " bytes, sync "
                + syncNanos
                + " ns");
      }
    }

    /** Of a device for which each piece is one operation. */
    public Limits(
        long readBytes, long writeBytes, long totalBytes, long operations, long syncNanos) {
      this(readBytes, writeBytes, totalBytes, operations, PIECE_BYTES, syncNanos);
    }
  }

  /**
   * What a volume that is held to a rate lets pass in each turn, at its own pace. What comes when
   * that is spent stands still until a later turn. Reads and writes have budgets of their own.
   *
   * @param readBytes per second
   * @param writeBytes per second
   * @param turnNanos how long a turn is
   * @param mostNanos what was not spent is kept for so long at most, and is there at the beginning
   */
  public record Held(long readBytes, long writeBytes, long turnNanos, long mostNanos) {
    /** Of a volume that keeps nothing for the next turn. */
    public Held(long readBytes, long writeBytes, long turnNanos) {
      this(readBytes, writeBytes, turnNanos, turnNanos);
    }
  }

  /**
   * What a volume does in the long run if it is faster while it has credits. It earns as much in a
   * second as it would do then, and spends what it does.
   *
   * @param base what it does without credits
   * @param mostNanos credits at most, by the time that {@code base} takes for them
   */
  public record Credits(Limits base, long mostNanos) {}

  /** What is left of a budget. */
  private static final class Budget {
    private final long bytesPerTurn;
    private final long mostBytes;
    private final long turnNanos;
    private long turn;
    private long left;

    Budget(long bytesPerSecond, Held held) {
      this.turnNanos = held.turnNanos();
      this.bytesPerTurn = (long) (bytesPerSecond * (turnNanos / 1e9));
      this.mostBytes = (long) (bytesPerSecond * (held.mostNanos() / 1e9));
      this.left = mostBytes;
    }

    /** When bytes may pass that come now. */
    long take(long now, long bytes) {
      long turns = now / turnNanos - turn;
      if (turns > 0) {
        turn += turns;
        left = Math.min(mostBytes, left + turns * bytesPerTurn);
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
  private @Nullable Credits credits;
  private long creditNanos;

  /** Until when credits were earned. */
  private long earnedNanos;

  private long freeNanos;
  private long busyNanos;

  /** An idle device. */
  public VirtualDevice(Limits limits) {
    this.limits = limits;
  }

  /** What comes from now on is served at another pace. */
  public void change(Limits now) {
    limits = now;
  }

  /** What comes from now on is held to a rate; to none if it is null. */
  public void hold(@Nullable Held held) {
    reads = held == null ? null : new Budget(held.readBytes(), held);
    writes = held == null ? null : new Budget(held.writeBytes(), held);
  }

  /** What comes from now on is served by a volume that has all the credits it can have. */
  void lend(Credits lent) {
    credits = lent;
    creditNanos = lent.mostNanos();
    earnedNanos = freeNanos;
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
    long begin = Math.max(now, freeNanos);
    earn(begin);
    long nanos = nanos(kind, bytes);
    busyNanos += nanos;
    freeNanos = begin + nanos;
    spend(kind, bytes);
    return freeNanos;
  }

  private void earn(long now) {
    if (credits != null) {
      creditNanos = Math.min(credits.mostNanos(), creditNanos + now - earnedNanos);
      earnedNanos = now;
    }
  }

  private void spend(Kind kind, long bytes) {
    if (credits != null) {
      creditNanos -= nanos(credits.base(), kind, bytes);
      if (creditNanos < 0) {
        creditNanos = 0;
        earnedNanos = freeNanos;
      }
    }
  }

  /** How long it works for a piece that comes next. */
  long nanos(Kind kind, long bytes) {
    if (credits != null) {
      long base = nanos(credits.base(), kind, bytes);
      return creditNanos >= base ? Math.min(base, nanos(limits, kind, bytes)) : base;
    }
    return nanos(limits, kind, bytes);
  }

  private static long nanos(Limits limits, Kind kind, long bytes) {
    double seconds =
        (double) Math.max(1, -Math.floorDiv(-bytes, limits.operationBytes())) / limits.operations();
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
