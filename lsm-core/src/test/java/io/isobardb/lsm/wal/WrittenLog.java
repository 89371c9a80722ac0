package io.isobardb.lsm.wal;

import io.isobardb.lsm.simulation.SimulatedStorage;
import io.isobardb.lsm.wal.LogWorld.Entry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A log that was written and synced, to be damaged.
 *
 * @param disk its files, without what closing adds, so that the last records are without a promise
 * @param entries records and markers in their order
 * @param promises what each of them promises to be synced
 * @param end where the next record would be
 */
record WrittenLog(SimulatedStorage disk, List<Entry> entries, List<Long> promises, long end) {
  /**
   * Writes a log with a marker now and then, and syncs now and then.
   *
   * @param payload of the record with a number
   */
  static WrittenLog write(long seed, int records, IntFunction<byte[]> payload) throws IOException {
    List<Entry> entries = new ArrayList<>();
    List<Long> promises = new ArrayList<>();
    LogWorld world = new LogWorld(LogWorld.SMALL, seed);
    Log log = world.open();
    LogRecord record = log.newRecord();
    for (int i = 0; i < records; i++) {
      boolean marker = i % 9 == 4;
      // A marker promises nothing.
      promises.add(marker ? 0 : log.durable());
      entries.add(marker ? LogWorld.marker(log) : LogWorld.append(record, payload.apply(i)));
      if (i % 7 == 3) {
        log.flush();
      }
    }
    log.flush();
    WrittenLog written = new WrittenLog(world.storage.copy(), entries, promises, log.end());
    log.close();
    world.close();
    return written;
  }

  /** Where the record with this number ends. */
  long endOf(int record) {
    return record + 1 < entries.size() ? entries.get(record + 1).lsn() : end;
  }
}
