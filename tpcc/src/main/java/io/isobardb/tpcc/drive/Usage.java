package io.isobardb.tpcc.drive;

/**
 * What the system counts for this process, -1 where it does not say.
 *
 * @param deviceBytesWritten bytes written to devices
 * @param cpuNanos processor time of all threads
 */
public record Usage(long deviceBytesWritten, long cpuNanos) {
  /** Nothing is known. */
  public static final Usage UNKNOWN = new Usage(-1, -1);

  /** What came since {@code before}. */
  Usage since(Usage before) {
    return new Usage(
        difference(deviceBytesWritten, before.deviceBytesWritten),
        difference(cpuNanos, before.cpuNanos));
  }

  private static long difference(long now, long before) {
    return now < 0 || before < 0 ? -1 : now - before;
  }
}
