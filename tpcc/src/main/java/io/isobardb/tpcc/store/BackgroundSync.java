package io.isobardb.tpcc.store;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Syncs an engine's log in the background, for engines that do not do it themselves. A sync begins
 * {@link StoreSpec#LOG_SYNC_MILLIS} after the one before it has ended. The first failed sync ends
 * the syncing, and {@link #close} throws it.
 */
public final class BackgroundSync implements AutoCloseable {
  private final ScheduledExecutorService executor;
  private volatile @Nullable Throwable failure;

  /** Calls {@code sync} on a thread named after {@code engine}, until this is closed. */
  public BackgroundSync(String engine, Runnable sync) {
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
    int period = StoreSpec.LOG_SYNC_MILLIS;
    executor.scheduleWithFixedDelay(guarded, period, period, TimeUnit.MILLISECONDS);
  }

  /** Waits for a sync under way; throws {@link IllegalStateException} if one has failed. */
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
