package io.isobardb.bench.tpcc;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.engine.Durability;
import io.isobardb.bench.engine.Io;
import io.isobardb.bench.process.ChildJvm;
import io.isobardb.bench.process.Events;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.cli.report.MarkdownOption;
import io.isobardb.tpcc.drive.Mix;
import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.kill.KillSpec;
import io.isobardb.tpcc.kill.KillTest;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import io.isobardb.tpcc.store.TpccStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code tpcc}: a load derived from TPC-C, with its rules, its conditions, and kills. */
@Command(
    name = "tpcc",
    description = "Runs a TPC-C-derived load and judges it by the specification's rules.",
    footer = {
      "",
      "All nine tables, two secondary indexes, five transactions. Not audited: no",
      "result is a TPC-C result. Without --wait the terminals never rest. StockLevel",
      "reads what is committed; all other transactions have --isolation. Exit code 1",
      "if a rule was broken or a condition does not hold.",
      "",
      "Engines differ in what an unsynced commit survives; the report tells. isobar",
      "and rocksdb-sync100ms are synced equally often. RocksDB's log in each variant:",
      "  rocksdb            each commit handed to the system, never synced (default)",
      "  rocksdb-sync100ms  the same, synced every 100 ms",
      "  rocksdb-buffered   buffered in the process, written and synced every 100 ms"
    })
public final class TpccCommand implements Callable<Integer> {
  private static final long HEAP_BYTES = 512L << 20;
  private static final long OTHER_DIRECT_BYTES = 256L << 20;
  private static final int LEAST_MEMORY = 8 << 20;
  private static final int MOST_TERMINALS = 10_000;
  private static final int KILL_LONGEST_MILLIS = 2000;

  /** How the oldest new order of a district is found. */
  enum Search {
    hint,
    scan
  }

  /** Ways to do file I/O. */
  enum Io {
    direct,
    buffered
  }

  /** Reads an engine by the name that reports have. */
  static final class EngineName implements ITypeConverter<EngineKind> {
    @Override
    public EngineKind convert(String label) {
      try {
        return EngineKind.of(label);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  @Spec private CommandSpec command;

  @Option(
      names = "--engine",
      paramLabel = "NAME",
      converter = EngineName.class,
      description =
          "isobar, rocksdb, and with --durability async rocksdb-sync100ms or rocksdb-buffered"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "isobar")
  private EngineKind engine = EngineKind.ISOBAR;

  @Option(
      names = "--warehouses",
      paramLabel = "N",
      description = "Warehouses, about 100 MB each (default: ${DEFAULT-VALUE}).")
  private int warehouses = 4;

  @Option(
      names = "--terminals",
      paramLabel = "N",
      description = "Threads that work for terminals (default: 4; with --wait 10 per warehouse).")
  private @Nullable Integer terminals;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description = "How long to measure (default: ${DEFAULT-VALUE}).",
      defaultValue = "60s")
  private TimeSpan duration = new TimeSpan(0);

  @Option(
      names = "--ramp-up",
      paramLabel = "TIME",
      description = "How long to run before, for caches and compilers (default: ${DEFAULT-VALUE}).",
      defaultValue = "20s")
  private TimeSpan rampUp = new TimeSpan(0);

  @Option(
      names = "--wait",
      description =
          "Keying and think times as specified: at most 12.86 NewOrders per minute and"
              + " warehouse.")
  private boolean waits;

  @Option(
      names = "--isolation",
      paramLabel = "LEVEL",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "snapshot")
  private Isolation isolation = Isolation.SNAPSHOT;

  @Option(
      names = "--locking",
      paramLabel = "KIND",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).",
      defaultValue = "pessimistic")
  private Locking locking = Locking.PESSIMISTIC;

  @Option(
      names = "--durability",
      paramLabel = "WHEN",
      description = "When a commit returns: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Durability durability = Durability.sync;

  @Option(
      names = "--delivery",
      paramLabel = "WHERE",
      description =
          "Where deliveries search a district's oldest new order: ${COMPLETION-CANDIDATES} (default:"
              + " ${DEFAULT-VALUE}). 'hint': from behind the last one delivered, which the driver"
              + " remembers; 'scan': from the district's first key, past all that were deleted.")
  private Search delivery = Search.hint;

  @Option(
      names = "--delivery-log",
      paramLabel = "FILE",
      description =
          "Write what became of each delivery: when it was queued and ended, warehouse, carrier, and"
              + " by district the order delivered, or 'skipped'.")
  private @Nullable Path deliveryLog;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "Write buffers and caches together (default: ${DEFAULT-VALUE}).",
      defaultValue = "256MB")
  private ByteSize memory = new ByteSize(0);

  @Option(
      names = "--io",
      paramLabel = "MODE",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Io io = Io.direct;

  @Option(
      names = "--check",
      description = "Check the consistency conditions and the indexes after load and run.")
  private boolean check;

  @Option(
      names = "--kill-test",
      paramLabel = "N",
      description = "Instead of measuring, kill the running load N times and check what remains.")
  private @Nullable Integer kills;

  @Option(
      names = "--scale",
      paramLabel = "FACTOR",
      description = "Shrinks all tables, for tests: above 0, at most 1 (default: 1).",
      defaultValue = "1")
  private double scale;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all choices (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where the data is, or is to be loaded; kept (default: a temporary directory, removed).")
  private @Nullable Path dir;

  @Mixin private HtmlOption html = new HtmlOption();

  @Mixin private MarkdownOption markdown = new MarkdownOption();

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkValues();
    UsageException.ofArguments(
        () -> {
          engine.check(isolation);
          return engine;
        });
    checkDeliveryLog();
    Scale size = UsageException.ofArguments(() -> Scale.of(warehouses, scale));
    int threads = terminals != null ? terminals : waits ? warehouses * Scale.DISTRICTS : 4;
    RunSpec run =
        UsageException.ofArguments(
            () ->
                new RunSpec(
                    threads,
                    RunSpec.deliveryThreads(threads),
                    rampUp.millis(),
                    duration.millis(),
                    Mix.SPECIFIED,
                    isolation,
                    waits,
                    delivery == Search.hint,
                    seed));
    try (WorkDirectory data = WorkDirectory.of(dir, "isobar-tpcc-");
        Progress progress = Progress.onStandardError()) {
      StoreSpec store =
          UsageException.ofArguments(
              () ->
                  new StoreSpec(
                      engine,
                      data.path(),
                      memory.bytes(),
                      durability == Durability.sync,
                      locking,
                      io == Io.direct));
      return kills != null
          ? killTest(store, size, threads, kills, progress)
          : measure(new TpccSpec(store, run, size, check, deliveryLog), progress);
    }
  }

  private int measure(TpccSpec spec, Progress progress) throws IOException, InterruptedException {
    ChildJvm child =
        new ChildJvm(TpccChild.class)
            .heapBytes(HEAP_BYTES)
            .directBytes(memory.bytes() + OTHER_DIRECT_BYTES)
            .argument(Events.text(spec));
    Told told = new Told(progress);
    child.runToEnd(spec.store().engine().label(), told::event);
    progress.close();
    Map<String, String> facts = Provenance.of(command, spec.store().dir());
    facts.put("an acknowledged commit", spec.store().survival().words());
    TpccPage page = new TpccPage(told.results, told.perSecond, told.residentBytes, facts);
    html.write(page::page);
    markdown.write(page.charts(), page::markdown);
    show(told.results, told.texts);
    return (told.holds ? Exit.SUCCESS : Exit.FINDING).code();
  }

  private void checkValues() {
    html.check();
    markdown.check();
    Numbers.check("--warehouses", warehouses, 1, 1_000_000);
    Numbers.checkAtLeast("--memory", memory, LEAST_MEMORY);
    Numbers.checkAboveZero("--duration", duration);
    if (terminals != null) {
      Numbers.check("--terminals", terminals, 1, MOST_TERMINALS);
    }
    if (kills != null) {
      Numbers.checkAtLeast("--kill-test", kills, 1);
      if (html.isGiven() || markdown.isGiven()) {
        throw new UsageException("--html and --markdown are not for --kill-test");
      }
    }
    if (!(scale > 0 && scale <= 1)) {
      throw new UsageException("--scale must be above 0 and at most 1, not " + scale);
    }
  }

  /** So that nobody waits for a load first. */
  private void checkDeliveryLog() {
    if (deliveryLog == null) {
      return;
    }
    if (kills != null) {
      throw new ParameterException(
          command.commandLine(), "--delivery-log is for measuring, not for --kill-test");
    }
    try {
      Files.writeString(deliveryLog, "");
    } catch (IOException e) {
      throw new ParameterException(
          command.commandLine(), "--delivery-log can't be written: " + e, e);
    }
  }

  private int killTest(StoreSpec spec, Scale size, int threads, int cycles, Progress progress)
      throws InterruptedException, IOException {
    KillSpec kill =
        UsageException.ofArguments(
            () -> new KillSpec(spec, isolation, threads, cycles, KILL_LONGEST_MILLIS, seed));
    progress.stage("loading");
    try (TpccStore store = EngineKind.openStore(spec)) {
      Loading.load(store, size, seed, progress::update);
    }
    progress.stage("killing");
    int[] done = {0};
    KillTest.Result result =
        new KillTest(kill, text -> progress.update(text, ++done[0], cycles)).run();
    progress.close();
    StringBuilder text = new StringBuilder();
    result.failures().forEach(failure -> text.append("[NG] ").append(failure).append('\n'));
    text.append(
        String.format(
            "%s %s, %s%n",
            result.failures().isEmpty() ? "[OK]" : "[NG]",
            Numbers.count(result.cycles(), "kill"),
            Numbers.count(result.orders(), "acknowledged order")));
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("kills", result.cycles());
    map.put("acknowledgedOrders", result.orders());
    map.put("failures", result.failures());
    show(map, List.of(text.toString()));
    return (result.failures().isEmpty() ? Exit.SUCCESS : Exit.FINDING).code();
  }

  private void show(Map<String, Object> results, List<String> texts) throws IOException {
    PrintWriter out = command.commandLine().getOut();
    if (json.isGiven()) {
      out.println(JSON.std.asString(results));
    } else {
      texts.forEach(out::print);
    }
    out.flush();
  }

  /** What the process says, gathered; used by the thread that reads its output. */
  private static final class Told {
    private final Progress progress;
    private final List<String> texts = new ArrayList<>();
    private final Map<String, Object> results = new LinkedHashMap<>();
    private final Map<Double, Double> perSecond = new TreeMap<>();
    private double residentBytes;
    private boolean holds = true;

    Told(Progress progress) {
      this.progress = progress;
    }

    void event(Map<String, Object> event) {
      String text = String.valueOf(event.get("text"));
      switch ((String) event.get("event")) {
        case "stage" -> progress.stage(text);
        case "progress" -> Events.progress(event, progress::update);
        case "second" ->
            perSecond.put(
                Events.number(event, "seconds"), Events.number(event, "newOrdersPerMinute"));
        case "check" -> {
          texts.add(String.format("%nConsistency %s:%n%s", event.get("when"), text));
          results.put("consistency " + event.get("when"), event.get("violations"));
          holds &= (Boolean) event.get("holds");
        }
        default -> {
          texts.add(texts.isEmpty() ? text : System.lineSeparator() + text);
          results.put("report", event.get("report"));
          residentBytes = Events.number(event, "residentBytes");
          holds &= (Boolean) event.get("holds");
        }
      }
    }
  }
}
