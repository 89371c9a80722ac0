package io.isobardb.bench.latency;

import io.isobardb.bench.record.RecordedRun;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a replay came to, beside what the recorded run did. */
final class ReplayFacts {
  static final String RECORDED = "recorded";
  static final String REPLAYED = "replayed";

  private ReplayFacts() {}

  /**
   * The two by their names; empty if nothing was replayed.
   *
   * @param first when requests began
   * @param end when the last one was done
   */
  static Map<String, String> of(LatencySpec spec, Sample first, Sample end, long requests) {
    Map<String, String> facts = new LinkedHashMap<>();
    if (spec.replay() == null) {
      return facts;
    }
    RecordedRun.Totals totals = spec.replay().run().totals();
    if (totals != null) {
      facts.put(
          RECORDED,
          RecordedRun.costText(totals.bytesPerOperation(), totals.hitRate(), totals.debtBytes()));
    }
    facts.put(
        REPLAYED,
        RecordedRun.costText(
            bytes(first, end) / (double) requests, hitRate(first, end), end.debtBytes()));
    return facts;
  }

  /** Bytes that flushes and merges wrote between two moments. */
  static long bytes(Sample first, Sample end) {
    return end.flushBytes()
        - first.flushBytes()
        + end.mergeWrittenBytes()
        - first.mergeWrittenBytes();
  }

  /** The part of the pages of files that queries found in the cache; NaN if they asked for none. */
  static double hitRate(Sample first, Sample end) {
    double found = end.pagesFound() - first.pagesFound();
    double missed = end.pagesMissed() - first.pagesMissed();
    return found / (found + missed);
  }
}
