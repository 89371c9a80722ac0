package io.isobardb.lsm.schedule;

/**
 * How much of the device flushes and merges get: a pure function of what clients use. Immutable.
 *
 * <p>They get what the device has less what clients use and a reserve. Flushes and merges of L0,
 * which writers wait for in the end, get a minimum in any case. Nobody is limited while the device
 * is not known, or while no client uses it.
 *
 * <p>Reads and writes of jobs pass in small pieces while clients read: a client's read waits for
 * the pieces before it, and with large ones that would be most of its latency. Small pieces cost
 * jobs time, so they are larger for flushes once writers are about to wait, and large for all once
 * merges fall behind.
 *
 * @param deviceBytes read and written per second at most; {@link #AUTO} to learn it, {@link
 *     Long#MAX_VALUE} for no limit
 * @param reserveBytes of that, per second, which nobody gets
 * @param minimumBytes per second for flushes and merges of L0 together
 */
public record BandwidthRules(long deviceBytes, long reserveBytes, long minimumBytes) {
  /** The device's bandwidth is learnt. */
  public static final long AUTO = 0;

  /** A limit is changed if it differs by so many bytes per second. */
  private static final long LEAST_CHANGE = 10 << 20;

  /** The time after which half of what was seen is forgotten. */
  private static final double HALF_FORGOTTEN_NANOS = 600e9;

  /** A device that does this part of what it can is pressed. */
  private static final double PRESSED = 0.9;

  /** What presses. */
  public enum Pressure {
    /** Nobody waits for background work, and nobody is about to. */
    NONE,
    /** Writers are about to wait for flushes or merges of L0. */
    WRITERS,
    /** Writers are about to wait for deeper merges, or somebody waits for all. */
    ALL
  }

  /**
   * What is seen of a store.
   *
   * @param clientBytes per second that clients read, and that they reserve of the log
   * @param clientsRead whether clients have read from files lately
   * @param learntBytes what the device does in a second, as far as was seen; 0 if nothing was
   * @param recentBytes per second that it did lately
   * @param pieceBytes that the device does quickly
   * @param pressure of writers
   */
  record View(
      long clientBytes,
      boolean clientsRead,
      long learntBytes,
      long recentBytes,
      int pieceBytes,
      Pressure pressure) {}

  /**
   * What is known of a device after it was looked at: the most that was seen. It is forgotten
   * slowly, as the device may become slower; but not while small pieces slow jobs down.
   *
   * @param before what was known, in bytes per second; 0 for nothing
   * @param seen bytes per second that were read and written
   * @param nanos how long
   * @param pieceBytes in which jobs did so
   */
  static long learnt(long before, long seen, long nanos, int pieceBytes) {
    double forgotten = pieceBytes < IoLimits.LARGEST_PIECE ? 0 : nanos / HALF_FORGOTTEN_NANOS;
    return Math.max(seen, (long) (before * Math.pow(0.5, forgotten)));
  }

  /** What jobs get after {@code before}. */
  IoLimits next(IoLimits before, View view) {
    int piece = piece(view);
    int flush = flushPiece(piece, view.pressure());
    long device = device(view);
    if (device == Long.MAX_VALUE) {
      return new IoLimits(
          Long.MAX_VALUE, Long.MAX_VALUE, piece, flush, "the device's bandwidth is not limited");
    }
    if (view.clientBytes() == 0) {
      return new IoLimits(
          Long.MAX_VALUE, Long.MAX_VALUE, piece, flush, "no client uses the device");
    }
    if (view.pressure() == Pressure.ALL) {
      return new IoLimits(
          Long.MAX_VALUE, Long.MAX_VALUE, piece, flush, "merges must not fall behind");
    }
    long left = Math.max(0, device - view.clientBytes() - reserveBytes);
    if (Math.abs(left - before.allBytes()) < LEAST_CHANGE) {
      left = before.allBytes();
    }
    if (view.pressure() == Pressure.WRITERS) {
      return new IoLimits(
          Long.MAX_VALUE, left, piece, flush, "writers are about to wait for flushes");
    }
    return left >= minimumBytes
        ? new IoLimits(left, left, piece, flush, "what clients leave of the device")
        : new IoLimits(minimumBytes, left, piece, flush, "the minimum, as clients leave less");
  }

  private long device(View view) {
    if (deviceBytes != AUTO) {
      return deviceBytes;
    }
    boolean pressed = view.learntBytes() > 0 && view.recentBytes() >= view.learntBytes() * PRESSED;
    return pressed ? view.learntBytes() : Long.MAX_VALUE;
  }

  /**
   * A job that waits for the device has a turn after all others: of eight clients and a merge, a
   * flush gets a tenth of it. In pieces twice as large it gets nearly twice as much.
   */
  private static int flushPiece(int piece, Pressure pressure) {
    return pressure == Pressure.WRITERS ? Math.min(IoLimits.LARGEST_PIECE, 2 * piece) : piece;
  }

  private static int piece(View view) {
    boolean small = view.clientsRead() && view.pressure() != Pressure.ALL;
    return small ? view.pieceBytes() : IoLimits.LARGEST_PIECE;
  }
}
