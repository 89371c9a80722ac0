package io.isobardb.lsm.commit;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Has the log's length looked at, each time it has grown by some bytes. Active SSTables may take
 * writes for ever without becoming full: of keys written again and again they keep little, while
 * the log keeps it all.
 *
 * <p>Thread rule: {@link #onWritten} may be called by any thread; it costs a read if nothing is
 * due.
 */
public final class LogWatch {
  private final long stepBytes;
  private final Runnable look;
  private final AtomicLong nextLsn = new AtomicLong();

  /**
   * @param stepBytes how much log may be written between two looks
   * @param look must return at once
   */
  public LogWatch(long stepBytes, Runnable look) {
    this.stepBytes = stepBytes;
    this.look = look;
  }

  /** A record was written at this LSN. */
  void onWritten(long lsn) {
    long next = nextLsn.get();
    if (lsn >= next && nextLsn.compareAndSet(next, lsn + stepBytes)) {
      look.run();
    }
  }
}
