package io.isobardb.bench.compare;

import io.isobardb.bench.drive.Driver;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.cli.console.UsageException;
import java.util.List;

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
 * @param inPlace whether reads of single records look at values where they lie
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
    long warmUpRecords,
    boolean inPlace) {

  private static final double START_SECONDS = 3;
  private static final double PUTS_PER_SECOND = 120_000;
  private static final double SYNCED_PUTS_PER_SECOND = 500;
  private static final double GETS_PER_SECOND = 300_000;
  private static final double SCANS_PER_SECOND = 30_000;

  CompareSpec {
    phases = List.copyOf(phases);
    engine.check(options.syncWrites());
    if (records < 1 || operations < 1 || threads < 1 || threads > 1024) {
      throw new UsageException(
          "records and operations are to be positive, threads in 1..1024: "
              + records
              + ", "
              + operations
              + ", "
              + threads);
    }
    if (phases.contains(Phase.GET_VIRTUAL) && !Driver.hasVirtualThreads()) {
      throw new UsageException(
          Phase.GET_VIRTUAL.label() + " needs virtual threads: run it on JDK 21 or later");
    }
    if (!phases.isEmpty() && phases.get(0) != Phase.LOAD) {
      throw new UsageException("the first phase is to be load");
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
            options.trees(),
            options.runs(),
            options.maxSpace()),
        warmUpRecords,
        warmUpRecords,
        keyBytes,
        valueBytes,
        threads,
        durationSeconds,
        seed,
        0,
        inPlace);
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
            case SCAN, SCAN_UNSETTLED -> SCANS_PER_SECOND;
            case SCAN_LONG -> SCANS_PER_SECOND / 50;
            case MULTIGET -> SCANS_PER_SECOND / 4;
            default -> GETS_PER_SECOND;
          };
      double all = phase.operations(records, operations) / rate;
      double warm = phase.writes() ? all / 4 : Math.max(all / 4, Math.min(5, durationSeconds));
      seconds += phase == Phase.LOAD ? all : Math.min(durationSeconds, all) + Math.min(60, warm);
    }
    return seconds;
  }
}
