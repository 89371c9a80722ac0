package io.isobardb.bench.ycsb;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.Durability;
import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.engine.Io;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.bench.record.RecordOption;
import io.isobardb.cli.Program;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.tpcc.store.Survival;
import io.isobardb.ycsb.IsobarClient;
import io.isobardb.ycsb.RecordClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import site.ycsb.DBException;

/** {@code ycsb}: the stock YCSB client on one engine; fails unless every operation returned OK. */
@Command(
    name = "ycsb",
    description = "Loads records and runs a YCSB workload with the stock client.",
    footer = {
      "",
      "Without options it takes about a minute: 1,000,000 records of 1 KB, as many",
      "operations. Every operation must return OK."
    })
public final class YcsbCommand implements Callable<Integer> {
  private static final int LEAST_MEMORY = 4 << 20;
  private static final int MOST_TREES = 10_000;
  private static final String STORE = "isobar.store.";
  private static final Pattern HOT = Pattern.compile("([0-9]{1,3}):([0-9]{1,3})");

  /** Ways to do file I/O. */
  enum Io {
    direct,
    buffered
  }

  @Spec private CommandSpec command;

  @Option(
      names = "--workload",
      required = true,
      paramLabel = "LETTER",
      description = "The workload, a to f, or load to load only.")
  private String workload = "";

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records to load (default: ${DEFAULT-VALUE}).")
  private int records = 1_000_000;

  @Option(
      names = "--operations",
      paramLabel = "N",
      description = "Operations to run (default: as many as records).")
  private @Nullable Integer operations;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Client threads (default: ${DEFAULT-VALUE}).")
  private int threads = 2;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The store's memory budget (default: ${DEFAULT-VALUE}).",
      defaultValue = "256MB")
  private ByteSize memory = new ByteSize(0);

  @Option(
      names = "--trees",
      paramLabel = "N",
      description = "Trees to spread the records over (default: ${DEFAULT-VALUE}).")
  private int trees = 1;

  @Option(
      names = "--hot",
      paramLabel = "KEYS:TREES",
      description =
          "Share of the records in a share of the trees, in percent, such as 80:20 (default:"
              + " even).")
  private String hot = "";

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      description =
          "The engine: isobar, or one of those of 'isobar compare' (default: ${DEFAULT-VALUE}).")
  private String engine = "isobar";

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where the data go and stay (default: a temporary directory, removed at the end).")
  private @Nullable Path dir;

  @Option(names = "--no-load", description = "Run on what --dir holds: --records of them.")
  private boolean noLoad;

  @Option(
      names = "--target",
      paramLabel = "OPS",
      description =
          "Operations per second to aim at; latencies are then counted from when an operation was"
              + " due, too.")
  private int target;

  @Option(
      names = "--durability",
      paramLabel = "WHEN",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Durability durability = Durability.async;

  @Option(
      names = "--io",
      paramLabel = "MODE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Io io = Io.direct;

  @Option(
      names = "--data-integrity",
      description = "Check what is read against what was written; holds for the load and the run.")
  private boolean dataIntegrity;

  @Option(names = "-p", paramLabel = "NAME=VALUE", description = "Further YCSB properties.")
  private Map<String, String> properties = new LinkedHashMap<>();

  @Mixin private RecordOption record = new RecordOption();

  @Mixin private HtmlOption html = new HtmlOption();

  @Option(names = "--details", description = "Also print what the engine counted.")
  private boolean details;

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkValues();
    String letter = workload.toLowerCase(Locale.ROOT).replace("workload", "");
    boolean loadOnly = letter.equals("load");
    Properties settings = settings(YcsbRun.workload(loadOnly ? "a" : letter));
    EngineKind kind = EngineKind.of(engine);
    kind.check(durability == Durability.sync);
    if (noLoad && (dir == null || loadOnly)) {
      throw new UsageException("--no-load needs --dir and a workload to run");
    }
    settings.setProperty("isobar.engine", kind.label());
    check(kind, settings);
    checkRecord(kind, loadOnly);
    Map<String, YcsbRun> runs = new LinkedHashMap<>();
    Map<String, String> facts;
    try (WorkDirectory data = WorkDirectory.of(dir, "isobar-data-");
        Progress progress = Progress.onStandardError()) {
      settings.setProperty("isobar.dir", data.path().toString());
      if (!noLoad) {
        runs.put("load", run(kind, true, settings, records, progress));
      }
      if (!loadOnly && runs.values().stream().allMatch(run -> run.problems().isEmpty())) {
        record(settings);
        runs.put("workload " + letter, run(kind, false, settings, operationCount(), progress));
      }
      facts = Provenance.of(command, data.path());
    }
    Survival survival = kind.survival(durability == Durability.sync);
    facts.put("an acknowledged write", survival.words());
    html.write(() -> YcsbPage.of(kind.label(), runs, facts));
    Exit exit = Exit.SUCCESS;
    Map<String, Object> all = new LinkedHashMap<>();
    for (Map.Entry<String, YcsbRun> run : runs.entrySet()) {
      exit = run.getValue().exit();
      all.put(run.getKey(), toMap(run.getValue(), survival));
      // Of a run that broke off there is nothing to show.
      if (!json.isGiven() && exit != Exit.FAILURE) {
        print(kind.label() + ", " + run.getKey(), run.getValue());
      }
      if (exit != Exit.SUCCESS && !Shutdown.isUnderWay()) {
        String problems = String.join("; ", run.getValue().problems());
        command
            .commandLine()
            .getErr()
            .println("isobar ycsb: " + kind.label() + ", " + run.getKey() + ": " + problems);
      }
    }
    if (!json.isGiven() && exit != Exit.FAILURE) {
      out().println("an acknowledged write: " + survival.words());
    }
    if (json.isGiven()) {
      out().println(JSON.std.asString(all));
    }
    out().flush();
    return exit.code();
  }

  private PrintWriter out() {
    return command.commandLine().getOut();
  }

  private void checkValues() {
    html.check();
    Numbers.checkAtLeast("--records", records, 1);
    Numbers.check("--threads", threads, 1, 1024);
    Numbers.check("--trees", trees, 1, MOST_TREES);
    Numbers.checkAtLeast("--target", target, 0);
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    if (operations != null) {
      Numbers.checkAtLeast("--operations", operations, 1);
    }
    if (!hot.isEmpty()) {
      Matcher shares = HOT.matcher(hot);
      if (!shares.matches()) {
        throw new UsageException("--hot must be two percentages, such as 80:20, not '" + hot + "'");
      }
      Numbers.check("--hot's first share", Integer.parseInt(shares.group(1)), 1, 100);
      Numbers.check("--hot's second share", Integer.parseInt(shares.group(2)), 1, 100);
    }
  }

  private void checkRecord(EngineKind kind, boolean loadOnly) {
    record.options();
    if (record.file() != null && (kind != EngineKind.ISOBAR || loadOnly)) {
      throw new UsageException("--record is for a workload on isobar");
    }
  }

  /** Has the client record the run. */
  private void record(Properties settings) {
    Path file = record.file();
    if (file != null) {
      EngineClient.setTree(settings, TreeOptions.defaults());
      settings.setProperty(EngineClient.RECORDING, file.toAbsolutePath().toString());
      settings.setProperty(
          EngineClient.RECORDED_KEYS, Integer.toString(record.options().oneKeyIn()));
    }
  }

  /** What the client would refuse when it is opened. */
  private static void check(EngineKind kind, Properties settings) {
    try {
      RecordClient.checkNames(settings);
    } catch (DBException e) {
      throw new UsageException(e.getMessage(), e);
    }
    if (kind == EngineKind.ISOBAR) {
      UsageException.ofArguments(() -> IsobarClient.options(settings));
      return;
    }
    for (String name : settings.stringPropertyNames()) {
      if (name.startsWith(STORE)) {
        throw new UsageException(name + " is for isobar, and the engine is " + kind.label());
      }
    }
  }

  private int operationCount() {
    return operations == null ? records : operations;
  }

  private Properties settings(Properties shipped) {
    Properties settings = new Properties();
    settings.putAll(shipped);
    settings.setProperty("recordcount", Integer.toString(records));
    settings.setProperty("operationcount", Integer.toString(operationCount()));
    settings.setProperty("hdrhistogram.percentiles", "50,90,99,99.9,99.99");
    settings.setProperty("measurementtype", "hdrhistogram");
    settings.setProperty("measurement.interval", target > 0 ? "both" : "op");
    settings.setProperty("status.interval", "1");
    settings.setProperty("dataintegrity", Boolean.toString(dataIntegrity));
    settings.setProperty("isobar.memory", Long.toString(memory.bytes()));
    settings.setProperty("isobar.trees", Integer.toString(trees));
    settings.setProperty("isobar.hot", hot);
    settings.setProperty("isobar.durability", durability.name());
    settings.setProperty("isobar.io", io.name());
    settings.putAll(properties);
    return settings;
  }

  private YcsbRun run(
      EngineKind kind, boolean load, Properties settings, long count, Progress progress)
      throws IOException, InterruptedException {
    String what = kind.label() + (load ? ", load" : ", workload " + workload);
    progress.stage(what);
    ChildJvm child =
        new ChildJvm(YcsbChild.class)
            .heapBytes(kind.heapBytes(memory.bytes()))
            .directBytes(memory.bytes() + (256L << 20));
    kind.jvmFlags().forEach(child::flag);
    YcsbRun run =
        YcsbRun.run(
            child,
            load,
            (kind == EngineKind.ISOBAR && !settings.containsKey(EngineClient.RECORDING)
                    ? IsobarClient.class
                    : EngineClient.class)
                .getName(),
            settings,
            threads,
            load ? 0 : target,
            count,
            status -> progress.update(what + ": " + status.replaceFirst("^\\S+ \\S+ ", "")));
    progress.close();
    if (Program.traces()) {
      run.errors().forEach(System.err::println);
    }
    return run;
  }

  private void print(String title, YcsbRun run) {
    out().printf(Locale.ROOT, "%s: %,.0f operations/s%n%n", title, run.output().throughput());
    out().println(run.latencies());
    double put = run.counter("putBytes");
    double written = run.counter("writtenBytes");
    out()
        .printf(
            Locale.ROOT,
            "put %s, written %s (%.2f times), read %s, space %s%n"
                + "processor time %.1f s, resident memory at most %s%n%n",
            ByteSize.format(put),
            ByteSize.format(written),
            put > 0 ? written / put : 0.0,
            ByteSize.format(run.counter("readBytes")),
            ByteSize.format(run.counter("spaceBytes")),
            run.counter("cpuNanos") / 1e9,
            ByteSize.format(run.counter("peakResidentBytes")));
    if (details) {
      out().println(counted(run));
    }
  }

  private static TextTable counted(YcsbRun run) {
    TextTable engine = new TextTable("engine", "");
    run.counters()
        .forEach(
            (name, value) -> {
              if (name.startsWith("engine.")) {
                String label = name.substring("engine.".length());
                engine.row(
                    label,
                    label.endsWith("Bytes") ? ByteSize.format(Double.parseDouble(value)) : value);
              }
            });
    return engine;
  }

  private static Map<String, Object> toMap(YcsbRun run, Survival survival) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("throughput", run.output().throughput());
    map.put("survives", survival.toMap());
    map.put("problems", run.problems());
    map.put("operations", run.output().metrics());
    map.put("counters", run.counters());
    return map;
  }
}
