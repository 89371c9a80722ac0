package io.isobardb.bench.experiment;

import io.isobardb.bench.latency.FullSpeed;
import io.isobardb.bench.latency.FullSpeed.Operations;
import io.isobardb.bench.latency.FullSpeed.Place;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the experiments of the thesis "Cuttletree" share. */
final class Thesis {
  static final String SOURCE =
      "CuttleTree: Adaptive Tuning for Optimized Log-Structured Merge Trees, ";

  static final String KIND = "operations";
  static final String WRITES = "writes";
  static final String LOOKUPS = "lookups";
  static final String SCANS = "scans";

  private static final double SMALL_SECONDS = 1;
  private static final double MOST_SECONDS = 10;

  private Thesis() {}

  /** Operations of one kind, on keys that are there unless they are writes. */
  static Operations operations(String kind, long keys) {
    return switch (kind) {
      case WRITES -> new Operations(100, 0, keys, false, 0);
      case SCANS -> new Operations(0, 100, keys, true, 0);
      default -> new Operations(0, 0, keys, true, 0);
    };
  }

  /** What they come to at full speed, with the memory tuner off. */
  static Map<String, Double> run(
      Operations operations, Place place, Map<String, String> options, Bench bench) {
    Map<String, String> all = new LinkedHashMap<>(options);
    all.put("memoryTuner", "off");
    double seconds = Math.min(MOST_SECONDS, bench.scale().seconds(SMALL_SECONDS));
    return new FullSpeed(operations, place, bench.options(all), seconds)
        .run(bench.seed(), bench::progress);
  }
}
