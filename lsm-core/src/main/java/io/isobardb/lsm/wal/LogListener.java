package io.isobardb.lsm.wal;

import io.isobardb.lsm.event.StallCounter;
import io.isobardb.lsm.event.SyncSpan;
import io.isobardb.lsm.observe.StoreListener;
import java.io.IOException;

/** Is told of syncs and failures, and of waits for room in the log's buffer. Any thread. */
public interface LogListener extends StallCounter {
  /**
   * A sync is about to begin. Makes durable what fences in the log are about; no sync follows if it
   * throws.
   *
   * @throws IOException if a write or a sync failed, which is final
   */
  void beforeSync() throws IOException;

  /** A sync that began with {@code span} has ended. */
  void onSynced(SyncSpan span, StoreListener.Sync sync);

  /** A write or a sync failed; told once. */
  void onFailed(Throwable cause);
}
