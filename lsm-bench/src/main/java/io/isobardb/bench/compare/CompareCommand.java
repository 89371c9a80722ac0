package io.isobardb.bench.compare;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.Durability;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.EngineOptions;
import io.isobardb.bench.engine.Io;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Progress.Watcher;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.cli.report.MarkdownOption;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code compare}: the same operations on each engine, interleaved, as medians and ratios. */
@Command(
    name = "compare",
    description = "Runs the same operations on several engines and compares them.",
    footer = {
      "",
      "Each engine runs in a JVM of its own, once per repeat, in turns. Throughput is",
      "wall-clock. CPU counts every thread of the process, background work included;",
      "'+settle' adds the work a phase left behind. Bytes are those of the device, as",
      "the system counts them; space is what files occupy there, holes left out.",
      "",
      "Engines differ in what an unsynced write survives; the report tells. isobar and",
      "rocksdb-sync100ms are synced equally often. RocksDB's log in each variant:",
      "  rocksdb            each write handed to the system, never synced (default)",
      "  rocksdb-sync100ms  the same, synced every 100 ms",
      "  rocksdb-buffered   buffered in the process, written and synced every 100 ms",
      "  rocksdb-stall      as rocksdb-sync100ms; writes wait for write buffers",
      "With --durability sync each write waits for the device: use few --records, such",
      "as 20000."
    })
public final class CompareCommand implements Callable<Integer> {
  private static final int LEAST_MEMORY = 4 << 20;

  @Spec private CommandSpec command;

  /** Ways to do file I/O. */
  enum Io {
    direct,
    buffered
  }

  @Option(
      names = "--engines",
      split = ",",
      paramLabel = "NAME",
      description =
          "Engines, the first to be shown first, of isobar, isobar-leveled, rocksdb, rocksdb-universal,"
              + " rocksdb-sync100ms,"
              + " rocksdb-buffered, rocksdb-stall, mvstore, lmdb (default: isobar, rocksdb-sync100ms,"
              + " or rocksdb with --durability sync, mvstore, lmdb).")
  private @Nullable List<String> engines;

  @Option(
      names = "--baseline",
      paramLabel = "NAME",
      description = "What ratios are to (default: the first RocksDB, else the first).")
  private @Nullable String baseline;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records to load (default: ${DEFAULT-VALUE}).")
  private int records = 2_000_000;

  @Option(
      names = "--operations",
      paramLabel = "N",
      description =
          "Operations per phase (default: as many as records); scans are a twentieth. Phases that"
              + " only read go on for a second at least.")
  private @Nullable Long operations;

  @Option(
      names = "--key-size",
      paramLabel = "SIZE",
      description = "Key length (default: ${DEFAULT-VALUE}).",
      defaultValue = "16")
  private ByteSize keySize = new ByteSize(0);

  @Option(
      names = "--value-size",
      paramLabel = "SIZE",
      description = "Value length (default: ${DEFAULT-VALUE}).",
      defaultValue = "100")
  private ByteSize valueSize = new ByteSize(0);

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Write buffers and caches together (default: ${DEFAULT-VALUE}).",
      defaultValue = "1GB")
  private ByteSize memory = new ByteSize(0);

  @Option(
      names = "--memory-of",
      paramLabel = "NAME=SIZE",
      description =
          "Memory of one engine instead, so that engines can be compared that take as much resident"
              + " memory; may be given for several.")
  private Map<String, ByteSize> memoryOf = new LinkedHashMap<>();

  @Option(
      names = "--runs",
      paramLabel = "RUNS",
      description =
          "Runs on a level of isobar, such as LAZY(4) or 8,4,1 (default: ${DEFAULT-VALUE});"
              + " isobar-leveled has one.")
  private String runs = Runs.leveled().toString();

  @Option(
      names = "--max-space",
      paramLabel = "TIMES",
      description = "maxSpace of isobar's tree (default: the store's).")
  private double maxSpace;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads (default: ${DEFAULT-VALUE}).")
  private int threads = 2;

  @Option(
      names = "--phases",
      split = ",",
      paramLabel = "PHASE",
      description =
          "Phases, of load, read, zipf, update, mixed, scan, scan-unsettled, scan-long, scan-absent,"
              + " multiget, get-virtual (JDK 21 and later) and absent (default: ${DEFAULT-VALUE});"
              + " load comes first in any case.",
      defaultValue = "load,read,zipf,update,mixed,scan,absent")
  private List<String> phases = List.of();

  @Option(
      names = "--io",
      paramLabel = "MODE",
      description =
          "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}); mvstore and lmdb are always buffered.")
  private Io io = Io.direct;

  @Option(
      names = "--durability",
      paramLabel = "WHEN",
      description =
          "When a write returns: 'sync' when it is on the device, 'async' before (default:"
              + " ${DEFAULT-VALUE}).")
  private Durability durability = Durability.async;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description = "Runs per engine (default: ${DEFAULT-VALUE}).")
  private int repeats = 3;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "Longest time of a phase other than the load, such as 500ms, or a number of seconds"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "20s")
  private TimeSpan duration = new TimeSpan(0);

  @Option(
      names = "--warm-up",
      paramLabel = "RECORDS",
      description =
          "Records loaded and updated before anything is measured, in a store that is thrown away"
              + " (default: half of the records).")
  private @Nullable Long warmUp;

  @Option(
      names = "--in-place",
      description =
          "Reads of single records look at the value where it lies, as far as an engine lets users:"
              + " isobar by read, lmdb in its map, mvstore on the heap, rocksdb in a direct buffer"
              + " (default: each copies it to an array of the caller's).")
  private boolean inPlace;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all choices (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where to put the data (default: a temporary directory); removed after each run.")
  private @Nullable Path dir;

  @Mixin private HtmlOption html = new HtmlOption();

  @Mixin private MarkdownOption markdown = new MarkdownOption();

  @Mixin private JsonOption json = new JsonOption();

  @Option(names = "--verbose", description = "Show the engines' settings.")
  private boolean verbose;

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkValues();
    boolean sync = durability == Durability.sync;
    List<EngineKind> kinds =
        engines == null ? defaultEngines(sync) : engines.stream().map(EngineKind::of).toList();
    kinds.forEach(kind -> kind.check(sync));
    UsageException.checkDistinct("--engines", kinds.stream().map(EngineKind::label).toList());
    checkMemoryOf(kinds);
    checkTree(kinds);
    EngineKind base =
        baseline != null
            ? EngineKind.of(baseline)
            : kinds.stream().filter(EngineKind::isRocksDb).findFirst().orElse(kinds.get(0));
    if (!kinds.contains(base)) {
      throw new UsageException("the baseline " + base.label() + " is not among --engines");
    }
    List<Phase> ordered = new ArrayList<>(phases.stream().map(Phase::of).toList());
    ordered.removeIf(phase -> phase == Phase.LOAD);
    UsageException.checkDistinct("--phases", ordered.stream().map(Phase::label).toList());
    ordered.add(0, Phase.LOAD);
    CompareReport report = new CompareReport(kinds, ordered, base, sync);
    Map<String, String> facts;
    try (WorkDirectory root = WorkDirectory.of(dir, "isobar-compare-");
        Progress progress = Progress.onStandardError()) {
      int runs = 0;
      progress.note(announcement(kinds, ordered, root.path()));
      progress.stage("starting");
      for (int repeat = 0; repeat < repeats; repeat++) {
        // The order changes, so that no engine always finds the machine as the same other one left
        // it.
        List<EngineKind> turn = new ArrayList<>(kinds);
        Collections.rotate(turn, -repeat);
        for (EngineKind engine : turn) {
          try (WorkDirectory data = WorkDirectory.temporary(root.path(), engine.label() + "-")) {
            CompareSpec spec = spec(engine, ordered, data.path().resolve("data"), repeat);
            run(spec, report, repeat, inRun(progress, runs++, kinds.size() * repeats));
          }
        }
      }
      facts = Provenance.of(command, root.path());
    }
    ComparePage page = new ComparePage(report, facts);
    html.write(page::page);
    markdown.write(page.charts(), page::markdown);
    PrintWriter out = command.commandLine().getOut();
    out.print(json.isGiven() ? JSON.std.asString(report.toMap()) + "\n" : report.text(verbose));
    out.flush();
    return 0;
  }

  private long memoryBytes(EngineKind engine) {
    return memoryOf.entrySet().stream()
        .filter(given -> EngineKind.of(given.getKey()) == engine)
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse(memory)
        .bytes();
  }

  /** A memory that no engine gets would be one that the reader of the table believes in. */
  private void checkMemoryOf(List<EngineKind> kinds) {
    for (String name : memoryOf.keySet()) {
      EngineKind kind = EngineKind.of(name);
      if (!kinds.contains(kind)) {
        throw new UsageException("--memory-of: " + kind.label() + " is not among --engines");
      }
      if (kind == EngineKind.LMDB) {
        throw new UsageException(
            "--memory-of: lmdb's memory is the system's page cache, which has no limit here");
      }
    }
  }

  private void checkTree(List<EngineKind> kinds) {
    if (!Runs.parse(runs).isLeveled() && !kinds.contains(EngineKind.ISOBAR)) {
      throw new UsageException("--runs is for isobar, which is not among --engines");
    }
    if (maxSpace != 0
        && !kinds.contains(EngineKind.ISOBAR)
        && !kinds.contains(EngineKind.ISOBAR_LEVELED)) {
      throw new UsageException("--max-space is for isobar, which is not among --engines");
    }
  }

  private void checkValues() {
    html.check();
    markdown.check();
    memoryOf.forEach(
        (name, size) -> {
          EngineKind.of(name);
          Numbers.checkAtLeast("--memory-of " + name, size, LEAST_MEMORY);
        });
    UsageException.ofArguments(
        () -> TreeOptions.builder().runs(Runs.parse(runs)).maxSpace(maxSpace).build());
    Numbers.checkAtLeast("--records", records, 1);
    Numbers.check("--threads", threads, 1, 1024);
    Numbers.checkAtLeast("--repeats", repeats, 1);
    Numbers.check("--key-size", keySize.bytes(), 8, 500);
    Numbers.check("--value-size", valueSize.bytes(), 0, 1 << 20);
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    Numbers.checkAboveZero("--duration", duration);
    if (operations != null) {
      Numbers.checkAtLeast("--operations", operations, 1);
    }
    if (warmUp != null) {
      Numbers.checkAtLeast("--warm-up", warmUp, 0);
    }
  }

  /** What is to come, and how long it may take. */
  private String announcement(List<EngineKind> kinds, List<Phase> ordered, Path root) {
    double seconds =
        repeats * kinds.size() * spec(kinds.get(0), ordered, root, 0).estimatedSeconds();
    return String.format(
        "%s, %s, %s each: %s. Fewer --repeats, --records or --phases take less.",
        Numbers.count(kinds.size(), "engine"),
        Numbers.count(repeats, "repeat"),
        Numbers.count(ordered.size(), "phase"),
        Progress.about(seconds));
  }

  /** Tells of one run as a part of all. */
  private static Watcher inRun(Progress progress, int run, int runs) {
    return (text, done, all) -> progress.update(text, run + done / all, runs);
  }

  /** RocksDB with what is Isobar's promise. */
  private static List<EngineKind> defaultEngines(boolean sync) {
    return List.of(
        EngineKind.ISOBAR,
        sync ? EngineKind.ROCKSDB : EngineKind.ROCKSDB_SYNC100MS,
        EngineKind.MVSTORE,
        EngineKind.LMDB);
  }

  private CompareSpec spec(EngineKind engine, List<Phase> ordered, Path data, int repeat) {
    return new CompareSpec(
        engine,
        ordered,
        new EngineOptions(
            data,
            memoryBytes(engine),
            io == Io.direct,
            durability == Durability.sync,
            1,
            runs,
            maxSpace),
        records,
        operations == null ? records : operations,
        Math.toIntExact(keySize.bytes()),
        Math.toIntExact(valueSize.bytes()),
        threads,
        duration.millis() / 1e3,
        seed + repeat,
        warmUp == null ? records / 2 : warmUp,
        inPlace);
  }

  private void run(CompareSpec spec, CompareReport report, int repeat, Watcher progress)
      throws IOException, InterruptedException {
    String run = String.format("%s, repeat %d of %d", spec.engine().label(), repeat + 1, repeats);
    progress.at(run, 0, 1);
    ChildJvm child =
        new ChildJvm(CompareChild.class)
            .heapBytes(spec.engine().heapBytes(spec.options().memoryBytes()))
            .directBytes(spec.options().memoryBytes() + (256L << 20))
            .argument(Events.text(spec));
    spec.engine().jvmFlags().forEach(child::flag);
    child.runToEnd(
        run,
        event -> {
          switch ((String) event.get("event")) {
            case "open" -> report.configuration(spec.engine(), (String) event.get("configuration"));
            case "phase" -> report.add(spec.engine(), PhaseResult.fromMap(event));
            default ->
                Events.progress(
                    event, (text, done, all) -> progress.at(run + ": " + text, done, all));
          }
        });
  }
}
