package io.isobardb.bench.latency;

/**
 * A part of a trace.
 *
 * @param seconds how long it is; of no meaning if {@code most} ends it
 * @param rate requests per second, evenly spaced; 0 for none, infinite for as fast as the engine
 *     can
 * @param most requests after which it ends; 0 if its length ends it
 */
record Span(double seconds, double rate, long most) {
  Span {
    if (!(seconds >= 0) || !(rate >= 0) || most < 0) {
      throw new IllegalArgumentException(seconds + " s of " + rate + "/s, at most " + most);
    }
  }

  static Span of(double seconds, double rate) {
    return new Span(seconds, rate, 0);
  }

  /** Requests follow each other as fast as the engine takes them. */
  static Span full(double seconds) {
    return new Span(seconds, Double.POSITIVE_INFINITY, 0);
  }

  /** As fast, so many of them. */
  static Span count(long requests) {
    return new Span(Double.MAX_VALUE, Double.POSITIVE_INFINITY, requests);
  }

  boolean isFull() {
    return Double.isInfinite(rate);
  }
}
