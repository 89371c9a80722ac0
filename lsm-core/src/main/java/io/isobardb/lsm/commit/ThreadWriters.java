package io.isobardb.lsm.commit;

import io.isobardb.lsm.wal.LogRecord;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Each thread's own {@link Writer}, to be used again for its next write.
 *
 * <p>A thread that lives on keeps nothing of a store that was closed, and a store nothing of
 * threads that have ended: a writer leads to the log, and from there to all of the store and to
 * this, so that a thread's own reference to it must be a weak one.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class ThreadWriters {
  private final Supplier<LogRecord> records;
  private final ThreadLocal<@Nullable WeakReference<Writer>> own = new ThreadLocal<>();

  /** What keeps the writers. Guarded by itself. */
  private final Map<Thread, Writer> kept = new WeakHashMap<>();

  /**
   * @param records makes a writer's record when it first needs it
   */
  ThreadWriters(Supplier<LogRecord> records) {
    this.records = records;
  }

  /**
   * The calling thread's writer; another one if that is in use: a listener that is called while a
   * write waits may write, too. To be given back by {@link Writer#done}.
   */
  Writer take() {
    WeakReference<Writer> reference = own.get();
    Writer writer = reference == null ? null : reference.get();
    if (writer == null) {
      writer = make();
    }
    if (writer.take()) {
      return writer;
    }
    Writer another = new Writer(records);
    another.take();
    return another;
  }

  private Writer make() {
    Writer writer = new Writer(records);
    synchronized (kept) {
      kept.put(Thread.currentThread(), writer);
    }
    own.set(new WeakReference<>(writer));
    return writer;
  }
}
