package io.isobardb.bench.experiment;

import io.isobardb.bench.engine.EngineKind;
import io.isobardb.bench.experiment.report.Report;
import io.isobardb.bench.experiment.report.Verdict;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.WorkDirectory;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TextTable;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.MarkdownOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code experiment}: the paper's experiments on this engine, with reports. */
@Command(
    name = "experiment",
    description = "Runs experiments and holds what was claimed against what is found.",
    footer = {
      "",
      "Each experiment writes NAME.csv, NAME.svg and NAME.html; 'all' writes",
      "index.html, too. The scale shrinks data, memory and log together: small takes",
      "some minutes an experiment, full has the paper's sizes. A point's run ends early",
      "when its time is up; its row says so. No engine syncs each write; the report",
      "tells what an acknowledged write survives."
    })
public final class ExperimentCommand implements Callable<Integer> {
  private static final String LIST = "list";
  private static final String ALL = "all";
  private static final String PREFIX = "isobar-experiment-";
  private static final Path MEMORY = Path.of("/dev/shm");

  /** What an experiment's loaded stores and their copies take at most in the paper's sizes. */
  private static final double MOST_STORES_GIGABYTES = 1000;

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0",
      paramLabel = "NAME",
      description = "An experiment, or 'all'; 'list' shows them.")
  private String name = LIST;

  @Option(
      names = "--scale",
      paramLabel = "SCALE",
      description =
          "small (0.002), medium (0.02), full (1) or a factor (default: ${DEFAULT-VALUE}).")
  private String scale = "small";

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Where reports go (default: ${DEFAULT-VALUE}).",
      defaultValue = "experiments")
  private Path out = Path.of("");

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Where stores go while they are measured; they are removed. Default: a temporary directory,"
              + " in the scale small and below one in memory (/dev/shm), since files shrink with the"
              + " scale and syncs do not.")
  private @Nullable Path dir;

  @Option(names = "--resume", description = "Leave out points that NAME.csv has already.")
  private boolean resume;

  @Option(
      names = "--only",
      paramLabel = "PARAMETER=VALUE[,VALUE]",
      description =
          "Only points with one of these values, such as --only scheme=partitioned,B+-dynamic; may be"
              + " given for several parameters. Claims are held against what is measured.")
  private Map<String, String> only = new LinkedHashMap<>();

  @Option(
      names = "--option",
      paramLabel = "NAME=VALUE",
      description =
          "An option of the stores, one for experiments, too; docs/options.md has them. What an"
              + " experiment sets itself stays.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Mixin private MarkdownOption markdown = new MarkdownOption();
  @Mixin private JsonOption json = new JsonOption();

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Threads that do operations (default: ${DEFAULT-VALUE}).")
  private int threads = 2;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of all choices (default: ${DEFAULT-VALUE}).")
  private long seed = 42;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      description =
          "How many seeds each point is measured with, from --seed on (default: ${DEFAULT-VALUE}).")
  private int seeds = 1;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (name.equals(LIST)) {
      list();
      return 0;
    }
    Scale size = Scale.parse(scale);
    Numbers.check("--threads", threads, 1, 1024);
    Numbers.check("--seeds", seeds, 1, 1000);
    if (name.equals(ALL) && !only.isEmpty()) {
      throw new UsageException("--only is for one experiment, not for 'all'");
    }
    if (markdown.isGiven() && name.equals(ALL)) {
      throw new UsageException("--markdown is for one experiment, not for 'all'");
    }
    markdown.check();
    List<Experiment> experiments =
        name.equals(ALL) ? Experiments.ALL : List.of(Experiments.of(name));
    RunSettings settings = new RunSettings(size, seeds(), threads, options);
    settings.storeOptions();
    Files.createDirectories(out);
    Map<String, Report> reports = new LinkedHashMap<>();
    List<Map<String, Object>> told = new ArrayList<>();
    List<String> failed = new ArrayList<>();
    try (Progress progress = Progress.onStandardError()) {
      for (Experiment experiment : experiments) {
        try (WorkDirectory work = workDirectory(experiment, size)) {
          Report report =
              new ExperimentRun(experiment, settings, out, work.path(), progress)
                  .run(
                      resume,
                      Selection.of(only),
                      () -> Provenance.of(command(experiment), version(), work.path()));
          reports.put(experiment.name(), report);
          told.add(tell(experiment, report));
          markdown.write(report.charts(), report::markdown);
        } catch (FailedException e) {
          if (Shutdown.isUnderWay()) {
            throw e;
          }
          // The others can do without it.
          spec.commandLine().getErr().println("isobar experiment: " + e.getMessage());
          failed.add(experiment.name());
        }
      }
    }
    if (name.equals(ALL)) {
      Files.writeString(out.resolve("index.html"), Report.index(reports));
    }
    json.print(spec.commandLine().getOut(), told, "");
    if (failed.size() > 1) {
      spec.commandLine().getErr().println("not finished: " + String.join(", ", failed));
    }
    return (failed.isEmpty() ? Exit.SUCCESS : Exit.FAILURE).code();
  }

  /** In memory what fits there and whose syncs would else be what is measured. */
  private WorkDirectory workDirectory(Experiment experiment, Scale size) throws IOException {
    if (dir != null
        || size.factor() > Scale.SMALL
        || experiment.ownProcesses()
        || !Files.isWritable(MEMORY)) {
      return WorkDirectory.of(dir, PREFIX);
    }
    long room = Files.getFileStore(MEMORY).getUsableSpace();
    long wanted = size.budget(MOST_STORES_GIGABYTES);
    if (room < wanted) {
      spec.commandLine()
          .getErr()
          .printf(
              "%s: stores go to the directory of temporary files, where syncs count: %s has %s, not %s%n",
              experiment.name(), MEMORY, ByteSize.format(room), ByteSize.format(wanted));
      return WorkDirectory.of(null, PREFIX);
    }
    return WorkDirectory.temporary(MEMORY, PREFIX);
  }

  private String command(Experiment experiment) {
    StringBuilder command =
        new StringBuilder(
            String.format(
                "isobar experiment %s --scale %s --threads %d --seed %d",
                experiment.name(), scale, threads, seed));
    if (seeds > 1) {
      command.append(" --seeds ").append(seeds);
    }
    only.forEach(
        (parameter, values) -> command.append(" --only '" + parameter + "=" + values + "'"));
    options.forEach((option, value) -> command.append(" --option " + option + "=" + value));
    return command.toString();
  }

  private List<Long> seeds() {
    return LongStream.range(seed, seed + seeds).boxed().toList();
  }

  private String version() {
    return spec.root().version()[0];
  }

  private void list() throws IOException {
    TextTable table = new TextTable("name", "what");
    List<Map<String, Object>> told = new ArrayList<>();
    for (Experiment experiment : Experiments.ALL) {
      String title = experiment.about().title();
      table.row(experiment.name(), title);
      told.add(Map.of("name", experiment.name(), "title", title));
    }
    json.print(spec.commandLine().getOut(), told, table.toString().stripTrailing());
  }

  /** What came of an experiment; people are told at once. */
  private Map<String, Object> tell(Experiment experiment, Report report) {
    Path page = out.resolve(experiment.name() + ".html");
    if (!json.isGiven()) {
      print(experiment, report, page);
    }
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("name", experiment.name());
    map.put("title", experiment.about().title());
    map.put(
        "verdicts",
        report.verdicts().stream()
            .map(
                verdict ->
                    Map.of(
                        "outcome", verdict.outcome().words(),
                        "claim", verdict.claim(),
                        "numbers", verdict.numbers()))
            .toList());
    Map<String, Object> survives = new LinkedHashMap<>();
    for (EngineKind engine : experiment.engines()) {
      survives.put(engine.label(), engine.survival(false).toMap());
    }
    map.put("survives", survives);
    map.put("page", page.toString());
    return map;
  }

  private void print(Experiment experiment, Report report, Path page) {
    PrintWriter to = spec.commandLine().getOut();
    to.println(experiment.name() + ": " + experiment.about().title());
    for (Verdict verdict : report.verdicts()) {
      to.println("  " + verdict.outcome().words() + ": " + verdict.claim());
      to.println("    " + verdict.numbers());
    }
    for (EngineKind engine : experiment.engines()) {
      to.println(
          "  acknowledged writes, " + engine.label() + ": " + engine.survival(false).words());
    }
    to.println("  " + page);
    to.flush();
  }
}
