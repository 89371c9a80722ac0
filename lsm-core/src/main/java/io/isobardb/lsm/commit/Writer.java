package io.isobardb.lsm.commit;

import io.isobardb.lsm.component.Write;
import io.isobardb.lsm.wal.LogRecord;
import io.isobardb.memory.pool.PerThread;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a thread writes with: the write in hand, and the log record that it becomes. Both are used
 * again, so that a write allocates nothing.
 *
 * <p>Thread rule: its own thread.
 */
public final class Writer implements PerThread.Reusable {
  private final Write write = new Write();
  private final Supplier<LogRecord> records;
  private @Nullable LogRecord record;
  private boolean taken;
  private long number;

  Writer(Supplier<LogRecord> records) {
    this.records = records;
  }

  @Override
  public boolean tryTake() {
    boolean free = !taken;
    taken = true;
    number++;
    return free;
  }

  /** Ends the write. */
  public void give() {
    write.clear();
    taken = false;
  }

  /** The number of the write in hand among those of this writer. */
  public long number() {
    return number;
  }

  /** The write in hand. */
  public Write write() {
    return write;
  }

  LogRecord record() {
    LogRecord made = record;
    if (made == null) {
      made = records.get();
      record = made;
    }
    return made;
  }
}
