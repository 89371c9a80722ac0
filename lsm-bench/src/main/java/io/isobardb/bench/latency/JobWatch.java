package io.isobardb.bench.latency;

import io.isobardb.lsm.observe.StoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Keeps what a store tells of its flushes and disk merges.
 *
 * <p>Thread rule: any thread.
 */
final class JobWatch implements StoreListener {
  private static final String FLUSH = "flush";
  private static final String WITHIN_L0 = "merge within L0";
  private static final String L0 = "merge of L0";
  private static final String DEEP = "deep merge";

  /** All that spans are called, the most urgent first. */
  static final List<String> NAMES = List.of(FLUSH, L0, WITHIN_L0, DEEP);

  private final LongSupplier nanos;
  private final List<JobSpan> spans = new ArrayList<>();

  /** {@code nanos} are those since the run began; below 0 before. */
  JobWatch(LongSupplier nanos) {
    this.nanos = nanos;
  }

  @Override
  public void onFlushed(Flush event) {
    add(FLUSH, event.nanos(), event.bytesWritten());
  }

  @Override
  public void onMerged(Merge event) {
    String name =
        switch (event.kind()) {
          case WITHIN_L0 -> WITHIN_L0;
          case L0 -> L0;
          case WITHIN_TIERS, LEVEL -> DEEP;
          case MEMORY, MOVE, ADD_LEVEL, DROP_LEVEL, DROP_TABLES -> "";
        };
    if (!name.isEmpty()) {
      add(name, event.nanos(), event.bytesWritten());
    }
  }

  private synchronized void add(String name, long took, long bytes) {
    long end = nanos.getAsLong();
    if (end >= 0) {
      spans.add(new JobSpan(name, (end - took) / 1e9, end / 1e9, bytes));
    }
  }

  synchronized List<JobSpan> spans() {
    return List.copyOf(spans);
  }
}
