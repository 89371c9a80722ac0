package io.isobardb.bench.latency;

import java.util.List;
import java.util.Map;

/**
 * What came of a run.
 *
 * @param engine its name
 * @param rate requests per second of a steady load; 0 if the trace says how many there are
 * @param latencies of all clients
 * @param seconds from the begin until the last request was done
 * @param quietSeconds until flushes and merges were done, too
 * @param samples one a second, and one at each end; none of engines that don't tell
 * @param jobs flushes and merges; none of engines that don't tell
 * @param facts what else there is to know, by name
 */
record Outcome(
    String engine,
    double rate,
    Latencies latencies,
    double seconds,
    double quietSeconds,
    List<Sample> samples,
    List<JobSpan> jobs,
    Map<String, String> facts) {
  /** The same of a steady load. */
  Outcome at(double found) {
    return new Outcome(engine, found, latencies, seconds, quietSeconds, samples, jobs, facts);
  }

  /** Requests in a second, until all that they left behind was done. */
  double sustainedRate() {
    return latencies.requests() / quietSeconds;
  }

  /** Requests in a second, until the last one was done. */
  double servedRate() {
    return latencies.requests() / seconds;
  }
}
