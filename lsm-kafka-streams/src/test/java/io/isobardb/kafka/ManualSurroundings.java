package io.isobardb.kafka;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What stores want done later is done when the test says so, by the test's thread. So no sweep and
 * no time to close comes between two of its calls, however long its process stood still.
 */
final class ManualSurroundings implements SharedStore.Surroundings {
  private final SharedStore.Surroundings opening;

  /** In the order in which they came. Guarded by itself. */
  private final List<Due> dues = new ArrayList<>();

  private long nowNanos;

  private record Due(long nanos, Runnable task) {}

  /** Opens stores as they are. */
  ManualSurroundings() {
    this(Store::open);
  }

  /** Opens stores as others do. */
  ManualSurroundings(SharedStore.Surroundings opening) {
    this.opening = opening;
  }

  @Override
  public Store open(Path directory, StoreOptions options) {
    return opening.open(directory, options);
  }

  @Override
  public void later(Runnable task, Duration delay) {
    synchronized (dues) {
      dues.add(new Due(nowNanos + delay.toNanos(), task));
    }
  }

  /** Lets time pass, and does what is due by then, in the order of its times. */
  void pass(Duration time) {
    long until;
    synchronized (dues) {
      until = nowNanos + time.toNanos();
    }
    for (Due next = nextUntil(until); next != null; next = nextUntil(until)) {
      next.task().run();
    }
    synchronized (dues) {
      nowNanos = until;
    }
  }

  private @Nullable Due nextUntil(long until) {
    synchronized (dues) {
      Due next =
          dues.stream()
              .filter(due -> due.nanos() <= until)
              .min(Comparator.comparingLong(Due::nanos))
              .orElse(null);
      if (next != null) {
        dues.remove(next);
        nowNanos = Math.max(nowNanos, next.nanos());
      }
      return next;
    }
  }
}
