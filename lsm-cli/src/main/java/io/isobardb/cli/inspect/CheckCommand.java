package io.isobardb.cli.inspect;

import static io.isobardb.cli.console.Numbers.count;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.ByteSize;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.repair.StoreInspector;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code check}: is everything in the store's files as it must be? */
@Command(
    name = "check",
    description = "Checks every page, record, order and reference of a store that is not open.",
    footer = {
      "",
      "Changes nothing. Notes tell of what a crash left behind; they are harmless. Of a"
          + " damaged store, 'isobar repair' saves what can be read."
    })
public final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Path directory = store.directory();
    CheckReport report;
    try (Progress progress = Progress.onStandardError();
        StoreInspector inspector =
            UsageException.ofArguments(() -> StoreInspector.open(directory, store.options()))) {
      report =
          inspector.check(
              (what, done, total) ->
                  progress.update(
                      "checking "
                          + what
                          + ": "
                          + ByteSize.format(done)
                          + " of "
                          + ByteSize.format(total),
                      done,
                      total));
    } catch (CorruptionException e) {
      // Without its manifest there is no more of the store to look at.
      report = new CheckReport(List.of(Finding.of(e.file(), e)), List.of(), 0, 0, 0, 0, 0, 0, 0);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(json.isGiven() ? json(directory, report) : text(directory, report));
    out.flush();
    return (report.isSound() ? Exit.SUCCESS : Exit.FINDING).code();
  }

  private static String text(Path directory, CheckReport report) {
    StringBuilder text = new StringBuilder();
    report.notes().forEach(note -> text.append("note: ").append(note).append('\n'));
    for (Finding finding : report.findings()) {
      text.append("WRONG: ").append(directory).append(File.separator).append(finding).append('\n');
    }
    text.append(
        String.format(
            Locale.ROOT,
            "%s, %s (%s, %s, %s), log of %s (%s)%n",
            count(report.trees(), "tree"),
            count(report.tables(), "SSTable"),
            ByteSize.format(report.tableBytes()),
            count(report.pages(), "page"),
            Numbers.entries(report.entries()),
            ByteSize.format(report.logBytes()),
            count(report.logOperations(), "operation")));
    if (report.isSound()) {
      return text.append("sound\n").toString();
    }
    return text.append(count(report.findings().size(), "finding"))
        .append("; what can be read is saved by: isobar repair ")
        .append(directory)
        .append(" --to NEWDIR\n")
        .toString();
  }

  private static String json(Path directory, CheckReport report) throws IOException {
    List<Map<String, Object>> findings = new ArrayList<>();
    for (Finding finding : report.findings()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("file", finding.file());
      one.put("offset", finding.offset());
      one.put("what", finding.what());
      findings.add(one);
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("directory", directory.toString());
    all.put("sound", report.isSound());
    all.put("findings", findings);
    all.put("notes", report.notes());
    all.put("trees", report.trees());
    all.put("tables", report.tables());
    all.put("pages", report.pages());
    all.put("entries", report.entries());
    all.put("tableBytes", report.tableBytes());
    all.put("logOperations", report.logOperations());
    all.put("logBytes", report.logBytes());
    return JSON.std.asString(all) + "\n";
  }
}
