package io.isobardb.lsm.schedule;

/**
 * What flushes and merges may read and write. Immutable.
 *
 * @param urgentBytes per second of flushes and merges of L0; {@link Long#MAX_VALUE} for no limit
 * @param allBytes per second of all background work: deeper merges get what the urgent jobs leave
 *     of it; {@link Long#MAX_VALUE} for no limit
 * @param eachWay whether jobs may write so much, and read as much; otherwise it is for both
 * @param pieceBytes reads and writes of merges pass in pieces of this size at most
 * @param flushPieceBytes writes of flushes pass in pieces of this size at most
 * @param reason for messages
 */
public record IoLimits(
    long urgentBytes,
    long allBytes,
    boolean eachWay,
    int pieceBytes,
    int flushPieceBytes,
    String reason) {
  /** Reads and writes of jobs are no larger than this. */
  static final int LARGEST_PIECE = 256 << 10;

  private static final long STEPS_PER_SECOND = 50;

  private static final int LEAST_STEP = 64 << 10;

  /** As if nobody else used the device. */
  public static final IoLimits NONE =
      new IoLimits(
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          false,
          LARGEST_PIECE,
          LARGEST_PIECE,
          "the device is not limited");

  /** The pieces in which a job's reads and writes pass. */
  int pieceBytes(Job.Priority priority) {
    return priority == Job.Priority.FLUSH ? flushPieceBytes : pieceBytes;
  }

  /**
   * What a step carries: less than otherwise if that takes long at this limit. A volume that is
   * held to a rate may have no budget for more at once.
   *
   * @param most what it carries if nobody is limited
   */
  int stepBytes(int most) {
    return (int) Math.min(most, Math.max(LEAST_STEP, allBytes / STEPS_PER_SECOND));
  }

  /** Whether jobs may read and write as much as with other limits. */
  boolean isAsMuch(IoLimits other) {
    return urgentBytes == other.urgentBytes
        && allBytes == other.allBytes
        && eachWay == other.eachWay;
  }

  /** Whether all is the same, without what a record's own comparison takes the first time. */
  boolean isSame(IoLimits other) {
    return isAsMuch(other)
        && pieceBytes == other.pieceBytes
        && flushPieceBytes == other.flushPieceBytes
        && reason.equals(other.reason);
  }

  /** Whether any job may have to wait. */
  boolean limits() {
    return urgentBytes < Long.MAX_VALUE || allBytes < Long.MAX_VALUE;
  }
}
