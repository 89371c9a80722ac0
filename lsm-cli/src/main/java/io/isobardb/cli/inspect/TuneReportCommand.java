package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import io.isobardb.cli.report.HtmlOption;
import io.isobardb.lsm.tuning.TunerFile;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.Replay;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.memory.TunerReport;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeReport;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelReport;
import io.isobardb.tuner.workload.LevelShares;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tune-report}: what the memory tuner has decided, and why. */
@Command(
    name = "tune-report",
    description =
        "Shows what a store's memory tuner has decided, and what was decided on levels and runs, and"
            + " what came of it.",
    footer = {
      "",
      "Costs are pages written and read per operation. Gains are those expected and those found, in"
          + " percent of the cost. The store may be open."
          + " --json has an object for each decision; those on levels and on runs come last, and have"
          + " a tree. With --replay it has one object: how many decisions were replayed, and the"
          + " differences."
    })
public final class TuneReportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "DIR", description = "The store's directory.")
  private Path directory = Path.of("");

  @Mixin private JsonOption json = new JsonOption();

  @Mixin private HtmlOption html = new HtmlOption();

  @Option(
      names = "--replay",
      description =
          "Decide again on what each decision had seen, and tell where the tuner of this version"
              + " decides otherwise; exit code 1 if it does.")
  private boolean replay;

  @Override
  public Integer call() throws IOException {
    html.check();
    if (html.isGiven() && replay) {
      throw new UsageException("--html goes without --replay");
    }
    Path file = StoreArgument.ownStore(directory).resolve(TunerFile.NAME);
    String text = Files.notExists(file) ? "" : new String(Files.readAllBytes(file), UTF_8);
    TunerHistory history = TunerFile.parse(text);
    int unreadable = TunerFile.unreadableLines(text);
    if (unreadable > 0) {
      // Also what a process that was killed while it wrote leaves behind.
      PrintWriter err = spec.commandLine().getErr();
      String lines = Numbers.count(unreadable, "line");
      err.printf(Locale.ROOT, "%s: passed over %s, damaged or of another version%n", file, lines);
      err.flush();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (replay) {
      return replayed(history.decisions(), out);
    }
    List<LevelDecision> levels = TunerFile.parseLevels(text);
    List<ShapeDecision> shapes = TunerFile.parseShapes(text);
    html.write(
        () ->
            TunePage.of(
                directory.toAbsolutePath().toString(), history.decisions(), levels, shapes));
    out.print(
        json.isGiven()
            ? json(history.decisions(), levels, shapes)
            : TunerReport.render(history)
                + LevelReport.render(levels)
                + ShapeReport.render(shapes));
    out.flush();
    return 0;
  }

  private int replayed(List<Decision> decisions, PrintWriter out) throws IOException {
    boolean fromStart = !decisions.isEmpty() && decisions.get(0).seen().cycle() == 1;
    List<String> differences = Replay.differences(decisions, fromStart);
    int count = Replay.count(decisions, fromStart);
    StringJoiner lines = new StringJoiner(System.lineSeparator());
    differences.forEach(lines::add);
    lines.add(
        Numbers.count(count, "decision")
            + " replayed, "
            + differences.size()
            + " of them made otherwise");
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("replayed", count);
    result.put("differences", differences);
    json.print(out, result, lines.toString());
    return (differences.isEmpty() ? Exit.SUCCESS : Exit.FINDING).code();
  }

  private static String json(
      List<Decision> memory, List<LevelDecision> levels, List<ShapeDecision> shapes)
      throws IOException {
    List<Map<String, Object>> all = new ArrayList<>();
    memory.forEach(decision -> all.add(fields(decision)));
    levels.forEach(decision -> all.add(fields(decision)));
    shapes.forEach(decision -> all.add(fields(decision)));
    return JSON.std.asString(all) + "\n";
  }

  private static Map<String, Object> fields(Decision decision) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("cycle", decision.seen().cycle());
    fields.put("budgetBytes", decision.seen().budgetBytes());
    fields.put("fromBytes", decision.fromBytes());
    fields.put("toBytes", decision.toBytes());
    fields.put("operations", decision.seen().operations());
    fields.put("queryReadPages", decision.seen().queryReadPages());
    fields.put("mergeReadPages", decision.seen().mergeReadPages());
    fields.put("queryGhostPages", decision.seen().queryGhostPages());
    fields.put("mergeGhostPages", decision.seen().mergeGhostPages());
    fields.put("writeCost", decision.pressure().writeCost());
    fields.put("readCost", decision.pressure().readCost());
    fields.put("cost", decision.pressure().cost());
    fields.put("predictedCost", decision.predictedCost());
    putKnown(fields, "foundCost", decision.foundCost());
    fields.put("method", decision.method().name());
    fields.put("reason", decision.reason());
    return fields;
  }

  private static Map<String, Object> fields(LevelDecision decision) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("cycle", decision.cycle());
    fields.put("tree", decision.tree());
    putKnown(fields, "modelledCost", decision.modelled());
    putKnown(fields, "expectedCost", decision.expected());
    putKnown(fields, "foundCost", decision.found());
    fields.put("action", decision.action().name());
    fields.put("stage", decision.after().stage().name());
    LevelShares plan = decision.plan();
    if (plan != null) {
      List<Double> shares = new ArrayList<>(plan.byHeight());
      Collections.reverse(shares);
      fields.put("plannedShares", shares);
    }
    fields.put("reason", decision.reason());
    return fields;
  }

  private static Map<String, Object> fields(ShapeDecision decision) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("window", decision.window());
    fields.put("tree", decision.tree());
    fields.put("fromRuns", decision.from());
    fields.put("toRuns", decision.to());
    putKnown(fields, "modelledCost", decision.modelled());
    putKnown(fields, "expectedCost", decision.expected());
    putKnown(fields, "foundCost", decision.found());
    putKnown(fields, "price", decision.price());
    fields.put("action", decision.action().name());
    fields.put("reason", decision.reason());
    return fields;
  }

  /** JSON has no NaN: what is not known yet is left out. */
  private static void putKnown(Map<String, Object> fields, String name, double value) {
    if (!Double.isNaN(value)) {
      fields.put(name, value);
    }
  }
}
