package io.isobardb.lsm.commit;

import io.isobardb.lsm.wal.LogRecord;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Each thread's own {@link LogRecord}, to be used again for its next write.
 *
 * <p>A thread that lives on keeps nothing of a store that was closed, and a store nothing of
 * threads that have ended: a record leads to its log, and from there to all of the store and to
 * this, so that a thread's own reference to it must be a weak one.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class ThreadRecords {
  private final Supplier<LogRecord> supplier;
  private final ThreadLocal<@Nullable WeakReference<LogRecord>> own = new ThreadLocal<>();

  /** What keeps the records. Guarded by itself. */
  private final Map<Thread, LogRecord> kept = new WeakHashMap<>();

  /**
   * @param supplier makes a thread's record when it first asks for it
   */
  ThreadRecords(Supplier<LogRecord> supplier) {
    this.supplier = supplier;
  }

  /** The calling thread's record. */
  LogRecord get() {
    WeakReference<LogRecord> reference = own.get();
    LogRecord record = reference == null ? null : reference.get();
    return record != null ? record : make();
  }

  private LogRecord make() {
    LogRecord record = supplier.get();
    synchronized (kept) {
      kept.put(Thread.currentThread(), record);
    }
    own.set(new WeakReference<>(record));
    return record;
  }
}
