package io.isobardb.bench.phases;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.drive.Shape;
import io.isobardb.bench.process.Provenance;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.lsm.option.Runs;
import io.isobardb.lsm.policy.Adaptation;
import io.isobardb.lsm.policy.TreeShape;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** {@code phases}: what a tree costs that is used in one way after another. */
@Command(
    name = "phases",
    description =
        "Counts the pages that a tree costs while it is used in one way after another, with the runs"
            + " it is given and with those that the store chooses.",
    footer = {
      "",
      "Stores are simulated: equal seeds count equal pages on any machine. Pages are those that"
          + " flushes and merges write, and those that merges, lookups and scans read from disk.",
      "",
      "Workloads: thesis, day, flip, drift, grow, and YCSB's a to f as one long phase each;"
          + " docs/adaptation.md says what they are. A file has a phase on each line: a name, its"
          + " operations, and shares, as in 'load 250000 updates=90 gets=10'."
    })
public final class PhasesCommand implements Callable<Integer> {
  private static final int MOST_RECORDS = 100_000_000;
  private static final int MOST_SEEDS = 100;

  /** How many times as many updates as records come before the first phase. */
  private static final int WARM_UP = 2;

  /** In which order phases come. */
  enum Order {
    sequential,
    random
  }

  @Spec private CommandSpec command;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description = "What is done; see below (default: day).")
  private @Nullable String workload;

  @Option(names = "--file", paramLabel = "FILE", description = "Phases of your own; see below.")
  private @Nullable Path file;

  @Option(
      names = "--operations",
      paramLabel = "N",
      description = "Of a phase of the usual length, in shipped workloads (default: 250000).")
  private @Nullable Long operations;

  @Option(
      names = "--order",
      paramLabel = "ORDER",
      description = "Of the phases: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  private Order order = Order.sequential;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Records of 1 KB in the store (default: ${DEFAULT-VALUE}).")
  private int records = 100_000;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      description = "Updates before the first phase (default: twice the records).")
  private @Nullable Long warmUp;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description =
          "The store's budget; a sixteenth of it is for writes (default: a fifth of the records,"
              + " 4MB at least).")
  private @Nullable ByteSize memory;

  @Option(
      names = "--max-space",
      paramLabel = "X",
      description = "As the option maxSpace of a tree (default: ${DEFAULT-VALUE}).")
  private double maxSpace = 1.25;

  @Option(
      names = "--runs",
      paramLabel = "RUNS",
      description =
          "Runs that a tree keeps, such as LAZY(4); several with blanks between them, or none"
              + " (default: ${DEFAULT-VALUE}).")
  private String runs = "LEVELED LAZY(4) LAZY(8)";

  @Option(
      names = "--adaptation",
      paramLabel = "MODE",
      description =
          "on, observe or off: whether there is a store beside them that chooses its runs, or only"
              + " tells what it would choose (default: ${DEFAULT-VALUE}).")
  private String adaptation = "on";

  @Option(
      names = "--option",
      paramLabel = "NAME=VALUE",
      description = "An option of all stores; docs/options.md has them.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "The first one (default: ${DEFAULT-VALUE}).")
  private long seed = 1;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description = "How many there are (default: ${DEFAULT-VALUE}).")
  private int seeds = 1;

  @Mixin private JsonOption json = new JsonOption();

  @Mixin private HtmlOption html = new HtmlOption();

  @Override
  public Integer call() throws IOException {
    html.check();
    Numbers.check("--records", records, 1_000, MOST_RECORDS);
    Numbers.check("--seeds", seeds, 1, MOST_SEEDS);
    List<Contender> contenders = contenders();
    PhaseList phases = phases();
    long budget = memory == null ? PhasesRun.usualMemory(records) : memory.bytes();
    long before = warmUp == null ? (long) WARM_UP * records : warmUp;
    Numbers.checkAtLeast("--warm-up", before, 0);
    checkHeap(phases);
    List<Outcome> outcomes = new ArrayList<>();
    try (Progress progress = Progress.onStandardError()) {
      for (int i = 0; i < seeds; i++) {
        PhaseList ordered = order == Order.random ? phases.shuffled(seed) : phases;
        PhasesRun run = new PhasesRun(ordered, records, before, budget, maxSpace, options);
        for (Contender contender : contenders) {
          UsageException.ofArguments(() -> run.storeOptions(contender));
        }
        for (Contender contender : contenders) {
          progress.stage(contender.name() + ", seed " + (seed + i));
          outcomes.add(run.run(contender, seed + i, progress::update));
        }
      }
    }
    if (Shutdown.isUnderWay()) {
      return Exit.FAILURE.code();
    }
    String name = file == null ? name() : file.toString();
    PhaseList told = order == Order.random ? phases.shuffled(seed) : phases;
    PhasesReport report = new PhasesReport(name, told, outcomes);
    Map<String, String> facts = Provenance.of(command, Path.of(""));
    html.write(() -> new PhasesPage(report, facts).page());
    PrintWriter out = command.commandLine().getOut();
    out.print(json.isGiven() ? JSON.std.asString(report.toMap()) + "\n" : report.text());
    out.flush();
    return Exit.SUCCESS.code();
  }

  private String name() {
    return workload == null ? "day" : workload;
  }

  private PhaseList phases() throws IOException {
    Path given = file;
    if (given == null) {
      long usual = operations == null ? 250_000 : operations;
      Numbers.checkAtLeast("--operations", usual, Outcome.PARTS);
      return PhaseList.shipped(name(), usual, records);
    }
    if (workload != null || operations != null) {
      throw new UsageException("--file says what is done: leave out --workload and --operations");
    }
    if (Files.isDirectory(given)) {
      throw new UsageException("--file: " + given + " is a directory; give a file of phases");
    }
    try {
      return PhaseList.parse(Files.readString(given, StandardCharsets.UTF_8));
    } catch (NoSuchFileException e) {
      throw new UsageException("--file: there is no file " + given);
    } catch (MalformedInputException e) {
      throw new UsageException("--file: " + given + " is no text", e);
    }
  }

  private List<Contender> contenders() {
    List<Contender> contenders = new ArrayList<>();
    for (String each : runs.equals("none") ? new String[0] : runs.trim().split("\\s+")) {
      try {
        Runs of = new TreeShape(Runs.parse(each), maxSpace).check().runs();
        contenders.add(Contender.of(of));
      } catch (IllegalArgumentException e) {
        throw new UsageException("--runs: " + e.getMessage());
      }
    }
    switch (adaptation) {
      case "on" -> contenders.add(new Contender(Runs.leveled(), Adaptation.ON));
      case "observe" -> contenders.add(new Contender(Runs.leveled(), Adaptation.OBSERVE));
      case "off" -> {}
      default ->
          throw new UsageException("--adaptation is on, observe or off, not '" + adaptation + "'");
    }
    if (contenders.isEmpty()) {
      throw new UsageException("--runs none and --adaptation off leave nothing to run");
    }
    return contenders;
  }

  /** A simulated disk is on the heap: twice the records while they are merged. */
  private void checkHeap(PhaseList phases) {
    long most = records;
    for (Phase phase : phases.phases()) {
      most += phase.operations() * phase.mix().inserts() / 100;
    }
    double bytes = 3.0 * maxSpace * most * Shape.RECORD_BYTES;
    long heap = Runtime.getRuntime().maxMemory();
    if (bytes > heap) {
      throw new UsageException(
          String.format(
              "the simulated disk takes %.0f MB of heap, and there are %.0f MB: take fewer --records,"
                  + " or set JAVA_TOOL_OPTIONS=-Xmx",
              bytes / (1 << 20), heap / (double) (1 << 20)));
    }
  }
}
