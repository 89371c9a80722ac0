package io.isobardb.bench.latency;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.latency.LatencySpec.Machine;
import io.isobardb.bench.latency.LatencySpec.RecordingFile;
import io.isobardb.bench.latency.Requests.Content;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.RunOptions;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.bench.record.RecordOption;
import io.isobardb.bench.record.RecordedRun;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.option.Runs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code latency}: how long requests take from when they were due. */
@Command(
    name = "latency",
    description = "Measures how long requests take that arrive when they will.",
    footer = {
      "",
      "Latencies count from the moment a request was due, so that one that waits for others before"
          + " it is as slow as its user would see it. In virtual time, which is the default for"
          + " Isobar, equal seeds give equal latencies on any machine, however busy.",
      "",
      "Loads: production, steady, peaks, writes, bursts, silk-peaks-10, silk-peaks-50,"
          + " silk-peaks-100, silk-long, silk-long-writes, ycsb-a, ycsb-b, ycsb-c, ycsb-e, ycsb-f;"
          + " docs/latency.md says what they are."
    })
public final class LatencyCommand implements Callable<Integer> {
  private static final double WARM_UP_SECONDS = 5;

  /** The option that other engines have, too. */
  private static final String WRITE_MEMORY = "writeMemory";

  private static final int LEAST_MEMORY = 8 << 20;
  private static final double SUSTAINED = 0.95;
  private static final long LEAST_DEVICE = 1 << 20;
  private static final long DEVICE_BYTES = 200 << 20;

  /** What time runs. */
  enum ClockKind {
    virtual,
    real
  }

  /** Which records requests are about. */
  enum Keys {
    uniform,
    zipf
  }

  @Spec private CommandSpec command;

  @Option(
      names = "--load",
      paramLabel = "NAME",
      description = "How many requests arrive when; see below (default: production).")
  private @Nullable String trace;

  @Option(
      names = "--load-file",
      paramLabel = "FILE",
      description =
          "A recording (see 'isobar record'), or lines with a length and a rate, such as 10s"
              + " 20000.")
  private @Nullable Path traceFile;

  @Option(
      names = "--ratio",
      paramLabel = "N",
      description =
          "Data of N times the write memory, from 4 to 400: the load is made small for virtual"
              + " time, with a device of 20MB; other options come after it.")
  private @Nullable Integer ratio;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Requests per second at peaks (default: the trace's).")
  private @Nullable Integer rate;

  @Option(
      names = "--find-rate",
      description = "Find the rate that can be sustained, merges included, and run at 95 %% of it.")
  private boolean findRate;

  @Option(names = "--duration", paramLabel = "TIME", description = "How long requests arrive.")
  private @Nullable TimeSpan duration;

  @Option(
      names = "--warm-up",
      paramLabel = "TIME",
      description =
          "How long requests arrive before, and are not measured, on the real clock (default: 5s).")
  private @Nullable TimeSpan warmUp;

  @Option(
      names = "--burst",
      paramLabel = "TIMES",
      description = "Lengths of bursts at full speed, such as 10s,5s; each is followed by a pause.")
  private @Nullable String burst;

  @Option(
      names = "--burst-count",
      paramLabel = "N",
      description = "Requests of a burst, instead of its length.")
  private @Nullable Integer burstCount;

  @Option(
      names = "--pause",
      paramLabel = "TIMES",
      description = "Lengths of the pauses, such as 20s,1s (default: 20s).")
  private @Nullable String pause;

  @Option(
      names = "--mix",
      paramLabel = "W:R:S[:U]",
      description = "Percentages of writes, reads, scans, and reads with a write.")
  private @Nullable String mix;

  @Option(
      names = "--value-size",
      paramLabel = "BYTES",
      description = "Size of values, or least:median:most.")
  private @Nullable String valueSize;

  @Option(
      names = "--batch",
      paramLabel = "N",
      description = "Records of a write; with 2 or more they are synced.")
  private @Nullable Integer batch;

  @Option(
      names = "--scan",
      paramLabel = "N",
      description = "Entries of a scan (default: ${DEFAULT-VALUE}).")
  private int scan = 50;

  @Option(
      names = "--keys",
      paramLabel = "SKEW",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Keys keys = Keys.uniform;

  @Option(names = "--records", paramLabel = "N", description = "Records in the store.")
  private @Nullable Integer records;

  @Option(names = "--memory", paramLabel = "SIZE", description = "The engine's memory budget.")
  private @Nullable ByteSize memory;

  @Option(
      names = "--device",
      paramLabel = "SIZE",
      description =
          "Bytes read and written per second together, or unlimited (default: 200MB; bursts:"
              + " unlimited).")
  private @Nullable String device;

  @Option(
      names = "--device-writes",
      paramLabel = "SIZE",
      description = "Bytes written per second (default: as --device; bursts: 100MB).")
  private @Nullable ByteSize deviceWrites;

  @Option(
      names = "--device-sync",
      paramLabel = "MS",
      description =
          "What a sync takes, besides writing, on a device with a limit (default: "
              + (Machine.SYNC_NANOS / 1e6)
              + ").")
  private @Nullable Double deviceSync;

  @Option(
      names = "--background",
      paramLabel = "SIZE",
      description =
          "Bytes that flushes and merges read and write per second: in virtual time, or by RocksDB's"
              + " limiter.")
  private @Nullable ByteSize background;

  @Option(
      names = "--clock",
      paramLabel = "KIND",
      description = "${COMPLETION-CANDIDATES} (default: virtual, real if not Isobar alone).")
  private @Nullable ClockKind clock;

  @Option(
      names = "--engine",
      paramLabel = "NAMES",
      description =
          "isobar, isobar-free (flushes and merges cost nothing), isobar-fair (none of them goes"
              + " before another), rocksdb, rocksdb-autotuned, none (requests that do nothing: what"
              + " the machine takes itself); several with commas (default: ${DEFAULT-VALUE}).")
  private String engine = "isobar";

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Clients that serve requests (default: 8; bursts: 1).")
  private @Nullable Integer threads;

  @Option(
      names = "--processors",
      paramLabel = "N",
      description = "Processors in virtual time (default: ${DEFAULT-VALUE}).")
  private int processors = 2;

  @Option(
      names = "--schedule",
      paramLabel = "VALUE",
      description = "Short for --option mergeSchedule=VALUE.")
  private @Nullable String schedule;

  @Option(
      names = "--runs",
      paramLabel = "RUNS",
      description =
          "Isobar: runs on a level of its tree, such as LAZY(4) or 8,4,1 (default:"
              + " ${DEFAULT-VALUE}).")
  private String runs = Runs.leveled().toString();

  @Mixin private RunOptions runOptions = new RunOptions();

  @Mixin private RecordOption record = new RecordOption();

  @Mixin private HtmlOption html = new HtmlOption();

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    html.check();
    List<Contender> engines = Contender.parse(engine);
    boolean virtual = isVirtual(engines);
    LatencySpec spec = spec();
    Stores.treeOptions(spec);
    if (virtual) {
      checkHeap(spec);
    }
    List<Outcome> outcomes = new ArrayList<>();
    Map<String, String> facts;
    try (WorkDirectory work = WorkDirectory.of(runOptions.dir(), "isobar-latency-");
        Progress progress = Progress.onStandardError()) {
      for (Contender each : engines) {
        outcomes.add(measure(spec, each, virtual, work.path(), progress));
      }
      facts = Provenance.of(command, work.path());
    }
    if (Shutdown.isUnderWay()) {
      return Exit.FAILURE.code();
    }
    LatencyReport report = new LatencyReport(spec, virtual, outcomes);
    html.write(() -> new LatencyPage(report, facts).page());
    PrintWriter out = command.commandLine().getOut();
    out.print(json.isGiven() ? JSON.std.asString(report.toMap()) + "\n" : report.text());
    out.flush();
    return Exit.SUCCESS.code();
  }

  private double warmUpSeconds() {
    return warmUp == null ? WARM_UP_SECONDS : warmUp.millis() / 1e3;
  }

  private Outcome measure(
      LatencySpec spec, Contender contender, boolean virtual, Path work, Progress progress)
      throws IOException, InterruptedException {
    if (!findRate) {
      return run(spec, contender, virtual, work, progress);
    }
    LatencySpec full = spec.with(new Trace(List.of(Span.full(spec.seconds()))));
    double found = SUSTAINED * run(full, contender, virtual, work, progress).sustainedRate();
    Outcome outcome = run(spec.with(Trace.steady(found)), contender, virtual, work, progress);
    return outcome.at(found);
  }

  private Outcome run(
      LatencySpec spec, Contender contender, boolean virtual, Path work, Progress progress)
      throws IOException, InterruptedException {
    progress.stage(contender.label());
    if (virtual) {
      return VirtualRun.run(spec, contender.label(), contender.jobs(), progress::update);
    }
    // What a recording did must not be done twice.
    double before = spec.replay() == null ? warmUpSeconds() : 0;
    try (WorkDirectory store = WorkDirectory.temporary(work, contender.label() + "-")) {
      return RealRun.run(spec, contender, store.path(), before, progress::update);
    }
  }

  private boolean isVirtual(List<Contender> engines) {
    boolean all = engines.stream().allMatch(Contender::isIsobar);
    if (clock == ClockKind.virtual && !all) {
      throw new UsageException("virtual time is there for Isobar alone; use --clock real");
    }
    boolean virtual = clock == null ? all : clock == ClockKind.virtual;
    for (Contender each : engines) {
      if (!virtual && each.isVirtual()) {
        throw new UsageException(each.label() + " is there in virtual time alone");
      }
    }
    checkRecord(engines.size(), virtual);
    if (!virtual && command.commandLine().getParseResult().hasMatchedOption("--processors")) {
      throw new UsageException("--processors is there in virtual time alone");
    }
    if (virtual && warmUp != null) {
      throw new UsageException("--warm-up is there on the real clock alone");
    }
    Machine machine = machine(preset());
    if (engines.contains(Contender.ROCKSDB_AUTOTUNED) && machine.limiterBytes() == Long.MAX_VALUE) {
      throw new UsageException(
          "rocksdb-autotuned is RocksDB with a limit, and there is none: give --background or"
              + " --device");
    }
    if (!virtual && background != null && engines.contains(Contender.ISOBAR)) {
      throw new UsageException(
          "--background is there in virtual time, and for RocksDB's limiter: limit Isobar with"
              + " --option ioBandwidth=SIZE");
    }
    return virtual;
  }

  private void checkRecord(int engines, boolean virtual) {
    if (record.file() == null) {
      return;
    }
    if (!virtual) {
      throw new UsageException(
          "--record is there in virtual time alone; 'isobar ycsb' has it, too");
    }
    if (engines > 1 || findRate) {
      throw new UsageException("--record is for one run: of one engine, and without --find-rate");
    }
  }

  private Preset preset() {
    Preset load =
        Preset.of(
            trace == null ? burst != null || burstCount != null ? "bursts" : "production" : trace);
    return ratio == null ? load : new Ratio(ratio).of(load);
  }

  private LatencySpec spec() throws IOException {
    if (duration != null) {
      Numbers.checkAboveZero("--duration", duration);
    }
    Map<String, String> all = new LinkedHashMap<>();
    if (ratio != null) {
      all.putAll(new Ratio(ratio).options());
    }
    all.putAll(runOptions.options());
    if (schedule != null) {
      all.put("mergeSchedule", schedule);
    }
    TreeOptions tree = TreeOptions.builder().runs(parsedRuns()).build();
    int oneKeyIn = record.options().oneKeyIn();
    Path recorded = record.file();
    RecordingFile recording = recorded == null ? null : new RecordingFile(recorded, oneKeyIn);
    if (traceFile != null && RecordedRun.isRecording(traceFile)) {
      return replaySpec(traceFile, all, tree, recording);
    }
    Preset preset = preset();
    double seconds = duration == null ? preset.seconds() : duration.millis() / 1e3;
    return new LatencySpec(
        traceOf(preset, seconds),
        content(preset),
        seconds,
        machine(preset),
        all,
        tree,
        null,
        recording,
        runOptions.seed());
  }

  private LatencySpec replaySpec(
      Path file, Map<String, String> all, TreeOptions tree, @Nullable RecordingFile recording)
      throws IOException {
    ParseResult given = command.commandLine().getParseResult();
    List<String> others = new ArrayList<>(RecordedLoad.OWN);
    others.addAll(List.of("--load", "--burst", "--burst-count", "--pause", "--find-rate"));
    others.addAll(List.of("--warm-up", "--ratio"));
    for (String option : others) {
      if (given.hasMatchedOption(option)) {
        throw new UsageException(
            file + " is a recording, which says itself what " + option + " is");
      }
    }
    double most = duration == null ? Double.MAX_VALUE : duration.millis() / 1e3;
    RecordedLoad load = RecordedLoad.read("--load-file", file, 1, most);
    return new LatencySpec(
        Trace.steady(1),
        load.content(),
        load.seconds(),
        replayMachine(load),
        all,
        tree,
        load.replay(),
        recording,
        runOptions.seed());
  }

  /** As small as the recording's sample, where nothing is given. */
  private Machine replayMachine(RecordedLoad load) {
    Machine given = machine(Preset.of("production"));
    Machine own = load.machine(given.processors(), given.clients());
    return new Machine(
        given.clients(),
        given.processors(),
        memory == null ? own.memoryBytes() : given.memoryBytes(),
        device == null ? own.deviceBytes() : given.deviceBytes(),
        given.deviceWriteBytes(),
        given.syncNanos(),
        given.jobBytes());
  }

  private Runs parsedRuns() {
    Runs parsed = UsageException.ofArguments(() -> Runs.parse(runs));
    if (Contender.parse(engine).stream().anyMatch(Contender::isIsobar)) {
      return parsed;
    }
    if (!parsed.isLeveled()) {
      throw new UsageException("--runs is for Isobar");
    }
    if (schedule != null) {
      throw new UsageException("--schedule is for Isobar");
    }
    for (String option : runOptions.options().keySet()) {
      if (!option.equals(WRITE_MEMORY)) {
        throw new UsageException("--option " + option + " is for Isobar; others have writeMemory");
      }
    }
    return parsed;
  }

  private Trace traceOf(Preset preset, double seconds) throws IOException {
    if (rate != null) {
      Numbers.check("--rate", rate, 1, 10_000_000);
    }
    boolean bursts = burst != null || burstCount != null || pause != null;
    List<String> given = new ArrayList<>();
    if (trace != null && !(bursts && preset.name().equals("bursts"))) {
      given.add("--load");
    }
    if (traceFile != null) {
      given.add("--load-file");
    }
    if (bursts) {
      given.add("--burst");
    }
    if (findRate) {
      given.add("--find-rate");
    }
    boolean mixOfTrace = findRate && given.equals(List.of("--load", "--find-rate"));
    if (given.size() > 1 && !mixOfTrace) {
      throw new UsageException(given.get(0) + " and " + given.get(1) + " say the same: give one");
    }
    if (rate != null && (traceFile != null || bursts || findRate || preset.rate() == 0)) {
      throw new UsageException("--rate is for loads with a rate of their own");
    }
    if (traceFile != null) {
      return Trace.read(traceFile);
    }
    if (bursts) {
      List<TimeSpan> pauses = times("--pause", pause == null ? "20s" : pause);
      if (burstCount == null) {
        return Trace.bursts(times("--burst", burst == null ? "10s" : burst), pauses);
      }
      Numbers.checkAtLeast("--burst-count", burstCount, 1);
      if (burst != null) {
        throw new UsageException("--burst and --burst-count say the same: give one");
      }
      return Trace.bursts(burstCount, pauses);
    }
    return preset.shape().of(rate == null ? preset.rate() : rate, seconds, runOptions.seed());
  }

  private static List<TimeSpan> times(String option, String text) {
    List<TimeSpan> times = Arrays.stream(text.split(",", -1)).map(TimeSpan::parse).toList();
    times.forEach(time -> Numbers.checkAboveZero(option, time));
    return times;
  }

  private Content content(Preset preset) {
    if (records != null) {
      Numbers.checkAtLeast("--records", records, 1);
    }
    Numbers.check("--scan", scan, 1, 100_000);
    return new Content(
        mix == null ? preset.mix() : Mix.parse(mix),
        records == null ? preset.records() : records,
        valueSize == null ? preset.sizes() : sizes(valueSize),
        keys == Keys.zipf,
        scan,
        batchOf(preset));
  }

  private int batchOf(Preset preset) {
    if (batch == null) {
      return preset.batch();
    }
    Numbers.check("--batch", batch, 1, 10_000);
    return batch == 1 ? 0 : batch;
  }

  private static Requests.Sizes sizes(String text) {
    String[] parts = text.split(":", -1);
    if (parts.length != 1 && parts.length != 3) {
      throw new UsageException("--value-size must be 400 or 250:400:1024, not '" + text + "'");
    }
    int[] sizes = Arrays.stream(parts).mapToInt(Numbers::parseInt).toArray();
    for (int i = 0; i < sizes.length; i++) {
      Numbers.check("--value-size", sizes[i], i == 0 ? 16 : sizes[i - 1], 65_536);
    }
    return sizes.length == 1
        ? Requests.Sizes.of(sizes[0])
        : new Requests.Sizes(sizes[0], sizes[1], sizes[2]);
  }

  private Machine machine(Preset preset) {
    boolean bursts = preset.rate() == 0;
    long deviceBytes = device == null ? deviceBytes(bursts) : bytes(device);
    ByteSize writes = deviceWrites;
    if (writes == null && bursts && device == null) {
      writes = new ByteSize(100 << 20);
    }
    check("--device-writes", writes);
    check("--background", background);
    if (memory != null) {
      Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    }
    int clients = threads == null ? bursts ? 1 : 8 : threads;
    Numbers.check("--threads", clients, 1, 1024);
    Numbers.check("--processors", processors, 1, 1024);
    return new Machine(
        clients,
        processors,
        memory == null ? preset.memoryBytes() : memory.bytes(),
        deviceBytes,
        writes == null ? Long.MAX_VALUE : writes.bytes(),
        syncNanos(deviceBytes < Long.MAX_VALUE || writes != null),
        background == null ? Long.MAX_VALUE : background.bytes());
  }

  private long deviceBytes(boolean bursts) {
    if (bursts) {
      return Long.MAX_VALUE;
    }
    return ratio == null ? DEVICE_BYTES : Ratio.DEVICE_BYTES;
  }

  private long syncNanos(boolean limited) {
    if (deviceSync == null) {
      return Machine.SYNC_NANOS;
    }
    if (!limited) {
      throw new UsageException("--device-sync is for a device with a limit: give --device, too");
    }
    if (!(deviceSync >= 0 && deviceSync <= 1000)) {
      throw new UsageException("--device-sync must be from 0 to 1000, not " + deviceSync);
    }
    return (long) (deviceSync * 1e6);
  }

  private static void check(String option, @Nullable ByteSize size) {
    if (size != null) {
      Numbers.checkAtLeast(option, size, LEAST_DEVICE);
    }
  }

  private static long bytes(String text) {
    if (text.equalsIgnoreCase("unlimited")) {
      return Long.MAX_VALUE;
    }
    ByteSize size;
    try {
      size = ByteSize.parse(text);
    } catch (UsageException e) {
      throw new UsageException(
          "--device must be unlimited or a size per second, such as 200MB, not '" + text + "'", e);
    }
    Numbers.checkAtLeast("--device", size, LEAST_DEVICE);
    return size.bytes();
  }

  private static void checkHeap(LatencySpec spec) {
    double needed = spec.heapBytes();
    if (needed > Runtime.getRuntime().maxMemory()) {
      throw new UsageException(
          "virtual time keeps files on the heap, and "
              + ByteSize.format(Runtime.getRuntime().maxMemory())
              + " are not enough for about "
              + ByteSize.format(needed)
              + ": set ISOBAR_OPTS=-Xmx4g, or give fewer --records");
    }
  }
}
