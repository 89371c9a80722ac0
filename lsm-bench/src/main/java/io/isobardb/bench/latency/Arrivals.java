package io.isobardb.bench.latency;

import io.isobardb.bench.record.Replay;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a trace in the order of their arrival; each is handed out once.
 *
 * <p>Thread rule: any thread.
 */
final class Arrivals {
  /** A request: its number from 0, and when it is due, in nanoseconds from the begin. */
  static final class Arrival {
    long number;
    long dueNanos;
  }

  private final List<Span> spans;
  private final @Nullable Replay replay;
  private final long endNanos;
  private final AtomicLong handedOut = new AtomicLong();

  private int at;
  private double startNanos;
  private long inSpan;

  /** Those of the first {@code endNanos} of a trace. */
  Arrivals(Trace trace, long endNanos) {
    this.spans = trace.spans();
    this.replay = null;
    this.endNanos = endNanos;
  }

  /** Those of the first {@code endNanos} of a recording, when they came there. */
  Arrivals(Replay replay, long endNanos) {
    this.spans = List.of();
    this.replay = replay;
    this.endNanos = endNanos;
  }

  /**
   * The next request. A client that is free earlier waits until it is due.
   *
   * @param nowNanos the time: when a request is due that follows the one before at once
   * @return false if there is none any more
   */
  synchronized boolean next(long nowNanos, Arrival into) {
    return replay == null ? nextOfSpans(nowNanos, into) : next(replay, into);
  }

  private boolean next(Replay recorded, Arrival into) {
    int number = (int) handedOut.get();
    if (number == recorded.count() || recorded.nanos(number) >= endNanos) {
      return false;
    }
    into.number = handedOut.getAndIncrement();
    into.dueNanos = recorded.nanos(number);
    return true;
  }

  private boolean nextOfSpans(long nowNanos, Arrival into) {
    while (startNanos < endNanos) {
      Span span = spans.get(at);
      double end = startNanos + span.seconds() * 1e9;
      double due = end;
      if (span.isFull()) {
        due = Math.max(startNanos, nowNanos);
        if (span.most() > 0) {
          end = inSpan < span.most() ? Double.MAX_VALUE : due;
        }
      } else if (span.rate() > 0) {
        due = startNanos + inSpan * 1e9 / span.rate();
      }
      if (due < end) {
        if (due >= endNanos) {
          return false;
        }
        inSpan++;
        into.number = handedOut.getAndIncrement();
        into.dueNanos = (long) due;
        return true;
      }
      at = (at + 1) % spans.size();
      startNanos = end;
      inSpan = 0;
    }
    return false;
  }

  /** How many were handed out so far. */
  long handedOut() {
    return handedOut.get();
  }
}
