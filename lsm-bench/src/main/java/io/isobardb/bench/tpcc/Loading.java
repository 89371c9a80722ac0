package io.isobardb.bench.tpcc;

import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.UsageException;
import io.isobardb.tpcc.drive.DriverClock;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.TpccStore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Loads what is to be there, unless it is. */
final class Loading {
  private static final int PROGRESS_ROWS = 50_000;

  private Loading() {}

  /**
   * What the store holds after it was loaded now; null if it was loaded before. Refuses a store
   * that holds something else. {@code progress} is told now and then, by any thread.
   */
  static @Nullable LoadMark load(TpccStore store, Scale scale, long seed, Watcher progress)
      throws InterruptedException {
    LoadMark before = Loader.loaded(store);
    if (before != null) {
      if (!before.scale().equals(scale)) {
        throw new UsageException(
            "the directory holds " + before.scale() + ", not " + scale + ": give another --dir");
      }
      return null;
    }
    long expected = Loader.expectedRows(scale);
    AtomicLong shown = new AtomicLong();
    LoadMark mark =
        new Loader(
                store,
                scale,
                seed,
                DriverClock.SYSTEM.millis(),
                rows -> {
                  long last = shown.get();
                  if (rows - last >= PROGRESS_ROWS && shown.compareAndSet(last, rows)) {
                    progress.at(
                        String.format("loading: %,d of about %,d rows", rows, expected),
                        Math.min(rows, expected),
                        expected);
                  }
                })
            .load(Runtime.getRuntime().availableProcessors());
    store.settle();
    return mark;
  }
}
