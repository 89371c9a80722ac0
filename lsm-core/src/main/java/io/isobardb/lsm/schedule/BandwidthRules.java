package io.isobardb.lsm.schedule;

/**
 * How much of the device flushes and merges get: a pure function of what clients use. Immutable.
 *
 * <p>They get what the device has less what clients use and a reserve. Flushes and merges of L0,
 * which writers wait for in the end, get a minimum in any case. Nobody is limited while the device
 * is not known, or while no client uses it.
 *
 * <p>If the device's bandwidth is learnt, deeper merges have the minimum, too, and nobody is
 * limited while L0 has many groups. Otherwise a device that is busy with reads of many groups would
 * keep merges from making them few.
 *
 * <p>Reads and writes of jobs pass in small pieces while clients read: a client's read waits for
 * the pieces before it, and with large ones that would be most of its latency. A flush waits for
 * them, too. Its own pieces are larger once writers are about to wait, and still larger once merges
 * fall behind.
 *
 * @param deviceBytes read and written per second at most; {@link #AUTO} to learn it, {@link
 *     Long#MAX_VALUE} for no limit
 * @param reserveBytes of that, per second, which nobody gets; at most a twentieth of what is learnt
 * @param minimumBytes per second for flushes and merges of L0 together; at most a quarter of what
 *     is learnt
 */
public record BandwidthRules(long deviceBytes, long reserveBytes, long minimumBytes) {
  /** The device's bandwidth is learnt. */
  public static final long AUTO = 0;

  /**
   * A limit is changed if it differs by so many bytes per second, or by this part of the device.
   */
  private static final long LEAST_CHANGE = 10 << 20;

  private static final int LEAST_CHANGE_PART = 20;

  /** What is learnt has these parts for the reserve and the minimum. */
  private static final int RESERVE_PART = 20;

  private static final int MINIMUM_PART = 4;

  /** A flush that writers are about to wait for has pieces so many times as large. */
  private static final int PIECES_IF_AWAITED = 2;

  /** The same while merges fall behind, too: the device is never idle then. */
  private static final int PIECES_IF_BEHIND = 8;

  /** A device that does this part of what it can is pressed. */
  private static final double PRESSED = 0.9;

  /** What presses. */
  public enum Pressure {
    /** Nobody waits for background work, and nobody is about to. */
    NONE,
    /** Reads find many groups in L0. */
    READERS,
    /** Writers are about to wait for flushes or merges of L0. */
    WRITERS,
    /** Writers are about to wait for deeper merges, or somebody waits for all. */
    ALL;

    /** Whether somebody is about to wait for background work itself. */
    boolean isUrgent() {
      return compareTo(WRITERS) >= 0;
    }
  }

  /**
   * What is seen of a store.
   *
   * @param clients what they use
   * @param device what was learnt of it
   * @param pieceBytes that the device does quickly
   * @param pressure of writers
   */
  record View(Clients clients, Device device, int pieceBytes, Pressure pressure) {
    /** Bytes per second of clients, or in the direction in which they use more of a held device. */
    private long clientBytes() {
      return device.isHeld()
          ? Math.max(clients.readBytes(), clients.logBytes())
          : clients.readBytes() + clients.logBytes();
    }

    /** Whether nobody uses the device; of one that is held, also whether nobody did lately. */
    private boolean isClientless() {
      return clientBytes() == 0 && !(device.isHeld() && clients.usedLately());
    }
  }

  /**
   * What clients use of the device.
   *
   * @param readBytes per second that they read
   * @param logBytes per second that they reserve of the log
   * @param readLately whether they have read from files lately
   * @param usedLately whether they have read from files, or reserved something of the log, lately
   */
  record Clients(long readBytes, long logBytes, boolean readLately, boolean usedLately) {}

  /**
   * What is known of a device whose bandwidth is learnt.
   *
   * @param bytes that it does in a second, as far as was seen; 0 if nothing was
   * @param heldBytes to which it is held in the long run, per second; 0 if it is not known to be
   * @param recentBytes per second that it did lately
   * @param busy whether it had something to do all the time lately
   * @param tried whether no limit is to hold now, to see what it does
   */
  record Device(long bytes, long heldBytes, long recentBytes, boolean busy, boolean tried) {
    /** Nothing is known. */
    static final Device UNKNOWN = new Device(0, 0, 0, false, false);

    /** What it does in a second; 0 if nothing is known. */
    long known() {
      return isHeld() ? heldBytes : bytes;
    }

    /** Whether it is held to a rate: more passes at once, and then all wait. */
    boolean isHeld() {
      return heldBytes > 0;
    }

    /** Whether it does about all it can. */
    boolean isPressed() {
      return bytes > 0 && busy && recentBytes >= bytes * PRESSED;
    }
  }

  /** Whether the device's bandwidth is learnt. */
  boolean learns() {
    return deviceBytes == AUTO;
  }

  /** What jobs get after {@code before}. */
  IoLimits next(IoLimits before, View view) {
    int piece = piece(view);
    int flush = flushPiece(piece, view.pressure());
    long device = device(view);
    if (device == Long.MAX_VALUE) {
      return unlimited(piece, flush, "the device's bandwidth is not limited");
    }
    if (view.isClientless()) {
      return unlimited(piece, flush, "no client uses the device");
    }
    if (isHeld(view)) {
      return heldLimits(before, view, piece, flush);
    }
    if (view.pressure() == Pressure.ALL) {
      return unlimited(piece, flush, "merges must not fall behind");
    }
    if (learns() && view.pressure() == Pressure.READERS) {
      return unlimited(piece, flush, "reads find many groups in L0");
    }
    long minimum = minimum(device);
    long left = left(device, view);
    boolean less = left < minimum;
    if (learns()) {
      left = Math.max(left, minimum);
    }
    left = steady(left, before.allBytes(), device);
    if (view.pressure() == Pressure.WRITERS) {
      return new IoLimits(
          Long.MAX_VALUE, left, false, piece, flush, "writers are about to wait for flushes");
    }
    return less
        ? new IoLimits(minimum, left, false, piece, flush, "the minimum, as clients leave less")
        : new IoLimits(left, left, false, piece, flush, "what clients leave of the device");
  }

  private static IoLimits unlimited(int piece, int flushPiece, String reason) {
    return new IoLimits(Long.MAX_VALUE, Long.MAX_VALUE, false, piece, flushPiece, reason);
  }

  /**
   * Without a limit jobs would get no more of a volume that is held to a rate: they would only
   * spend what clients need next. So they are never without one.
   */
  private IoLimits heldLimits(IoLimits before, View view, int piece, int flush) {
    long device = device(view);
    long least = minimum(device);
    long most = Math.max(least, device - view.clientBytes());
    long left = Math.max(least, left(device, view));
    left = steady(left, before.allBytes(), device);
    most = Math.max(left, steady(most, before.urgentBytes(), device));
    return switch (view.pressure()) {
      case ALL ->
          new IoLimits(
              most,
              most,
              true,
              piece,
              flush,
              "all that clients leave: merges must not fall behind");
      case WRITERS ->
          new IoLimits(
              most, left, true, piece, flush, "all that clients leave: writers are about to wait");
      case NONE, READERS ->
          new IoLimits(
              left,
              left,
              true,
              piece,
              flush,
              "what clients leave of a volume that is held to a rate");
    };
  }

  /** What a limit becomes: what it was, if it differs too little. */
  private static long steady(long next, long before, long device) {
    long least = Math.min(LEAST_CHANGE, device / LEAST_CHANGE_PART);
    return Math.abs(next - before) < least ? before : next;
  }

  private boolean isHeld(View view) {
    return learns() && view.device().isHeld();
  }

  private long device(View view) {
    if (deviceBytes != AUTO) {
      return deviceBytes;
    }
    Device seen = view.device();
    if (seen.isHeld()) {
      return seen.heldBytes();
    }
    return seen.isPressed() && !seen.tried() ? seen.bytes() : Long.MAX_VALUE;
  }

  /**
   * What clients leave of the device beyond the minimum, in bytes per second; below 0 if they leave
   * less than that.
   */
  long spare(View view) {
    long device = device(view);
    boolean limited = device < Long.MAX_VALUE && !view.isClientless();
    return limited && view.pressure() != Pressure.ALL
        ? left(device, view) - minimum(device)
        : Long.MAX_VALUE;
  }

  private long left(long device, View view) {
    return Math.max(0, device - view.clientBytes() - reserve(device));
  }

  /** What is given by hand holds as it is; of what is learnt, no more than a part of it. */
  private long reserve(long device) {
    return learns() ? Math.min(reserveBytes, device / RESERVE_PART) : reserveBytes;
  }

  private long minimum(long device) {
    return learns() ? Math.min(minimumBytes, device / MINIMUM_PART) : minimumBytes;
  }

  /**
   * A job that waits for the device has a turn after all others: of eight clients and a merge, a
   * flush gets a tenth of it. In larger pieces it gets more.
   */
  private static int flushPiece(int piece, Pressure pressure) {
    int times =
        switch (pressure) {
          case NONE, READERS -> 1;
          case WRITERS -> PIECES_IF_AWAITED;
          case ALL -> PIECES_IF_BEHIND;
        };
    return (int) Math.min(IoLimits.LARGEST_PIECE, (long) times * piece);
  }

  /**
   * Merges that fall behind have small pieces, too, while clients read: the device is busy then,
   * and gets as much done for them, but flushes and clients wait less.
   */
  private static int piece(View view) {
    return view.clients().readLately() ? view.pieceBytes() : IoLimits.LARGEST_PIECE;
  }
}
