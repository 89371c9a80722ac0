package io.isobardb.lsm.flush;

/**
 * How much the last flushes took from memory, and where the log ended then.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class FlushHistory {
  private static final int FLUSHES = 64;

  private final long[] ends = new long[FLUSHES];
  private final long[] before = new long[FLUSHES];
  private long total;
  private long count;

  /** Notes that a flush has taken so much, with the log's end at {@code end}. */
  synchronized void add(long end, long bytes) {
    int at = (int) (count++ % FLUSHES);
    ends[at] = end;
    before[at] = total;
    total += bytes;
  }

  /** What flushes have taken since the log's end was at {@code lsn}, or less if they were many. */
  synchronized long since(long lsn) {
    long since = total;
    for (long i = count - 1; i >= Math.max(0, count - FLUSHES); i--) {
      int at = (int) (i % FLUSHES);
      if (ends[at] < lsn) {
        break;
      }
      since = before[at];
    }
    return total - since;
  }
}
