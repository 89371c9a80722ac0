package io.isobardb.lsm.commit;

import io.isobardb.lsm.schedule.PerThread;
import io.isobardb.lsm.wal.LogRecord;
import java.util.function.Supplier;

/**
 * Each thread's own {@link Writer}, to be used again for its next write.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class ThreadWriters {
  private final Supplier<LogRecord> records;
  private final PerThread<Writer> writers;

  /**
   * @param records makes a writer's record when it first needs it
   */
  ThreadWriters(Supplier<LogRecord> records) {
    this.records = records;
    this.writers = new PerThread<>(() -> new Writer(records));
  }

  /**
   * The calling thread's writer; another one if that is in use: a listener that is called while a
   * write waits may write, too. To be given back by {@link Writer#done}.
   */
  Writer take() {
    Writer writer = writers.get();
    if (writer.take()) {
      return writer;
    }
    Writer another = new Writer(records);
    another.take();
    return another;
  }
}
