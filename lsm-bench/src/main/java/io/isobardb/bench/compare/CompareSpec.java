package io.isobardb.bench.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one child does.
 *
 * @param engine the engine
 * @param phases in the order to run them
 * @param options how to open the engine
 * @param records how many are loaded
 * @param operations per phase; see {@link Phase#operations}
 * @param keyBytes length of every key
 * @param valueBytes length of every value
 * @param threads that do operations
 * @param durationSeconds after which a phase other than the load ends early
 * @param seed of all choices
 * @param warmUpRecords loaded into a store that is thrown away, before anything is measured; 0 for
 *     none
 */
record CompareSpec(
    EngineKind engine,
    List<Phase> phases,
    EngineOptions options,
    long records,
    long operations,
    int keyBytes,
    int valueBytes,
    int threads,
    double durationSeconds,
    long seed,
    long warmUpRecords) {

  private static final double START_SECONDS = 3;
  private static final double PUTS_PER_SECOND = 120_000;
  private static final double SYNCED_PUTS_PER_SECOND = 500;
  private static final double GETS_PER_SECOND = 300_000;
  private static final double SCANS_PER_SECOND = 30_000;

  CompareSpec {
    phases = List.copyOf(phases);
    engine.check(options.syncWrites());
    if (records < 1 || operations < 1 || threads < 1 || threads > 1024) {
      throw new IllegalArgumentException(
          "records and operations are to be positive, threads in 1..1024: "
              + records
              + ", "
              + operations
              + ", "
              + threads);
    }
    if (!phases.isEmpty() && phases.get(0) != Phase.LOAD) {
      throw new IllegalArgumentException("the first phase is to be load");
    }
  }

  /** The part that is not measured: a load and as many updates, in a directory beside the data. */
  CompareSpec warmUp() {
    return new CompareSpec(
        engine,
        List.of(Phase.LOAD, Phase.UPDATE),
        new EngineOptions(
            options.dir().resolveSibling(options.dir().getFileName() + "-warm-up"),
            options.memoryBytes(),
            options.directIo(),
            options.syncWrites(),
            options.trees()),
        warmUpRecords,
        warmUpRecords,
        keyBytes,
        valueBytes,
        threads,
        durationSeconds,
        seed,
        0);
  }

  /**
   * About how long it takes, in seconds. The rates are those of a small machine, and a mean over
   * all engines: off by a factor of two and more on others.
   */
  double estimatedSeconds() {
    double puts = options.syncWrites() ? SYNCED_PUTS_PER_SECOND * threads : PUTS_PER_SECOND;
    double seconds = START_SECONDS + 2 * warmUpRecords / puts;
    for (Phase phase : phases) {
      double rate =
          switch (phase) {
            case LOAD, UPDATE, MIXED -> puts;
            case SCAN -> SCANS_PER_SECOND;
            default -> GETS_PER_SECOND;
          };
      double all = phase.operations(records, operations) / rate;
      double warm = phase.writes() ? all / 4 : Math.max(all / 4, Math.min(5, durationSeconds));
      seconds += phase == Phase.LOAD ? all : Math.min(durationSeconds, all) + Math.min(60, warm);
    }
    return seconds;
  }

  String toJson() throws IOException {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("engine", engine.label());
    map.put("phases", phases.stream().map(Phase::name).toList());
    map.put("dir", options.dir().toString());
    map.put("memoryBytes", options.memoryBytes());
    map.put("directIo", options.directIo());
    map.put("syncWrites", options.syncWrites());
    map.put("trees", options.trees());
    map.put("records", records);
    map.put("operations", operations);
    map.put("keyBytes", keyBytes);
    map.put("valueBytes", valueBytes);
    map.put("threads", threads);
    map.put("durationSeconds", durationSeconds);
    map.put("seed", seed);
    map.put("warmUpRecords", warmUpRecords);
    return JSON.std.asString(map);
  }

  static CompareSpec fromJson(String json) throws IOException {
    Map<String, Object> map = JSON.std.mapFrom(json);
    List<Phase> phases = new ArrayList<>();
    for (Object name : (List<?>) map.get("phases")) {
      phases.add(Phase.valueOf((String) name));
    }
    return new CompareSpec(
        EngineKind.of((String) map.get("engine")),
        phases,
        new EngineOptions(
            Path.of((String) map.get("dir")),
            number(map, "memoryBytes").longValue(),
            (Boolean) map.get("directIo"),
            (Boolean) map.get("syncWrites"),
            number(map, "trees").intValue()),
        number(map, "records").longValue(),
        number(map, "operations").longValue(),
        number(map, "keyBytes").intValue(),
        number(map, "valueBytes").intValue(),
        number(map, "threads").intValue(),
        number(map, "durationSeconds").doubleValue(),
        number(map, "seed").longValue(),
        number(map, "warmUpRecords").longValue());
  }

  private static Number number(Map<String, Object> map, String name) {
    return (Number) map.get(name);
  }
}
