package io.isobardb.bench.latency;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;
import org.jspecify.annotations.Nullable;

/**
 * How long requests took from when they were due: together, and by the second in which they were
 * due. Nanoseconds.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Latencies {
  private static final long LONGEST_NANOS = 3_600_000_000_000L;
  private static final int DIGITS = 3;

  /** Digits for single seconds: within 1 %, since there are many of them. */
  private static final int DIGITS_OF_SECONDS = 2;

  private static final long SECOND_NANOS = 1_000_000_000;

  private final Map<Kind, Histogram> all = new EnumMap<>(Kind.class);
  private final Map<Kind, List<@Nullable IntCountsHistogram>> seconds = new EnumMap<>(Kind.class);
  private final List<Long> done = new ArrayList<>();

  Latencies() {
    for (Kind kind : Kind.values()) {
      all.put(kind, new Histogram(LONGEST_NANOS, DIGITS));
      seconds.put(kind, new ArrayList<>());
    }
  }

  /** A request is done. */
  void record(Kind kind, long dueNanos, long endNanos) {
    long nanos = Math.max(0, Math.min(LONGEST_NANOS, endNanos - dueNanos));
    all.get(kind).recordValue(nanos);
    second(kind, (int) (dueNanos / SECOND_NANOS)).recordValue(nanos);
    countDone((int) (endNanos / SECOND_NANOS), 1);
  }

  private void countDone(int second, long requests) {
    while (done.size() <= second) {
      done.add(0L);
    }
    done.set(second, done.get(second) + requests);
  }

  private IntCountsHistogram second(Kind kind, int second) {
    List<@Nullable IntCountsHistogram> list = seconds.get(kind);
    while (list.size() <= second) {
      list.add(null);
    }
    IntCountsHistogram histogram = list.get(second);
    if (histogram == null) {
      histogram = new IntCountsHistogram(DIGITS_OF_SECONDS);
      histogram.setAutoResize(true);
      list.set(second, histogram);
    }
    return histogram;
  }

  /** Takes over what another one recorded. */
  void add(Latencies other) {
    for (Kind kind : Kind.values()) {
      all.get(kind).add(other.all.get(kind));
      List<@Nullable IntCountsHistogram> list = other.seconds.get(kind);
      for (int i = 0; i < list.size(); i++) {
        IntCountsHistogram histogram = list.get(i);
        if (histogram != null) {
          second(kind, i).add(histogram);
        }
      }
    }
    for (int i = 0; i < other.done.size(); i++) {
      countDone(i, other.done.get(i));
    }
  }

  /** All of a kind. */
  Histogram of(Kind kind) {
    return all.get(kind);
  }

  /** All requests. */
  long requests() {
    return all.values().stream().mapToLong(Histogram::getTotalCount).sum();
  }

  /** Requests that ended in each second. */
  List<Long> doneBySecond() {
    return List.copyOf(done);
  }

  /** The 99th percentile of those due in each second; NaN of one without any. */
  double[] p99BySecond(Kind kind) {
    List<@Nullable IntCountsHistogram> list = seconds.get(kind);
    double[] p99 = new double[list.size()];
    for (int i = 0; i < p99.length; i++) {
      IntCountsHistogram histogram = list.get(i);
      p99[i] = histogram == null ? Double.NaN : histogram.getValueAtPercentile(99);
    }
    return p99;
  }

  /** The second with the largest 99th percentile of kinds; -1 if there was no request. */
  int worstSecond(Predicate<Kind> kinds) {
    int worst = -1;
    double most = -1;
    for (Kind kind : Kind.values()) {
      double[] p99 = p99BySecond(kind);
      for (int i = 0; i < p99.length && kinds.test(kind); i++) {
        if (p99[i] > most) {
          most = p99[i];
          worst = i;
        }
      }
    }
    return worst;
  }
}
