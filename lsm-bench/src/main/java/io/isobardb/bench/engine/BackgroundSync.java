package io.isobardb.bench.engine;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Syncs an engine's log every {@link EngineOptions#LOG_SYNC_MILLIS}, for peers that do not do it
 * themselves. A failed sync ends the syncing and is thrown at {@link #close}.
 */
final class BackgroundSync implements AutoCloseable {
  private final ScheduledExecutorService executor;
  private volatile @Nullable Throwable failure;

  BackgroundSync(String engine, Runnable sync) {
    executor =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, engine + "-sync");
              thread.setDaemon(true);
              return thread;
            });
    Runnable guarded =
        () -> {
          try {
            sync.run();
          } catch (RuntimeException | Error e) {
            failure = e;
            throw e;
          }
        };
    int period = EngineOptions.LOG_SYNC_MILLIS;
    executor.scheduleWithFixedDelay(guarded, period, period, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    executor.shutdown();
    boolean interrupted = false;
    while (true) {
      try {
        executor.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException("background sync failed", failure);
    }
  }
}
