package io.isobardb.lsm.commit;

import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.wal.Log;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The log of an open store; while it is replayed, the position that replay has reached stands in
 * for it, so that flushes can go on meanwhile.
 *
 * <p>Thread rule: all methods may be called by any thread; {@link #replaying}, {@link #onReplayed}
 * and {@link #onOpened} by the opening one.
 */
public final class LogHandle {
  private final Lock applying = new ReentrantLock();
  private volatile @Nullable Log log;
  private volatile long end = Lsn.FIRST;
  private volatile long at = Lsn.ZERO;

  /** Replay begins with the record at {@code lsn}, and has applied all before it. */
  public void replaying(long lsn) {
    // Between two records lies no position that a log could begin at.
    at = lsn;
    end = lsn;
  }

  /** Replay has applied everything below {@code lsn}. */
  public void onReplayed(long lsn) {
    end = lsn;
  }

  /** Replay is over. */
  public void onOpened(Log opened) {
    log = opened;
  }

  /**
   * The log.
   *
   * @throws IllegalStateException while it is replayed
   */
  public Log get() {
    Log opened = log;
    if (opened == null) {
      throw new IllegalStateException("the log is not open yet");
    }
    return opened;
  }

  /** Whether replay is over. */
  public boolean isOpen() {
    return log != null;
  }

  /** The LSN to read at now; see {@link Log#visible}. */
  public long visible() {
    Log opened = log;
    return opened != null ? opened.visible() : end - 1;
  }

  /**
   * The end of what is synced; while the log is replayed, the record that is being replayed: what
   * comes before it was synced first, so what a replay has flushed need not be flushed again after
   * a crash.
   */
  public long durable() {
    Log opened = log;
    return opened != null ? opened.durable() : at;
  }

  /**
   * What replay holds while it applies an operation, and so does a thread that seals an active
   * SSTable while the log is replayed. The boundary that it sets is the record being replayed, as
   * if none of it were on its way into that SSTable, which may be flushed and freed at once.
   */
  public Lock applying() {
    return applying;
  }

  /** The end of what is reserved. */
  public long end() {
    Log opened = log;
    return opened != null ? opened.end() : end;
  }

  /** Bytes of log kept; 0 while it is replayed. */
  public long sizeBytes() {
    Log opened = log;
    return opened != null ? opened.sizeBytes() : 0;
  }
}
