package io.isobardb.bench.latency;

/**
 * Serves requests one after the other. All servers of a run take theirs from one queue, so that a
 * request waits only while all of them are busy.
 *
 * <p>Thread rule: one thread.
 */
interface Server {
  /** Puts the records {@code from, from + step, ...} below {@code to} that are there at first. */
  void load(long from, long to, int step);

  /** Serves requests until there are none any more. */
  void serve(Arrivals arrivals);

  /** How long those took that it has served. */
  Latencies latencies();
}
