package io.isobardb.bench.search;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.process.Provenance;
import io.isobardb.bench.process.RunOptions;
import io.isobardb.bench.search.Chooser.Plan;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.Shutdown;
import io.isobardb.cli.console.TimeSpan;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tune}: searches options for a workload. */
@Command(
    name = "tune",
    description = "Searches the options that suit a workload best, and compares with the defaults.",
    footer = {
      "",
      "Workloads: a to f (YCSB, on files), the loads of 'isobar latency' in virtual time, and"
          + " simulated-uniform, simulated-write-only, simulated-write-heavy, simulated-read-heavy,"
          + " simulated-scan-heavy, which count bytes.",
      "Metrics: throughput, cost, written, p99, space, memory. Figures of metrics in --where are"
          + " written as 2, 5ms or 256MB.",
      "With --out a search that was killed goes on where it was. docs/tuning.md says more."
    })
public final class TuneCommand implements Callable<Integer> {
  private static final int MOST_EVALUATIONS = 1000;
  private static final int MOST_KNOBS = 6;
  private static final int MOST_PAIRS = 100;
  private static final double USUAL_SCALE = 0.1;
  private static final double USUAL_SECONDS = 30;

  /** The prefix of options in the file that is written. */
  static final String PREFIX = "isobar.";

  static final String EVALUATIONS_FILE = "evaluations.csv";
  static final String BEST_FILE = "best.properties";

  @Spec private CommandSpec command;

  @Option(
      names = "--workload",
      required = true,
      paramLabel = "NAME|FILE",
      description = "The workload, by its name, or a recording of one; see below.")
  private String workload = "";

  @Option(
      names = "--knobs",
      required = true,
      paramLabel = "KNOBS",
      description =
          "Options and the values they may have, such as"
              + " writeMemory=1MB..64MB:log,runs=LEVELED|LAZY|4,4,1. Choices of words have no"
              + " order unless :ordered is given.")
  private String knobs = "";

  @Option(
      names = "--metric",
      required = true,
      paramLabel = "METRIC",
      description = "What is to be as good as it can be.")
  private String metric = "";

  @Option(
      names = "--where",
      paramLabel = "CONDITIONS",
      description = "What has to hold besides, such as 'space<2,p99<5ms,memory<256MB'.")
  private @Nullable String where;

  @Option(
      names = "--evaluations",
      paramLabel = "N",
      description =
          "Runs of the search: one of the defaults, and repeats of the best setting, are among them"
              + " (default: ${DEFAULT-VALUE}).")
  private int evaluations = 30;

  @Option(
      names = "--method",
      paramLabel = "METHOD",
      description =
          "${COMPLETION-CANDIDATES}: what chooses the next setting (default: ${DEFAULT-VALUE}).")
  private Method method = Method.GP;

  @Option(
      names = "--one-by-one",
      description = "Turn each knob alone, in the order given, and leave it at its best.")
  private boolean oneByOne;

  @Option(
      names = "--pairs",
      paramLabel = "N",
      description =
          "Runs of the best setting and of the defaults in turns, at the end (default:"
              + " ${DEFAULT-VALUE}).")
  private int pairs = 3;

  @Option(
      names = "--scale",
      paramLabel = "X",
      description =
          "By which the workload's records, memory, rates and device are multiplied; of a"
              + " recording, the part of its keys that is taken (default: 0.1; of a recording, 1).")
  private @Nullable Double scale;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "How long requests arrive in virtual time (default: 30s; of a recording, all of it).")
  private @Nullable TimeSpan duration;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "A run that takes longer has failed (default: 10m).")
  private @Nullable TimeSpan timeout;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Where evaluations.csv and best.properties go. What the first has is not run again.")
  private @Nullable Path out;

  @Mixin private JsonOption json = new JsonOption();

  @Mixin private RunOptions runOptions = new RunOptions();

  @Mixin private HtmlOption html = new HtmlOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    html.check();
    checkNumbers();
    boolean recorded = Loads.isRecorded(workload);
    Load load =
        Loads.of(
            new Loads.Settings(
                recorded ? workload : workload.toLowerCase(Locale.ROOT),
                scale == null ? recorded ? 1 : USUAL_SCALE : scale,
                seconds(recorded),
                runOptions.options(),
                runOptions.dir()));
    // A wrong --option is told before a wrong knob.
    UsageException.ofArguments(() -> load.defaultOf("memoryBudget"));
    Goal goal = goal(load);
    List<Knob> parsed = Knob.parseAll(knobs);
    if (parsed.size() > MOST_KNOBS) {
      throw new UsageException(
          "--knobs has at most " + MOST_KNOBS + " knobs, not " + parsed.size());
    }
    for (Knob knob : parsed) {
      if (runOptions.options().containsKey(knob.name())) {
        throw new UsageException("--option " + knob.name() + " is a knob, too");
      }
    }
    Space space = new Space(parsed, taken -> isTaken(load, taken));
    checkEnds(load, space);
    Plan plan = new Plan(goal, method, evaluations, oneByOne, runOptions.seed());
    Findings findings;
    try (Progress progress = Progress.onStandardError()) {
      findings = search(load, space, plan, progress);
    } catch (InterruptedException e) {
      if (Shutdown.isUnderWay()) {
        return Exit.FAILURE.code();
      }
      throw e;
    }
    TuneReport report = new TuneReport(load, findings);
    if (out != null && report.isForPaste()) {
      Files.writeString(out.resolve(BEST_FILE), report.properties());
    }
    Path files = runOptions.dir();
    Map<String, String> facts = Provenance.of(command, files == null ? Path.of("") : files);
    html.write(() -> new TunePage(report, facts).page());
    PrintWriter printer = command.commandLine().getOut();
    printer.print(json.isGiven() ? JSON.std.asString(report.toMap()) + "\n" : report.text());
    printer.flush();
    return (findings.best() == null ? Exit.FINDING : Exit.SUCCESS).code();
  }

  private double seconds(boolean recorded) {
    if (duration != null) {
      return duration.millis() / 1e3;
    }
    return recorded ? Double.MAX_VALUE : USUAL_SECONDS;
  }

  private void checkNumbers() {
    Numbers.check("--evaluations", evaluations, 4, MOST_EVALUATIONS);
    Numbers.check("--pairs", pairs, 0, MOST_PAIRS);
    if (scale != null && !(scale > 0 && scale <= 10)) {
      throw new UsageException("--scale must be above 0 and at most 10, not " + scale);
    }
    if (duration != null) {
      Numbers.checkAboveZero("--duration", duration);
    }
    if (timeout != null) {
      Numbers.checkAboveZero("--timeout", timeout);
    }
  }

  private Goal goal(Load load) {
    Metric sought = Metric.of("--metric", metric);
    List<Bound> bounds = where == null ? List.of() : Bound.parseAll(where);
    List<Metric> needed = new ArrayList<>(List.of(sought));
    bounds.forEach(bound -> needed.add(bound.metric()));
    for (Metric each : needed) {
      if (!load.metrics().contains(each)) {
        List<String> has = load.metrics().stream().sorted().map(Metric::label).toList();
        throw new UsageException(
            String.format(
                Locale.ROOT,
                "%s has no %s: %s; it has %s",
                workload,
                each.label(),
                load.lack(each),
                String.join(", ", has)));
      }
    }
    return new Goal(sought, bounds);
  }

  private static boolean isTaken(Load load, Map<String, String> options) {
    try {
      load.check(options);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Each value at an end, and each choice, has to go with some values of the other knobs.
   *
   * @throws UsageException with what a store says of one that does not
   */
  private static void checkEnds(Load load, Space space) {
    List<List<String>> corners = space.grid(0);
    for (int i = 0; i < space.knobs().size(); i++) {
      Knob knob = space.knobs().get(i);
      int at = i;
      for (String value : knob.spread(2)) {
        if (corners.stream().noneMatch(corner -> corner.get(at).equals(value))
            && !isTaken(load, Map.of(knob.name(), value))) {
          try {
            load.check(Map.of(knob.name(), value));
          } catch (IllegalArgumentException e) {
            throw new UsageException(
                "--knobs: " + knob.name() + "=" + value + ": " + e.getMessage(), e);
          }
        }
      }
    }
  }

  private Findings search(Load load, Space space, Plan plan, Progress progress)
      throws IOException, InterruptedException {
    Journal journal = Journal.inMemory(space);
    if (out != null) {
      Files.createDirectories(out);
      List<String> names = space.knobs().stream().map(Knob::toString).toList();
      journal =
          Journal.open(
              out.resolve(EVALUATIONS_FILE),
              space,
              load.description() + "; " + String.join(",", names));
    }
    int done = journal.trials().size();
    List<Trial> ran = new ArrayList<>(journal.trials());
    if (done > 0) {
      progress.note(Numbers.count(done, "run") + " found in " + out);
    }
    progress.stage("run " + (done + 1));
    long millis = timeout == null ? 600_000 : timeout.millis();
    Search search =
        new Search(
            load,
            space,
            plan,
            journal,
            millis,
            trial -> {
              ran.add(trial);
              String told =
                  trial.isFailed()
                      ? "failed: " + trial.failure()
                      : plan.goal().metric().tell(trial.figure(plan.goal().metric()));
              progress.note(ran.size() + " " + String.join(" ", trial.setting()) + ": " + told);
              progress.update("run " + (ran.size() + 1), ran.size() - done, plan.evaluations());
            });
    return search.run(pairs);
  }
}
